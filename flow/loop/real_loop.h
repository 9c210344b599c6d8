#pragma once
// RealLoop: a loop on the machine's clock.
//
//     RealLoop loop;
//     loop.run(serve());
//
// now() and timer() count seconds from the start of the program's first RealLoop, so all RealLoops of a program agree.
// The clock is machineTime(), which all programs of a machine share. A timer is never early. If a step often calls
// yield(), yield() suspends it after about 2 ms, or as soon as a more urgent step is ready.
//
// A RealLoop can be driven by another loop of its thread, such as GLib's, Qt's or asyncio's, which then sleeps for
// both:
//
//     RealLoop loop;
//     Future<Void> serving = serve();
//     other.whenReadable(loop.descriptor(), [&] { loop.runReady(); });    // without an edge trigger
//     other.run();
//
// The loop checks its poller for news when no step is ready, and at the beginning of each turn, which has at most 64
// steps. So news wait for at most 64 steps, and constant news do not keep ready steps from running.

#include "flow/loop/loop.h"

#include <memory>

namespace flow {

/// Returns the seconds of CLOCK_MONOTONIC. Needs no loop.
double machineTime() noexcept;
/// Returns the seconds on the clock of all RealLoops. Needs no loop.
double realLoopTime() noexcept;

class RealLoop final : public Loop {
public:
    RealLoop();
    ~RealLoop() override;

    double timer() override;
    double wallTime() override;

    /// Makes the loop sleep in `poller` (null: in its EventPoller). `poller` must exist until the next usePoller().
    void usePoller(Poller* poller);
    Poller& poller() const;

    /// Returns a descriptor that is readable whenever runReady() has something to do: a step or a timer is due, a
    /// descriptor has news, another thread has called post(), or stop() was called. The descriptor is the same as long
    /// as the loop exists, with any poller, and the loop closes it. The only permitted use is to wait until it is
    /// readable. The first call makes the descriptor; from then on run() takes a little longer. Throws platform_error.
    int descriptor();
    /// Runs the steps that are due, for about 2 ms at most, and does not sleep. If steps are left, descriptor() stays
    /// readable. Returns true after stop().
    ///
    /// Code outside of this loop's steps, such as a callback of the other loop, may start a future or wake a waiter. It
    /// must then call runReady(), or do this inside a post()ed call. Otherwise the other loop may sleep although a step
    /// is due. A call inside of a step fails an assertion. Throws the errors of Poller::prepare(); descriptor() is then
    /// readable.
    bool runReady(std::source_location caller = std::source_location::current());

private:
    class OuterPoller; // flow/loop/detail/outer_poller.h

    static constexpr double kSliceSeconds = 0.002;
    /// Limits the work for timers in a turn: a million timers may be due at once, and other steps must run meanwhile.
    static constexpr int kTimerStepsPerTurn = 1024;

    double startTurn() noexcept override;
    bool idleUntil(double deadline) override;
    bool sliceIsOver() override;
    bool runTurn() override;
    OuterPoller& outerPoller();

    double const start_;                 // the machineTime() at which now() is 0
    bool polled_ = false;                // the last sleep() has checked for news, and no turn has run since
    std::unique_ptr<OuterPoller> outer_; // null until descriptor() or runReady() is called
};

namespace detail {
/// Called by the constructor of RealLoop. From then on, failures of this program, and SIGQUIT after reportOnQuit(),
/// report pending computations. See flow/inspect/.
void realLoopMade(RealLoop& made);
} // namespace detail

} // namespace flow
