#pragma once
// Scope: a nursery, for any number of children, without a wait for each result.
//
//     Task<> serve(Context, Listener& listener) {
//         Scope scope(co_await context());
//         while (co_await running())
//             scope.spawn(handle(scope.context(), co_await listener.accept()));   // a Task
//         bool inTime = co_await scope.drain(5.0);       // those that are left after 5 seconds are cancelled
//     }
//
// spawn() starts the task at once. join() waits until all children have ended, and throws the first error. By default
// an error cancels the other children; with OnError::Collect they go on, and errors() has all errors. cancel() cancels
// the present children. If join() or drain() is cancelled, as timeout() does it, the children run on. A scope that
// is destroyed while children run cancels them, and the task in which it was made ends after them. Cancelling that task
// cancels the scope first. spawn() throws an exception of the memory resource; nothing runs then.

#include "flow/tasks/task.h"
#include "flow/wait/delay.h"

#include <vector>

namespace flow {

enum class OnError : std::uint8_t { CancelRest, Collect };

namespace tasks {

/// The state of a scope as long as it has children, which may be longer than the Scope exists.
struct ScopeNode : HookNode {
    using HookNode::HookNode;
    OnError onError = OnError::CancelRest;
    Error first;
    std::pmr::vector<Error>* all = nullptr; // of the Scope, as long as it exists
};

inline void noteError(ScopeNode* scope, Error error) {
    if (error == actor_cancelled())
        return;
    bool isFirst = !scope->first.isValid();
    if (isFirst)
        scope->first = error;
    struct CancelRest { // also if push_back() throws for lack of memory
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

} // namespace tasks

class Scope {
public:
    explicit Scope(Context parent, OnError onError = OnError::CancelRest)
        : errors_(parent.allocator()), memory_(&parent.memory()),
          node_(tasks::makeHook<tasks::ScopeNode>(parent.memory(), parent.parent())) {
        node_->onError = onError;
        node_->all = &errors_;
    }
    Scope(Scope const&) = delete;
    Scope& operator=(Scope const&) = delete;
    ~Scope() {
        node_->all = nullptr;
        tasks::cancelChildren(node_);
        tasks::endHook(node_);
    }

    /// The context of tasks to spawn, and of forks that are to belong to the scope.
    Context context() const { return {*memory_, node_}; }
    template <class T>
    void spawn(Task<T> task) {
        (void)tasks::runInScope(context(), node_, std::move(task));
    }
    void cancel() { tasks::cancelChildren(node_); }
    /// True if no child is left.
    bool isEmpty() const { return !node_->hasForks(); }

    /// Waits until no child is left. Throws the first error; with OnError::Collect none.
    Task<> join() { return joinAll(context()); }
    /// Like join(), but cancels the children that are left after `seconds`. Returns true if none was left.
    Task<bool> drain(double seconds) { return drainAll(context(), seconds); }

    /// The errors of the children except actor_cancelled, in the order in which they failed.
    std::pmr::vector<Error> const& errors() const { return errors_; }

private:
    void throwFirst() const {
        if (node_->onError == OnError::CancelRest && node_->first.isValid())
            throw node_->first;
    }
    // The context gives only their memory; the task that awaits them is their parent.
    Task<> joinAll(Context) {
        co_await tasks::JoinHook{node_};
        throwFirst();
    }
    static Fork<> cancelLater(Context, tasks::ScopeNode* node, double seconds, bool* inTime) {
        co_await delay(seconds);
        *inTime = false;
        tasks::cancelChildren(node);
    }
    Task<bool> drainAll(Context, double seconds) {
        bool inTime = true;
        if (!isEmpty()) {
            (void)cancelLater(co_await flow::context(), node_, seconds, &inTime);
            co_await tasks::JoinHook{node_};
            co_await cancelForks();
        }
        throwFirst();
        co_return inTime;
    }

    std::pmr::vector<Error> errors_;
    std::pmr::memory_resource* memory_;
    tasks::ScopeNode* node_;
};

} // namespace flow
