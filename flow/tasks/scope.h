#pragma once
// Scope: a nursery. It holds any number of children, and one wait is enough for all.
//
//     Future<Void> serve(Listener* listener, Future<Void> stop) {
//         Scope clients;
//         for (;;) {
//             auto first = co_await race(stop, listener->accept());
//             if (first.index() == 0)
//                 break;
//             clients.spawn(handle(std::get<1>(std::move(first))));   // a Future
//         }
//         bool inTime = co_await clients.drain(5.0);   // cancels the children that are left after 5 seconds
//     }
//     Task<> both(Context) {
//         Context here = co_await context();
//         Scope scope(here);                           // a child of the task; it ends before the task
//         scope.spawn(load(scope.context(), 1));       // a Task
//         scope.spawn([] { return save(2); });         // a function, which the scope holds
//         co_await scope.join();
//     }
//
// A Scope can be a local of a coroutine or a fiber, a `state` of an actor, or a member of an object. A child starts
// immediately. join() and drain() wait until no child is left. By default the first error closes the scope: it cancels
// the other children and those that are spawned later, and from then on each join() and drain() throws it. With
// OnError::Collect the others continue, and errors() has all errors. With OnError::Report they continue, and each error
// is reported as dropped (except broken_promise): for servers, which must not store clients' errors. The error of a
// fork made with context() goes to the handle of the fork; spawn() the fork if its error shall go to the scope.
//
// A scope holds the futures of its children. cancel() drops these futures, and cancels tasks, and forks that were made
// with context(). A child may call cancel() itself: join() and drain() then end in a later turn of the loop, when the
// child has reached its next wait. If a coroutine that a child awaits calls cancel(), the locals of the child are
// destroyed inside of this call, unless both are tasks. A future that is Uncancellable, or that other code also holds,
// runs on without the scope. The destructor cancels the children, and drops children that these spawn while they end.
// If join() or drain() is cancelled or loses a race, the children run on. Only one join() or drain() may wait at a
// time. If the scope is destroyed meanwhile, this wait fails with broken_promise. closeAfter() sets a deadline for all
// children; an inner scope may have an earlier one.
//
// With the Context of a task, the scope is a child of the task: a cancel of the task cancels the scope first, and the
// task ends after all of the scope. With the Context of an outer Scope, a cancel of the outer scope closes the inner
// scope, but the outer join() does not wait for the inner scope. If the memory resource throws, spawn() throws too and
// cancels the child. An error for which there is no memory is reported as dropped. The errors of a scope that is never
// joined are lost. A Scope belongs to one thread.
//
// A destructor cannot wait. A scope that outlives the cancelled code can run its last work, such as a ROLLBACK:
//
//     struct Transaction {
//         ~Transaction() {
//             if (!ended)
//                 connections->shield(rollback(session), 5.0);   // runs to its end, for at most 5 seconds
//         }
//     };
//
// A cancel of the scope does not end a shielded child; join(), drain() and the end of the task wait for it.
// shield(here, rollback(session), 5.0), with the Context of a task, makes it a child of the task. Without a scope and a
// Context, shield(rollback(session), 5.0) gives the child to the loop: run(future) returns after the child has ended.
// This child must own all that it uses, or use only objects that live as long as the loop. When a simulated machine is
// killed, its shielded children are dropped like all other work.

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
    /// Makes a scope that is the root of a tree.
    explicit Scope(OnError onError = OnError::CancelRest);
    explicit Scope(Context parent, OnError onError = OnError::CancelRest);
    Scope(Scope const&) = delete;
    Scope& operator=(Scope const&) = delete;
    ~Scope();

    /// The Context for children: for tasks that are passed to spawn(), and for forks.
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
    /// Spawns a fork, a delay, a race() or another operand, or a function that returns one. The scope holds it.
    template <CanBeAwaited X>
    void spawn(X child, std::source_location caller = std::source_location::current()) {
        spawn(tasks::awaitHeld(std::move(child), caller));
    }

    /// Like spawn(), but cancel(), close() and the end of the Scope do not cancel the child. After `atMost` seconds it
    /// is cancelled, and fails with timed_out. A closed scope accepts it too.
    template <CanBeAwaited X>
    void shield(X child, Seconds atMost, std::source_location caller = std::source_location::current()) {
        checkValid(child, caller);
        holdShielded(tasks::awaitHeld(std::move(child), caller), atMost);
    }

    /// Closes the scope after `seconds`, even if it has no child then. From then on join() and drain() throw timed_out,
    /// or an earlier error. A later call replaces the deadline.
    void closeAfter(Seconds seconds) { deadline_ = closeLater(node_, seconds); }
    /// Cancels the present children, but not those that they spawn while they end.
    void cancel();
    /// Cancels the present children, and each child that is spawned later.
    void close() noexcept;
    bool isEmpty() const { return !node_->hasForks(); }
    std::size_t size() const { return node_->futures; }

    /// Returns an operation in place that waits until no child is left, and then throws the first error. With
    /// OnError::Collect or OnError::Report it throws no error of a child.
    tasks::Join join(std::source_location caller = std::source_location::current()) { return {node_, caller}; }
    /// Like join(), but cancels the children that are left after `seconds`. Returns true if none was left. Children
    /// that are spawned later are not cancelled: call close() too if children spawn others while they end.
    Future<bool> drain(Seconds seconds, std::source_location caller = std::source_location::current()) {
        return drain(node_, seconds, caller);
    }

    /// The errors of the children except actor_cancelled, in order of time. Empty with OnError::Report.
    std::pmr::vector<Error> const& errors() const { return errors_; }

private:
    /// The state of a scope. It exists until the last child has ended, perhaps longer than the Scope.
    struct Node : tasks::ScopeNode {
        using ScopeNode::ScopeNode;
        OnError onError = OnError::CancelRest;
        Scope* scope = nullptr; // null if the Scope was destroyed
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
            error = task.error(); // the task may have failed with another error after a cancel
        if (error.isValid()) {
            tasks::keepExceptionOf(task.cell(), node);
            noteError(node, error);
        }
    }
    std::pmr::vector<Error> errors_;
    std::exception_ptr exception_; // the exception that join() throws, if a child's exception is not an Error
    Node* node_;
    Future<Void> turn_;     // ready when a joiner may resume after a cancel: see holdJoiner()
    Future<Void> deadline_; // closes the scope; invalid without a deadline
};

/// Scope::shield() without a Scope: the task or scope with this Context waits for the child. Reports errors as dropped.
template <CanBeAwaited X>
void shield(Context here, X child, Seconds atMost, std::source_location caller = std::source_location::current()) {
    Scope(here, OnError::Report).shield(std::move(child), atMost, caller);
}
/// Scope::shield() without a task or Scope: the loop holds the child. net::serveUntil(), loop.run(future), the main of
/// a simulated process, and the destructor of a loop wait for it. Reports errors as dropped.
template <CanBeAwaited X>
void shield(X child, Seconds atMost, std::source_location caller = std::source_location::current()) {
    checkValid(child, caller);
    tasks::shieldOnLoop(tasks::awaitHeld(std::move(child), caller), atMost);
}
/// Returns a future that is ready when the loop holds no shielded child. A shielded child must not wait for it.
Future<Void> joinShielded();

} // namespace flow
