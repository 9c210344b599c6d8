#include "flow/loop/detail/cycle_clock.h"

#include "flow/loop/loop.h"

#include <algorithm>
#include <ctime>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace flow {
namespace {

bool hasSteadyCounter() noexcept {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
#else
    return false;
#endif
}

std::uint64_t clockNanoseconds() noexcept {
    timespec time;
    ::clock_gettime(CLOCK_MONOTONIC, &time); // nondeterminism: never for a simulated loop
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

} // namespace

CycleClock::CycleClock(Loop* simulated) : simulated_(simulated) {
    if (simulated_)
        return;
    isCounter_ = hasSteadyCounter();
    nanoseconds0_ = clockNanoseconds();
    ticks0_ = now();
}

std::uint64_t CycleClock::slowNow() noexcept {
    if (!simulated_)
        return clockNanoseconds();
    return last_ = std::max(last_ + 1, static_cast<std::uint64_t>(simulated_->timer() * 1e9));
}

void CycleClock::measure() noexcept {
    if (!isCounter_)
        return;
    constexpr std::uint64_t kEnough = 1'000'000; // nanoseconds: the rate is right to a few parts in ten thousand
    std::uint64_t passed, ticks;
    do {
        passed = clockNanoseconds() - nanoseconds0_;
        ticks = now() - ticks0_;
    } while (passed < kEnough);
    rate_ = static_cast<double>(passed) / static_cast<double>(ticks);
}

std::uint64_t CycleClock::nanoseconds(std::uint64_t ticks) const noexcept {
    if (!isCounter_)
        return ticks;
    auto since = static_cast<double>(static_cast<std::int64_t>(ticks - ticks0_));
    return nanoseconds0_ + static_cast<std::uint64_t>(static_cast<std::int64_t>(since * rate_));
}

} // namespace flow
