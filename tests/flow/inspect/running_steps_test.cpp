#include "flow/inspect/running_steps.h"

#include "flow/base/sanitizer.h"
#include "flow/coro/coroutine.h"
#include "flow/inspect/detail/signal_sampler.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <unistd.h>

using namespace flow;

namespace running_steps_test {
namespace {

std::atomic<bool> isRunning, isSeen;

[[gnu::noinline]] void readsConfig() {
    while (!isSeen)
        ::usleep(100); // under ThreadSanitizer a signal is handled only in such a call
}
Future<Void> crunchingActor() {
    co_await delay(0);
    isRunning = true;
    readsConfig();
}

[[gnu::noinline]] void copiesBlock() {
    static char from[1 << 20], to[1 << 20];
    while (!isSeen) {
        std::memcpy(to, from, sizeof to);
        asm volatile("" : : "r"(to) : "memory");
    }
}
[[gnu::noinline]] void readsClock() {
    timespec now;
    while (!isSeen)
        ::clock_gettime(CLOCK_MONOTONIC, &now);
}
/// Samples a thread that runs `work`, which must call a library all the time, until it is in the library.
std::string textInLibrary(void (*work)()) {
    isRunning = isSeen = false;
    std::thread other([work] {
        RealLoop loop;
        auto metrics = LoopMetrics::shared("busy");
        loop.post([work] {
            isRunning = true;
            work();
        });
        loop.run();
    });
    while (!isRunning)
        std::this_thread::yield();
    std::string text;
    for (int i = 0; i < 1000 && text.find("\n  0 0x") == text.npos; ++i) {
        auto steps =
            sampleRunningSteps([](LoopMetrics const& loop, RunningStep const&) { return loop.name() == "busy"; });
        text = steps.empty() ? "" : steps[0].text();
    }
    isSeen = true;
    other.join();
    return text;
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

#if __GLIBC_PREREQ(2, 35) && !FLOW_ADDRESS_SANITIZER && !FLOW_THREAD_SANITIZER
TEST_CASE("running steps: a step that is in libc or in the kernel's code has the function that has called it") {
    struct {
        void (*work)();
        char const* name;
    } const all[] = {{readsConfig, "readsConfig"}, {copiesBlock, "copiesBlock"}, {readsClock, "readsClock"}};
    for (auto const& each : all) {
        std::string text = textInLibrary(each.work);
        CHECK_MESSAGE(text.find(", now in running_steps_test::(anonymous namespace)::" + std::string(each.name) +
                                "()") != text.npos,
                      text);
        std::size_t command = text.find("addr2line -e ");
        REQUIRE_MESSAGE(command != text.npos, text);
        CHECK_MESSAGE(text.find("libc.so", command) == text.npos, text);
        CHECK_MESSAGE(text.find("runTurn", text.find(each.name)) != text.npos, text); // its callers are there too
    }
}
#endif

TEST_CASE("running steps: a thread that does not exist has no stack") {
    CHECK(sampleStack(1 << 30).empty());
}

} // namespace running_steps_test
