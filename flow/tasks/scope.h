#pragma once
// Scope: a nursery. It holds any number of children, and one wait is enough for all of them.
//
//     Future<Void> serve(Listener* listener, Future<Void> stop) {
//         Scope clients;
//         for (;;) {
//             auto first = co_await race(stop, listener->accept());
//             if (first.index() == 0)
//                 break;
//             clients.spawn(handle(std::get<1>(std::move(first))));   // a Future
//         }
//         bool inTime = co_await clients.drain(5.0);   // children left after 5 seconds are cancelled
//     }
//     Task<> both(Context) {
//         Context here = co_await context();
//         Scope scope(here);                           // a child of the task: is cancelled and ends before the task
//         scope.spawn(load(scope.context(), 1));       // a Task
//         scope.spawn([] { return save(2); });         // a function, which the scope holds
//         co_await scope.join();
//     }
//
// A Scope can be a local of a coroutine or a fiber, a `state` of an actor, or a member of an object. A child starts
// immediately. join() and drain() wait until no child is left. By default the first error closes the scope: it cancels
// the other children and those that are spawned later, and each join() and drain() from then on throws it. With
// OnError::Collect the others go on, and errors() has all errors. With OnError::Report they go on, and each error is
// reported as dropped (broken_promise is not): for servers, which must not keep clients' errors. The error of a fork
// made with context() goes to the handle of the fork, not to the scope; spawn() the fork to have its error here.
//
// A scope holds the futures of its children: cancel() drops these futures, and cancels tasks, and the forks that were
// made with context(). A child may call cancel() itself: join() and drain() then end in a later turn of the loop, when
// the child has come to its next wait. If a coroutine that a child awaits calls cancel(), the locals of the child are
// destroyed inside of this call, unless both are tasks. A future that is Uncancellable, or that other code holds too,
// runs on without the scope. The destructor cancels the children, and drops what they spawn while they end. If join()
// or drain() is cancelled or loses a race, the children run on. closeAfter() sets a deadline for all that the scope
// does; a scope within it that has an earlier deadline ends earlier. With the Context of a task the scope is a child of
// the task: a cancel of the task cancels the scope first, and the task ends after all of the scope. With the Context of
// an outer Scope, a cancel of the outer one closes this one, but the outer join() does not wait for this one. Only one
// join() or drain() may wait at a time. If the scope is destroyed meanwhile, a waiting join() or drain() fails with
// broken_promise. If the memory resource throws, spawn() throws too and cancels the child. An error for which there is
// no memory is reported as dropped. The errors of a scope that is never joined are lost. A Scope belongs to one thread.
//
// A destructor cannot wait. Work that must be awaited after a cancel, such as a ROLLBACK or a goodbye, is given to a
// scope that outlives the cancelled code:
//
//     struct Transaction {
//         ~Transaction() {
//             if (!ended)
//                 connections->shield(rollback(session), 5.0);   // runs to its end, for 5 seconds at most
//         }
//     };
//
// A cancel of the scope does not end a shielded child; join(), drain() and the end of the task wait for it.
// shield(here, rollback(session), 5.0), with the Context of a task, makes the child a part of the task. Code that has
// neither a scope nor a Context calls shield(rollback(session), 5.0): then the loop holds the child, and run(future)
// returns after the child has ended. Such a child must hold all that it uses, or use only objects that live as long as
// the loop. When a simulated machine is killed, its shielded children are dropped like all other work.

#include "flow/base/seconds.h"
#include "flow/tasks/task.h"
#include "flow/wait/operand.h"

#include <vector>

namespace flow {

enum class OnError : std::uint8_t { CancelRest, Collect, Report };

namespace tasks {
template <class X>
Future<Void> awaitHeld(X child, std::source_location caller, Propagate = {}) {
    if constexpr (detail::GivesFuture<X>) {
        co_await std::move(child).future();
    } else if constexpr (std::invocable<X&> && !InPlace<X>) {
        auto result = child();
        checkValid(result, caller);
        auto made = awaitHeld(std::move(result), caller);
        co_await std::move(made);
    } else {
        co_await child;
    }
}
void shieldOnLoop(Future<Void> child, double atMost);
} // namespace tasks

class Scope {
public:
    /// Without a Context, the scope is the root of a tree.
    explicit Scope(OnError onError = OnError::CancelRest);
    explicit Scope(Context parent, OnError onError = OnError::CancelRest);
    Scope(Scope const&) = delete;
    Scope& operator=(Scope const&) = delete;
    ~Scope();

    /// The Context for children of the scope: for tasks that are passed to spawn(), and for forks.
    Context context() const { return {*node_->memory, node_}; }

