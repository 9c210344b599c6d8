#include "flow/testing/detail/benchmark_clock.h"

#include "flow/loop/loop.h"
#include "flow/memory/fast_allocator.h"

#include <ctime>

namespace flow::testing {
namespace {

thread_local BenchmarkClock* currentClock = nullptr;

double nanoseconds(clockid_t clock) {
    timespec time;
    ::clock_gettime(clock, &time); // nondeterminism: this measures the machine
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

} // namespace

BenchmarkClock::Spent& BenchmarkClock::Spent::operator+=(Spent const& other) {
    processor += other.processor;
    elapsed += other.elapsed;
    allocations += other.allocations;
    steps += other.steps;
    return *this;
}

BenchmarkClock::Spent BenchmarkClock::Spent::operator-(Spent const& other) const {
    return {processor - other.processor, elapsed - other.elapsed, allocations - other.allocations, steps - other.steps};
}

BenchmarkClock::BenchmarkClock(Loop const* measured)
    : measured_(measured), previous_(std::exchange(currentClock, this)) {}

BenchmarkClock::~BenchmarkClock() {
    currentClock = previous_;
}

BenchmarkClock* BenchmarkClock::current() {
    return currentClock;
}

BenchmarkClock::Spent BenchmarkClock::now() const {
    Spent now;
    now.allocations = static_cast<double>(systemAllocations + memory::totalStatistics().allocated);
    now.steps = measured_ ? static_cast<double>(measured_->stepsRun()) : 0;
    now.processor = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    now.elapsed = nanoseconds(CLOCK_MONOTONIC);
    return now;
}

[[gnu::noinline]] void BenchmarkClock::open() {
    isOpen_ = true;
    opened_ = now();
}

[[gnu::noinline]] void BenchmarkClock::close() {
    isOpen_ = false;
    spent_ += now() - opened_;
    ++intervals_;
}

} // namespace flow::testing
