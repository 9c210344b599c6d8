#pragma once
// Scope: a nursery, for any number of children, without a wait for each result.
//
//     Future<Void> serve(Listener* listener, Future<Void> stop) {
//         Scope clients;
//         for (;;) {
//             auto first = co_await race(stop, listener->accept());
//             if (first.index() == 0)
//                 break;
//             clients.spawn(handle(std::get<1>(std::move(first))));   // a Future
//         }
//         bool inTime = co_await clients.drain(5.0);   // those that are left after 5 seconds are cancelled
//     }
//     Task<> both(Context) {
//         Context here = co_await context();
//         Scope scope(here);                           // belongs to the task: cancelled before it, and ends before it
//         scope.spawn(load(scope.context(), 1));       // a Task
//         scope.spawn([] { return save(2); });         // a function, which the scope holds
//         co_await scope.join();
//     }
//
// The same in every style: a local of a coroutine or a fiber, a `state` of an actor, a member of an object. A child
// starts at once. join() and drain() wait until all children have ended, and throw the first error. By default an error
// cancels the other children; with OnError::Collect they go on, and errors() has all errors; with OnError::Report they
// go on, and each error is reported as a dropped one: for a server, which must not keep the errors of its clients.
//
// A scope holds the futures of its children: cancel() drops them, and cancels its tasks and forks. A scope that is
// destroyed cancels its children, and drops what they spawn while they end. If join() or drain() is cancelled, or loses
// a race, the children run on. With the Context of a task the scope is a child of the task: cancelling the task cancels
// the scope first, and the task ends after all of the scope. One at a time may wait for the end of a scope; it gets
// broken_promise if the scope is destroyed, and children that are cancelled go on. spawn() throws an exception of the
// memory resource; the child is cancelled then. Belongs to one thread.

#include "flow/tasks/task.h"
#include "flow/wait/operand.h"

#include <vector>

namespace flow {

enum class OnError : std::uint8_t { CancelRest, Collect, Report };

class Scope {
public:
    /// Without a Context, the scope is the root of a tree.
    explicit Scope(OnError onError = OnError::CancelRest);
    explicit Scope(Context parent, OnError onError = OnError::CancelRest);
    Scope(Scope const&) = delete;
    Scope& operator=(Scope const&) = delete;
    ~Scope();

    /// The context of tasks to spawn, and of forks that are to belong to the scope.
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
    /// A function that makes one of these, a fork, a delay, a race() or another operand. The scope holds it until it
    /// has ended.
    template <CanBeAwaited X>
    void spawn(X child) {
        spawn(awaitHeld(std::move(child)));
    }

    /// Cancels the present children.
    void cancel() { tasks::cancelChildren(node_); }
    /// Cancels the present children, and each that is spawned later. Needs no memory.
    void close() noexcept { tasks::cancelTree(node_); }
    /// True if no child is left.
    bool isEmpty() const { return !node_->hasForks(); }
    /// The number of futures that are held.
    std::size_t size() const { return node_->futures; }

    /// Waits until no child is left. Throws the first error; with OnError::Collect and Report none. An operation in
    /// place.
    tasks::Join join() { return {node_}; }
    /// Like join(), but cancels the children that are left after `seconds`. Gives true if none was left.
    Future<bool> drain(double seconds) { return drain(node_, seconds); }

    /// The errors of the children except actor_cancelled, in the order in which they failed. Empty with
    /// OnError::Report.
    std::pmr::vector<Error> const& errors() const { return errors_; }

private:
    /// The state as long as there are children, which may be longer than the Scope exists.
    struct Node : tasks::ScopeNode {
        using ScopeNode::ScopeNode;
        OnError onError = OnError::CancelRest;
        std::pmr::vector<Error>* errors = nullptr; // of the Scope, as long as it exists
    };
    static WaiterNode* ended(tasks::ScopeNode* scope, Error error);
    static void noteError(Node* node, Error error);
    static Future<bool> drain(Node* node, double seconds, Propagate = {});

    template <class T>
    static Fork<> run(Context, Node* node, Task<T> task) {
        Error error;
        try {
            co_await task;
        } catch (...) {
            error = currentError();
        }
        if (error.isValid())
            noteError(node, error);
    }
    template <class X>
    static Future<Void> awaitHeld(X child, Propagate = {}) {
        if constexpr (detail::GivesFuture<X>) {
            co_await std::move(child).future();
        } else if constexpr (std::invocable<X&> && !InPlace<X>) {
            auto made = awaitHeld(child());
            co_await std::move(made);
        } else {
            co_await child;
        }
    }

    std::pmr::vector<Error> errors_;
    Node* node_;
};

} // namespace flow