    template <class T>
    void spawn(Future<T> child, std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, child.isValid(), "a Scope is given an invalid Future");
        tasks::hold(node_, child.cell());
    }
    template <class T>
    void spawn(Task<T> child) {
        if (node_->parent)
            (void)run(context(), node_, std::move(child));
        else
            spawn(start(std::move(child)));
    }
    /// Spawns a fork, a delay, a race() or another operand, or a function that returns one of these, a future or a
    /// task. The scope holds the child until the child has ended.
    template <CanBeAwaited X>
    void spawn(X child, std::source_location caller = std::source_location::current()) {
        spawn(tasks::awaitHeld(std::move(child), caller));
    }

    /// Like spawn(), but no cancel() or close() ends the child, and not the end of the Scope. After `atMost` seconds
    /// the child is cancelled, and has failed with timed_out. A closed scope takes it too.
    template <CanBeAwaited X>
    void shield(X child, Seconds atMost, std::source_location caller = std::source_location::current()) {
        checkValid(child, caller);
        holdShielded(tasks::awaitHeld(std::move(child), caller), atMost);
    }

    /// Closes the scope `seconds` from now, also if no child is left then. join() and drain() from then on throw
    /// timed_out, or the first error if that came earlier. A later call sets the time anew.
    void closeAfter(Seconds seconds) { deadline_ = closeLater(node_, seconds); }
    /// Cancels the present children, but not those that they spawn while they end.
    void cancel();
    /// Cancels the present children, and each child that is spawned later.
    void close() noexcept;
    /// True if no child is left.
    bool isEmpty() const { return !node_->hasForks(); }
    /// The number of futures that the scope holds.
    std::size_t size() const { return node_->futures; }

    /// Returns an operation in place that waits until no child is left. It then throws the first error; with
    /// OnError::Collect or OnError::Report it throws no error of a child.
    tasks::Join join(std::source_location caller = std::source_location::current()) { return {node_, caller}; }
    /// Like join(), but cancels the children that are left after `seconds`. Gives true if none was left. Children that
    /// are spawned later are not cancelled: call close() too if children spawn others while they end.
    Future<bool> drain(Seconds seconds, std::source_location caller = std::source_location::current()) {
        return drain(node_, seconds, caller);
    }

    /// The errors of the children except actor_cancelled, in the order in which they failed. Empty with
    /// OnError::Report.
    std::pmr::vector<Error> const& errors() const { return errors_; }

private:
    /// The state of a scope. The Node exists until the last child has ended, perhaps longer than the Scope.
    struct Node : tasks::ScopeNode {
        using ScopeNode::ScopeNode;
        OnError onError = OnError::CancelRest;
        Scope* scope = nullptr; // null when the Scope is gone
    };
    friend void tasks::keepExceptionOf(detail::Cell const*, tasks::ScopeNode*) noexcept;
    friend void tasks::throwFailure(tasks::ScopeNode*);
    static WaiterNode* ended(tasks::ScopeNode* scope, Error error);
    static void noteError(Node* node, Error error) noexcept;
    static void holdJoiner(Node* node) noexcept;
    static Future<bool> drain(Node* node, double seconds, std::source_location caller, Propagate = {});
    static Future<Void> closeLater(Node* node, double seconds, Propagate = {});
    void holdShielded(Future<Void> child, double seconds);

    template <class T>
    static Fork<> run(Context, Node* node, Task<T> task) {
        Error error;
        try {
            co_await task;
        } catch (...) {
            error = currentError();
        }
        if (task.isReady() && task.error().isValid())
            error = task.error(); // not actor_cancelled, if the task has failed with another error after a cancel
        if (error.isValid()) {
            tasks::keepExceptionOf(task.cell(), node);
            noteError(node, error);
        }
    }
    std::pmr::vector<Error> errors_;
    std::exception_ptr exception_; // of the error that join() throws, if a child has failed with no Error
    Node* node_;
    Future<Void> turn_;     // ready when a joiner may resume after a cancel; see holdJoiner()
    Future<Void> deadline_; // closes the scope; invalid without a deadline
};

/// Scope::shield() without a Scope: the child belongs to the task or scope with this Context, which ends after it. An
/// error is reported as dropped.
template <CanBeAwaited X>
void shield(Context here, X child, Seconds atMost, std::source_location caller = std::source_location::current()) {
    Scope(here, OnError::Report).shield(std::move(child), atMost, caller);
}
/// Scope::shield() where neither a task nor a Scope outlives the caller: the loop holds the child. net::serveUntil(),
/// loop.run(future), the main of a simulated process, and the end of a loop wait for it. An error is reported as
/// dropped.
template <CanBeAwaited X>
void shield(X child, Seconds atMost, std::source_location caller = std::source_location::current()) {
    checkValid(child, caller);
    tasks::shieldOnLoop(tasks::awaitHeld(std::move(child), caller), atMost);
}
/// Returns a future that is ready when the loop holds no shielded child. Such a child must not wait for it.
Future<Void> joinShielded();

} // namespace flow
