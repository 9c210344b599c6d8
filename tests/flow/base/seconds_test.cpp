#include "flow/base/seconds.h"

#include "flow/combine/retry.h"
#include "flow/combine/timeout.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"

#include <algorithm>
#include <chrono>
#include <doctest/doctest.h>
#include <ratio>
#include <type_traits>

namespace {
using namespace flow;
using namespace std::chrono_literals;

static_assert(Seconds(500ms) == 0.5);
static_assert(Seconds(1min) == 60);
static_assert(Seconds(250us) == 0.00025);
static_assert(Seconds(std::chrono::duration<double, std::ratio<3600>>(0.5)) == 1800);
static_assert(Seconds(3) == 3);
static_assert(Seconds() == 0);
static_assert(std::is_trivially_copyable_v<Seconds> && sizeof(Seconds) == sizeof(double));
static_assert(!std::is_convertible_v<std::chrono::system_clock::time_point, Seconds>);
static_assert(!std::is_convertible_v<char const*, Seconds>);

constexpr Seconds changed(Seconds seconds) {
    seconds *= 4;
    seconds += 1500ms;
    seconds -= 1;
    return seconds /= 2;
}
static_assert(changed(1) == 2.25);
static_assert(Seconds(4) < 5s && Seconds(6) > 5s && Seconds(5) == 5s && Seconds(5) != 4s && 4s <= Seconds(4));
static_assert(Seconds(4) < 5 && 4.5 > Seconds(4) && Seconds(4) == 4.0 && Seconds(4) < Seconds(5));
static_assert(Seconds(4) + 500ms == 4500ms && Seconds(4) - 1s == 3);

Future<double> waits() {
    double begin = now();
    co_await delay(500ms);
    co_await delay(1);
    co_await delay(0.25f);
    Optional<Void> late = co_await timeout(delay(1h), 2s);
    CHECK(!late.present());
    co_return now() - begin;
}

TEST_CASE("seconds: numbers and std::chrono durations are taken alike, and read as a double") {
    SimLoop loop;
    CHECK(loop.run(waits()) == 3.75);
    RetryPolicy policy{.attempts = 3, .backoff = 100ms, .longest = 1min};
    CHECK(policy.backoff * 2 == 0.2);
    CHECK(std::max<double>(policy.longest, 1) == 60);
    policy.longest = 5;
    CHECK(policy.longest > policy.backoff);
}

} // namespace
