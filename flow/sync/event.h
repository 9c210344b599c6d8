#pragma once
// Event: a state, set or not, for which any number of tasks can wait.
//
//     Event ready;
//     co_await ready.wait();        // does not suspend if `ready` is set
//     ready.set();                  // all waiters resume, oldest first, in turns of the loop, while `ready` is set
//     ready.reset();
//
// The result of wait() is an operation in place, for actors, coroutines and fibers. An Event belongs to one thread.
// When it is destroyed, its waiters get broken_promise.

#include "flow/wait/source.h"

namespace flow {

class Event {
public:
    struct Wait {
        using Result = Void;
        Event* event;

        bool isReady() const { return event->isSet_; }
        void park(WaiterNode& waiter) { event->waiting_.park(waiter, *this); }
        Void take() const { return Void(); }
    };

    explicit Event(bool isSet = false) : isSet_(isSet) {}

    void set() {
        isSet_ = true;
        waiting_.wakeInTurn();
    }
    void reset() { isSet_ = false; }
    bool isSet() const { return isSet_; }
    Wait wait() { return {this}; }

private:
    bool isSet_;
    Source<Wait> waiting_;
};

} // namespace flow
