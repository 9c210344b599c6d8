#pragma once
// The runner of benchmarks (flow/testing/benchmark.h). The CMake target millrace::bench adds it to a program, with a
// main function:
//
//     add_executable(my_benchmarks queue_bench.cpp)
//     target_link_libraries(my_benchmarks PRIVATE millrace::bench)
//
//     $ ./my_benchmarks --filter /queue/
//     benchmark        ns/item  median  elapsed  allocs  steps
//     /queue/push         12.3    12.5     12.5       1      1
//
// Time is the processor time of the thread for one item: the least of the repetitions, and their median. "elapsed" is
// the median on the machine's clock. Repetitions of all benchmarks take turns, in random order, so that a slow phase of
// the machine changes all of them alike. Before the first one, the runner looks for the n that takes --min-time. That
// also warms up.

#include "flow/testing/benchmark.h"
#include "flow/testing/detail/bench_options.h"
#include "flow/testing/detail/benchmark_clock.h"

#include <map>

namespace flow {

namespace testing {

/// One run of a benchmark, or all runs of a size that share a loop.
struct BenchRun {
    BenchmarkClock::Spent spent;
    double items = 0; // of all iterations
    double itemsEach = 1;
    int intervals = 0;
    std::string failure;
    std::string label;
    std::vector<std::pair<std::string, double>> figures;
};

/// A line of the table: a case, with one of its sizes if it has some.
struct BenchRow {
    BenchmarkCase const* benchmark;
    std::int64_t size; // 0: the harness chooses n
    std::string name;
    std::int64_t iterations = 0;
    std::vector<BenchRun> runs = {};

    std::string failure() const;
};

/// Nanoseconds, allocations or steps of an item, of each repetition.
std::vector<double> perItem(BenchRow const& row, double BenchmarkClock::Spent::* what);
/// What a result counts as its time.
double BenchmarkClock::Spent::* timeOf(BenchRow const& row);

std::string tableOf(std::vector<BenchRow> const& rows);
/// Returns the rows in the format of Google Benchmark. `context` has all that they depend on, such as the
/// compiler.
std::string jsonOf(std::vector<BenchRow> const& rows, std::map<std::string, std::string> const& context);

} // namespace testing

/// Runs the whole program: parses the command line, prints any error in it, and runs the benchmarks. Returns the exit
/// code. `context` is added to the file of --json.
int benchMain(int argc, char const* const* argv, std::map<std::string, std::string> context = {});

/// True if the benchmarks run on real loops.
bool benchOnRealLoop();

} // namespace flow
