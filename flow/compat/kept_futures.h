#pragma once
// Classes of Flow that keep futures: flow/genericactors.actor.h of this folder brings them.
//
//     WorkerCache<Interface> cache;                           // a request that comes twice starts one worker
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
    /// There must be no entry with that number.
    void set(UID id, Future<T> const& onReady) {
        FLOW_ASSERT_TRUE(!exists(id));
        workers_[id] = onReady;
    }
    /// There must be an entry with that number.
    Future<T> get(UID id) const {
        FLOW_ASSERT_TRUE(exists(id));
        return workers_.at(id);
    }
    /// Removes the entry when the future is ready, or when the result is dropped. Ends as the future does.
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

/// Counts as a reference only until the future is ready. From then on this must be dropped before the object is
/// destroyed.
template <class T>
class UnsafeWeakFutureReference {
public:
    UnsafeWeakFutureReference() = default;
    UnsafeWeakFutureReference(Future<Reference<T>> future) : data_(makeReference<Data>(std::move(future))) {}

    /// A reference to the object, when it is there; a null one if this was made without a future.
    Future<Reference<T>> get() const {
        if (!data_)
            return Reference<T>();
        return data_->object ? Future<Reference<T>>(Reference<T>::addRef(data_->object)) : data_->future;
    }
    /// Nothing until the future is ready.
    Optional<T*> getPtrIfReady() const { return data_ && data_->object ? Optional<T*>(data_->object) : Optional<T*>(); }

private:
    struct Data : ReferenceCounted<Data>, NonCopyable {
        explicit Data(Future<Reference<T>> from) : future(std::move(from)), taking(take(this)) {}

        static Future<Void> take(Data* self) {
            ErrorOr<Reference<T>> result = co_await tryGet(self->future);
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
