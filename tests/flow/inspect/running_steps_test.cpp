#include "flow/inspect/running_steps.h"

#include "flow/coro/coroutine.h"
#include "flow/inspect/detail/signal_sampler.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <unistd.h>

using namespace flow;

namespace running_steps_test {
namespace {

std::atomic<bool> isRunning, isSeen;

Future<Void> crunchingActor() {
    co_await delay(0);
    isRunning = true;
    while (!isSeen)
        ::usleep(100); // under ThreadSanitizer a signal is handled only in such a call
}

} // namespace

TEST_CASE("running steps: another thread sees the step, its actor and its stack") {
    CHECK(runningSteps() == "no loop with a LoopMetrics runs a step\n");
    isRunning = isSeen = false;
    std::thread other([] {
        RealLoop loop;
        auto metrics = LoopMetrics::shared("busy");
        loop.run(crunchingActor());
    });
    while (!isRunning)
        std::this_thread::yield();
    std::vector<SampledStep> steps;
    auto isWanted = [](LoopMetrics const& loop, RunningStep const&) { return loop.name() == "busy"; };
    do // the thread may have been interrupted where its stack cannot be read
        steps = sampleRunningSteps(isWanted);
    while (steps.empty() || steps[0].stack.empty());
    isSeen = true;
    other.join();
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].loop == "busy");
    CHECK(steps[0].actor().find("crunchingActor") != std::string::npos);
    CHECK(steps[0].step.seconds > 0);
    std::string text = steps[0].text();
    CHECK(text.starts_with("the loop busy has run a step of "));
    CHECK(text.find("\n  0 ") != std::string::npos);
}

TEST_CASE("running steps: a thread that does not exist has no stack") {
    CHECK(sampleStack(1 << 30).empty());
}

} // namespace running_steps_test
