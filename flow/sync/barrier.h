#pragma once
// Latch: opens once, after a number of calls of countDown(). Barrier: tasks wait for each other, in phases.
//
//     Latch started(workers);
//     started.countDown();                     // in each worker
//     co_await started.wait();
//
//     Barrier phase(3);
//     co_await phase.arrive();                 // in each of three tasks, in each phase
//
// countDown() and arrive() count even if the wait is cancelled. wait() and arrive() return operations in place, for
// actors, coroutines and fibers. A Latch or a Barrier belongs to one thread. Its destructor fails the waiters with
// broken_promise.

#include "flow/base/assert.h"
#include "flow/sync/event.h"

#include <cstddef>
#include <cstdint>

namespace flow {

class Latch {
public:
    explicit Latch(std::size_t count) : count_(count), open_(count == 0) {}

    void countDown(std::size_t steps = 1) {
        FLOW_ASSERT(steps <= count_, "a Latch counts down below zero");
        count_ -= steps;
        if (count_ == 0)
            open_.set();
    }
    bool isOpen() const { return count_ == 0; }
    Event::Wait wait() { return open_.wait(); }

private:
    std::size_t count_;
    Event open_;
};

class Barrier {
public:
    struct Arrival {
        using Result = Void;
        Barrier* barrier;
        std::uint64_t phase;

        bool isReady() const { return barrier->phase_ != phase; }
        void park(WaiterNode& waiter) { barrier->waiting_.park(waiter, *this); }
        Void take() const { return Void(); }
    };

    explicit Barrier(std::size_t parties) : parties_(parties), missing_(parties) {
        FLOW_ASSERT(parties != 0, "a Barrier without parties");
    }

    /// Counts an arrival in the present phase. The last arrival ends the phase and wakes its waiters.
    Arrival arrive() {
        Arrival arrival{this, phase_};
        if (--missing_ == 0) {
            missing_ = parties_;
            ++phase_;
            waiting_.wakeInTurn();
        }
        return arrival;
    }
    std::uint64_t phase() const { return phase_; }

private:
    std::size_t parties_;
    std::size_t missing_;
    std::uint64_t phase_ = 0;
    Source<Arrival> waiting_; // oldest first, so waiters of earlier phases come first
};

} // namespace flow
