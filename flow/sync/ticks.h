#pragma once
// Ticks: a timer with ticks at the multiples of an interval, however long the work between two ticks takes.
//
//     Ticks every(100ms);                                  // or 0.1; the first tick comes after 0.1 s
//     for (;;) {
//         co_await every.next();                           // until the next tick
//         sendHeartbeat();
//     }
//
//     std::uint64_t missed = co_await every.next();        // the number of skipped ticks; 0 if the work was in time
//     Ticks frames(1.0 / 60, Ticks::Missed::MakeUp);       // skips no tick: late ticks follow each other immediately
//
// next() is an operation in place, for actors, coroutines and fibers. If it loses a race, or is cancelled, it has taken
// no tick. Each tick resumes one waiter, the oldest. Without a waiter, a tick stays until the next call of next(). If
// several ticks have come by then, Missed::Skip takes all of them at once. Times are on the loop's clock, real or
// simulated, and do not drift. Make and use a Ticks object on one loop. Its destructor fails the waiters with
// broken_promise. recurring() calls a function instead, and counts its interval from the end of each call.

#include "flow/base/error.h"
#include "flow/base/format.h"
#include "flow/base/seconds.h"
#include "flow/wait/timed_source.h"

#include <algorithm>
#include <cstdint>

namespace flow {

class Ticks {
public:
    enum class Missed : std::uint8_t { Skip, MakeUp };

    struct Next {
        using Result = std::uint64_t;
        Ticks* ticks;

        bool isReady() const { return ticks->waiting_.isReady(*this); }
        void park(WaiterNode& waiter) { ticks->waiting_.park(waiter, *this); }
        std::uint64_t take() const { return ticks->take(); }
        double readyAt() const { return ticks->begin_ + static_cast<double>(ticks->next_) * ticks->interval_; }
    };

    /// Throws invalid_option_value if the interval is not from a nanosecond to 1e9 seconds.
    explicit Ticks(Seconds interval, Missed missed = Missed::Skip)
        : interval_(interval), begin_(now()), missed_(missed) {
        if (!(interval_ >= 1e-9 && interval_ <= 1e9))
            throw wrongOption("Ticks", "interval", format("%g", interval_), "it must be from 1e-9 to 1e9 seconds");
    }

    Next next() { return {this}; }

private:
    std::uint64_t take() {
        std::uint64_t taken = next_;
        if (missed_ == Missed::Skip)
            taken = std::max(next_, static_cast<std::uint64_t>((now() - begin_) / interval_));
        std::uint64_t skipped = taken - next_;
        next_ = taken + 1;
        return skipped;
    }

    double interval_;
    double begin_;
    std::uint64_t next_ = 1; // the number of the next tick
    Missed missed_;
    TimedSource<Next> waiting_;
};

} // namespace flow
