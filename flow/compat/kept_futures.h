#pragma once
// Classes of Flow that hold futures, for flow/genericactors.actor.h of this folder.
//
//     WorkerCache<Interface> cache;                           // a repeated request starts only one worker
//     cache.set(request.id, ready.getFuture());
//     cache.removeOnReady(request.id, worker);
//
//     UnsafeWeakFutureReference<IAsyncFile> file(open());     // does not keep the file open

#include "../flow.h"

#include <map>
#include <utility>

namespace flow::compat {

template <class T>
class WorkerCache {
public:
    bool exists(UID id) const { return workers_.contains(id); }
    /// Adds an entry. There must be none with this id.
    void set(UID id, Future<T> const& onReady) {
        FLOW_ASSERT_TRUE(!exists(id));
        workers_[id] = onReady;
    }
    /// Returns the future of an entry, which must exist.
    Future<T> get(UID id) const {
        FLOW_ASSERT_TRUE(exists(id));
        return workers_.at(id);
    }
    /// Removes the entry when the future is ready or the result is dropped. Returns the outcome of the future.
    Future<Void> removeOnReady(UID id, Future<Void> const& ready) { return remove(this, id, ready); }

private:
    static Future<Void> remove(WorkerCache* self, UID id, Future<Void> ready) {
        try {
            co_await std::move(ready);
        } catch (...) {
            self->workers_.erase(id);
            throw;
        }
        self->workers_.erase(id);
    }

    std::map<UID, Future<T>> workers_;
};

/// Holds a reference to the object only until the future is ready. From then on, this must not outlive the object.
template <class T>
class UnsafeWeakFutureReference {
public:
    UnsafeWeakFutureReference() = default;
    UnsafeWeakFutureReference(Future<Reference<T>> future) : data_(makeReference<Data>(std::move(future))) {}

    /// Returns a reference to the object when the future is ready; a null reference if this was made without a future.
    Future<Reference<T>> get() const {
        if (!data_)
            return Reference<T>();
        return data_->object ? Future<Reference<T>>(Reference<T>::addRef(data_->object)) : data_->future;
    }
    /// Returns nothing until the future is ready.
    Optional<T*> getPtrIfReady() const { return data_ && data_->object ? Optional<T*>(data_->object) : Optional<T*>(); }

private:
    struct Data : ReferenceCounted<Data>, NonCopyable {
        explicit Data(Future<Reference<T>> from) : future(std::move(from)), taking(take(this)) {}

        static Future<Void> take(Data* self, Propagate = {}) {
            ErrorOr<Reference<T>> result = co_await coro::outcome(self->future);
            if (result.isError())
                co_return;
            self->object = result.get().getPtr();
            self->future = Future<Reference<T>>();
        }

        Future<Reference<T>> future;
        T* object = nullptr;
        Future<Void> taking;
    };

    Reference<Data> data_;
};

} // namespace flow::compat
