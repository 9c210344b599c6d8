#pragma once
// Turn: an object that the loop runs once after each ask(), unless takeBack() comes first.
//
//     class Socket : Turn {
//         Socket() : Turn([](Turn& self) { static_cast<Socket&>(self).readOn(); }) {}
//         void onNews() { ask(TaskPriority::ReadSocket); }
//     };
//
// A Turn is in the loop's queue at most once, and allocates nothing unless it waits for a time. Its destructor takes it
// out of the queue. A Turn that runs may destroy itself. It belongs to one thread.

#include "flow/loop/loop.h"

namespace flow {

class Turn {
public:
    explicit Turn(void (*run)(Turn&)) : run_(run) { waiter_.owner = this; }
    Turn(Turn const&) = delete;
    Turn& operator=(Turn const&) = delete;
    ~Turn() { takeBack(); }

    /// True if this Turn is in the queue, or waits for the deadline of askAt().
    bool isAsked() const { return waiter_.link.isLinked(); }
    /// Lets this Turn run once in a turn of the loop, behind the steps that are ready at that priority. The loop is the
    /// current one unless another is given. Does nothing if isAsked() is true already.
    void ask(TaskPriority priority) { ask(Loop::current(), priority); }
    void ask(Loop& where, TaskPriority priority) {
        if (!isAsked())
            where.makeReady(&waiter_, priority);
    }
    /// Like ask(), but waits for `deadline` on the current loop's clock first. Throws std::bad_alloc.
    void askAt(double deadline, TaskPriority priority) {
        if (!isAsked())
            Loop::current().parkUntil(&waiter_, deadline, priority);
    }
    /// Undoes ask() or askAt(). This Turn does not run until ask() or askAt() is called again.
    void takeBack() { detail::detach(&waiter_); }

private:
    static void resume(detail::Waiter* waiter) {
        waiter->awaited = {};
        auto* self = static_cast<Turn*>(waiter->owner);
        self->run_(*self);
    }

    detail::Waiter waiter_{resume, {nullptr}, {nullptr, nullptr}, {}};
    void (*run_)(Turn&);
};

} // namespace flow
