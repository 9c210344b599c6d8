#pragma once
// Event: a flag, set or not. Any number of tasks can wait until it is set.
//
//     Event ready;
//     co_await ready.wait();        // does not suspend if `ready` is set already
//     ready.set();                  // waiters resume oldest first, in turns of the loop, as long as `ready` stays set
//     ready.reset();
//
// wait() returns an operation in place, for actors, coroutines and fibers. An Event belongs to one thread. Its
// destructor fails the waiters with broken_promise.

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
