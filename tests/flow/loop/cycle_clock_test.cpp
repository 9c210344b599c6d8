#include "flow/loop/detail/cycle_clock.h"

#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>
#include <time.h>

using namespace flow;

namespace {

std::uint64_t machineNanoseconds() {
    timespec time = {};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1000000000 + static_cast<std::uint64_t>(time.tv_nsec);
}

} // namespace

TEST_CASE("cycle clock: the machine's clock, whatever counts") {
    CycleClock clock;
    std::uint64_t begin = machineNanoseconds();
    std::uint64_t first = clock.now();
    timespec nap{0, 20000000};
    ::nanosleep(&nap, nullptr);
    std::uint64_t second = clock.now();
    std::uint64_t end = machineNanoseconds();
    clock.measure();
    double seconds = clock.seconds(second - first);
    // Loose, since this thread may stand still between a reading of one clock and that of the other.
    CHECK(seconds >= 0.01);
    CHECK(seconds <= static_cast<double>(end - begin) * 2e-9);
    constexpr std::uint64_t kSecond = 1000000000;
    CHECK(clock.nanoseconds(first) >= begin - kSecond);
    CHECK(clock.nanoseconds(second) <= end + kSecond);
    CHECK(clock.nanoseconds(second) >= clock.nanoseconds(first) + kSecond / 100);
    CHECK(clock.seconds(clock.ticksOf(0.5)) == doctest::Approx(0.5));
}

TEST_CASE("cycle clock: under simulation the loop's time, and each reading is later than the one before") {
    SimLoop loop;
    CycleClock clock(&loop);
    std::uint64_t first = clock.now(), second = clock.now();
    CHECK(second > first);
    Future<Void> later = delay(2.0);
    loop.run();
    CHECK(later.isReady());
    CHECK(clock.seconds(clock.now() - second) == doctest::Approx(2.0));
}
