#pragma once
// WaitTimes: while one exists, dumpPending() on its loop says how long each computation has waited.
//
//     WaitTimes times(loop);              // or MILLRACE_WAIT_TIMES=1 in the environment, for each RealLoop
//
//     actor replicate at replicate.actor.cpp:31 waits for a promise [for 12.5 s]
//
// About once in `period` seconds, at the begin of a turn, it stores each computation with what it waits for: a scan. A
// loop that sleeps is not woken for that. A time counts from the first scan with the computation at this wait, so it is
// right to a period. A computation may go on and be back at the same wait, for the same thing, at the next scan, as a
// server that waits for its next request: its time goes on as if it had never left. So what hangs has a long time, but
// not all that has a long time hangs.
//
// Without one nothing is recorded, neither in frames nor at waits. With one, each turn costs two reads of the clock,
// and the scans take at most 2 % of the time: with very many computations the period grows. 24 bytes for each
// computation. Belongs to the loop's thread; the loop outlives it, and has one at a time.

#include "flow/inspect/code.h"
#include "flow/inspect/frames.h"
#include "flow/loop/loop.h"
#include "flow/loop/task_watch.h"

#include <cstdint>
#include <vector>

namespace flow {

class RealLoop;

class WaitTimes final : TaskWatch {
public:
    /// Begins with the next turn. Throws std::bad_alloc.
    explicit WaitTimes(Loop& loop, double period = 1);
    WaitTimes(WaitTimes const&) = delete;
    WaitTimes& operator=(WaitTimes const&) = delete;
    ~WaitTimes();

    /// How long the computation has waited as it does now, and whether that is known: else it is less than that.
    struct Time {
        double seconds;
        bool isKnown;
    };
    Time of(inspect::Frame const& frame);

private:
    struct Entry {
        detail::Waiter const* frame;
        std::uint64_t wait; // a hash of where it stands and what it waits for
        double since;
    };

    void begins(WaiterNode*, TaskPriority) noexcept override {}
    void turnBegins() noexcept override;
    void turnEnds() noexcept override { ended_ = loop_.timer(); }
    void look();
    std::uint64_t waitOf(inspect::Frame const& frame);

    Loop& loop_;
    double period_;
    double ended_;               // when the last turn did: what waits now has waited since then at least
    double looked_;              // when the entries were made
    double next_ = 0;            // when they are to be made again
    std::vector<Entry> entries_; // by address
    inspect::Codes codes_;
};

namespace detail {
/// Makes one that ends with the loop, if the environment says so.
void timeWaitsIfAsked(RealLoop& loop);
} // namespace detail

} // namespace flow
