#pragma once
// Scope: a nursery, for any number of children, with results that are not awaited one by one.
//
//     Task<> serve(Context, Listener& listener) {
//         Scope scope(co_await context());
//         while (co_await running())
//             scope.spawn(handle(scope.context(), co_await listener.accept()));   // a Task
//         bool inTime = co_await scope.drain(5.0);       // those that are left after 5 seconds are cancelled
//     }
//
// spawn() starts the task at once. join() waits until all have ended, and throws the first error. By default an error
// cancels the others; with OnError::Collect they go on, and errors() has all of them. cancel() cancels those that there
// are. A join() or drain() that is cancelled, as withTimeout() does it, leaves the children alone. A scope that is
// destroyed while children run cancels them, and the task in which it was made ends after them. Cancelling that task
// cancels the scope first. spawn() throws what the memory resource throws; nothing runs then.

#include "flow/structured/task.h"
#include "flow/wait/delay.h"

#include <vector>

namespace flow {

enum class OnError : std::uint8_t { CancelRest, Collect };

namespace structured {

/// What is known of a scope as long as it has children, which may be longer than the Scope exists.
struct ScopeNode : HookNode {
    using HookNode::HookNode;
    OnError onError = OnError::CancelRest;
    Error first;
    std::pmr::vector<Error>* all = nullptr; // the Scope's, as long as that exists
};

inline void noteError(ScopeNode* scope, Error error) {
    if (error == actor_cancelled())
        return;
    bool isFirst = !scope->first.isValid();
    if (isFirst)
        scope->first = error;
    struct CancelRest { // also if there is no memory for the error
        ScopeNode* scope;
        ~CancelRest() {
            if (scope)
                cancelChildren(scope);
        }
    } rest{isFirst && scope->onError == OnError::CancelRest ? scope : nullptr};
    if (scope->all)
        scope->all->push_back(error);
}

template <class T>
Fork<> runInScope(Context, ScopeNode* scope, Task<T> task) {
    Error error;
    try {
        co_await task;
    } catch (...) {
        error = currentError();
    }
    if (error.isValid())
        noteError(scope, error);
}

} // namespace structured

class Scope {
public:
    explicit Scope(Context parent, OnError onError = OnError::CancelRest)
        : errors_(parent.allocator()), memory_(&parent.memory()),
          node_(structured::makeHook<structured::ScopeNode>(parent.memory(), parent.parent())) {
        node_->onError = onError;
        node_->all = &errors_;
    }
    Scope(Scope const&) = delete;
    Scope& operator=(Scope const&) = delete;
    ~Scope() {
        node_->all = nullptr;
        structured::cancelChildren(node_);
        structured::endHook(node_);
    }

    /// For the tasks that are to be spawned, and for forks that are to belong to the scope.
    Context context() const { return {*memory_, node_}; }
    template <class T>
    void spawn(Task<T> task) {
        (void)structured::runInScope(context(), node_, std::move(task));
    }
    void cancel() { structured::cancelChildren(node_); }
    /// Whether no child is left.
    bool isEmpty() const { return !node_->hasForks(); }

    /// Waits until no child is left. Throws the first error; with OnError::Collect none.
    Task<> join() { return joinAll(context()); }
    /// The same, but children that are left after so many seconds are cancelled. Returns whether none was left.
    Task<bool> drain(double seconds) { return drainAll(context(), seconds); }

    /// Those of the children, in the order in which they failed, but for actor_cancelled.
    std::pmr::vector<Error> const& errors() const { return errors_; }

private:
    void throwFirst() const {
        if (node_->onError == OnError::CancelRest && node_->first.isValid())
            throw node_->first;
    }
    // The context says where their memory comes from; their parent is the one that awaits them.
    Task<> joinAll(Context) {
        co_await structured::JoinHook{node_};
        throwFirst();
    }
    static Fork<> cancelLater(Context, structured::ScopeNode* node, double seconds, bool* inTime) {
        co_await delay(seconds);
        *inTime = false;
        structured::cancelChildren(node);
    }
    Task<bool> drainAll(Context, double seconds) {
        bool inTime = true;
        if (!isEmpty()) {
            (void)cancelLater(co_await flow::context(), node_, seconds, &inTime);
            co_await structured::JoinHook{node_};
            co_await cancelForks();
        }
        throwFirst();
        co_return inTime;
    }

    std::pmr::vector<Error> errors_;
    std::pmr::memory_resource* memory_;
    structured::ScopeNode* node_;
};

} // namespace flow
