#pragma once
// CycleClock: a clock that is fast to read: the processor's counter if the counter has a constant rate, else the
// machine's clock. Under simulation it is the loop's time, and each read gives a later time than the previous read.
//
//     CycleClock clock;
//     std::uint64_t before = clock.now();
//     ...
//     clock.measure();
//     double seconds = clock.seconds(clock.now() - before);

#include <cstdint>

namespace flow {

class Loop;

class CycleClock {
public:
    /// Counts the time of the loop `simulated`; null: the machine's time.
    explicit CycleClock(Loop* simulated = nullptr);

    std::uint64_t now() noexcept {
#if defined(__x86_64__)
        if (isCounter_) [[likely]]
            return __builtin_ia32_rdtsc(); // nondeterminism: never for a simulated loop
#endif
        return slowNow();
    }
    /// Converts `ticks` to nanoseconds of CLOCK_MONOTONIC, or of the simulated time.
    std::uint64_t nanoseconds(std::uint64_t ticks) const noexcept;
    /// Measures the length of a tick, for nanoseconds(), seconds() and ticksOf(). Takes up to 1 ms.
    void measure() noexcept;
    double seconds(std::uint64_t ticks) const noexcept { return static_cast<double>(ticks) * rate_ * 1e-9; }
    std::uint64_t ticksOf(double seconds) const noexcept { return static_cast<std::uint64_t>(seconds * 1e9 / rate_); }

private:
    std::uint64_t slowNow() noexcept;

    Loop* simulated_;
    bool isCounter_ = false;
    std::uint64_t last_ = 0;   // under simulation: the last result of now()
    std::uint64_t ticks0_ = 0; // the value of the counter at nanoseconds0_
    std::uint64_t nanoseconds0_ = 0;
    double rate_ = 1; // nanoseconds of a tick
};

} // namespace flow
