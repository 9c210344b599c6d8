#pragma once
// WaitTimes: makes dumpPending() print the time that each computation of a loop has waited.
//
//     WaitTimes times(loop);              // or MILLRACE_WAIT_TIMES=1 in the environment, for each RealLoop
//
//     actor replicate at replicate.actor.cpp:31 waits for a promise [for 12.5 s]
//
// About once in `period` seconds, at the beginning of a turn, a scan stores each computation with its wait. A loop that
// sleeps is not woken for a scan. A time counts from the first scan that found the computation at this wait, so it is
// accurate to a period. If a computation is back at the same wait at the next scan, like a server that waits for its
// next request, its time goes on. So a long time does not prove that a computation hangs.
//
// Each turn costs two reads of the clock, and each computation 24 bytes. The scans take at most 2 % of the time: with
// very many computations the period grows. A WaitTimes must end before its loop, on its thread; a loop has at most one.

#include "flow/base/seconds.h"
#include "flow/inspect/detail/code.h"
#include "flow/inspect/detail/frames.h"
#include "flow/loop/loop.h"
#include "flow/loop/step_watch.h"

#include <cstdint>
#include <vector>

namespace flow {

class RealLoop;

class WaitTimes final : StepWatch {
public:
    /// Makes scans from the next turn on. Throws std::bad_alloc.
    explicit WaitTimes(Loop& watched, Seconds period = 1);
    WaitTimes(WaitTimes const&) = delete;
    WaitTimes& operator=(WaitTimes const&) = delete;
    ~WaitTimes();

    /// The time that a computation has been at its present wait: `seconds`, or less if `isKnown` is false.
    struct Time {
        double seconds;
        bool isKnown;
    };
    Time of(inspect::Frame const& frame);

private:
    struct Entry {
        detail::Waiter const* frame;
        std::uint64_t wait; // a hash of the place and the awaited object
        double since;
    };

    void begins(WaiterNode*, TaskPriority) noexcept override {}
    void turnBegins() noexcept override;
    void turnEnds() noexcept override { ended_ = loop_.timer(); }
    void look();
    std::uint64_t waitOf(inspect::Frame const& frame);

    Loop& loop_;
    double period_;
    double ended_;               // the end of the last turn; all present waits began before it
    double looked_;              // the end of the last turn before the last scan
    double next_ = 0;            // time of the next scan
    std::vector<Entry> entries_; // sorted by address
    inspect::Codes codes_;
};

namespace detail {
/// Makes a WaitTimes that ends with the loop, if the environment requests it.
void timeWaitsIfAsked(RealLoop& watched);
} // namespace detail

} // namespace flow
