#include "flow/testing/benchmark.h"

#include "flow/base/assert.h"
#include "flow/testing/detail/benchmark_clock.h"

#include <algorithm>

namespace flow {

using testing::BenchmarkClock;

namespace {

std::vector<BenchmarkCase>& registered() {
    static std::vector<BenchmarkCase> all;
    return all;
}

} // namespace

std::vector<BenchmarkCase> const& Benchmark::cases() {
    return registered();
}

bool Benchmark::add(BenchmarkCase benchmark, std::source_location caller) {
    FLOW_ASSERT_AT(caller, !benchmark.name.empty(), "a benchmark has a name");
    FLOW_ASSERT_AT(caller, benchmark.body != nullptr, "a benchmark has a body");
    FLOW_ASSERT_AT(caller, std::ranges::all_of(benchmark.sizes, [](std::int64_t size) { return size >= 1; }),
                   "the sizes of a benchmark are at least 1");
    registered().push_back(std::move(benchmark));
    return true;
}

void Benchmark::start() {
    if (BenchmarkClock* clock = BenchmarkClock::current()) {
        clock->startedByBody = true;
        clock->open();
    }
}

void Benchmark::stop() {
    if (BenchmarkClock* clock = BenchmarkClock::current())
        clock->closeIfOpen();
}

void Benchmark::fail(std::string why) {
    if (BenchmarkClock* clock = BenchmarkClock::current(); clock && clock->failure.empty())
        clock->failure = std::move(why);
}

void Benchmark::setItems(double items) {
    if (BenchmarkClock* clock = BenchmarkClock::current())
        clock->items = items;
}

void Benchmark::addFigure(std::string name, double value) {
    if (BenchmarkClock* clock = BenchmarkClock::current())
        clock->figures.emplace_back(std::move(name), value);
}

void Benchmark::setLabel(std::string text) {
    if (BenchmarkClock* clock = BenchmarkClock::current())
        clock->label = std::move(text);
}

} // namespace flow
