#pragma once
// Turn: an object that asks its loop for a call: run(*this) is called once after ask(), unless takeBack() comes first.
//
//     class Socket : Turn {
//         Socket() : Turn([](Turn& self) { static_cast<Socket&>(self).readOn(); }) {}
//         void onNews() { ask(TaskPriority::ReadSocket); }
//     };
//
// A Turn is in the loop's queue at most once. Only askAt() allocates. The destructor takes the Turn out of the queue.
// run(*this) may destroy the Turn. A Turn belongs to one thread.

#include "flow/loop/loop.h"

namespace flow {

class Turn {
public:
    explicit Turn(void (*run)(Turn&)) : run_(run) { waiter_.owner = this; }
    Turn(Turn const&) = delete;
    Turn& operator=(Turn const&) = delete;
    ~Turn() { takeBack(); }

    bool isAsked() const { return waiter_.link.isLinked(); }
    /// Calls run(*this) in a turn of the loop, behind the ready steps of that priority. Does nothing if isAsked().
    void ask(TaskPriority priority) { ask(Loop::current(), priority); }
    void ask(Loop& where, TaskPriority priority) {
        if (!isAsked())
            where.makeReady(&waiter_, priority);
    }
    /// Like ask(), but first waits for `deadline` on the current loop's clock. Throws std::bad_alloc.
    void askAt(double deadline, TaskPriority priority) {
        if (!isAsked())
            Loop::current().parkUntil(&waiter_, deadline, priority);
    }
    /// Undoes ask() or askAt().
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
