#pragma once
// FLOW_BENCHMARK_CASE (with flow/bench.h also BENCHMARK_CASE): registers a benchmark under a path. The benchmark may
// wait.
//
//     #include "flow/bench.h"
//
//     BENCHMARK_CASE("/queue/push", n) {             // in an .actor.cpp: the body of an actor, which may use `wait`
//         state Queue queue;
//         Benchmark::start();                        // the code before is set-up, and is not measured
//         for (; n > 0; n--)
//             wait(queue.push(n));
//         return Void();
//     }
//     BENCHMARK_CASE("/queue/fill", n, 10, 1000) {   // in any other file: a plain function, or a coroutine
//         Queue queue;
//         for (; n > 0; --n)
//             co_await queue.push(n);
//     }
//
// The body does n items; the result is the cost of one item. Without sizes, the harness chooses n, so that a run takes
// long enough to be measured. With sizes, the case is one benchmark for each size, named /queue/fill/10: n is that
// size, and the harness runs the body many times. The clock runs from start() to stop(). Without start(), it runs from
// the beginning of the body. Without stop(), it runs to the end of the body's future. With sizes, a body that takes
// less than a microsecond should not call start() or stop(): the clock would take most of the time.
//
// The benchmark fails if its future has an error, if the body throws, or if it calls fail(). Link the program with
// millrace::bench to run the benchmarks (flow/testing/detail/bench_runner.h). Each run has a loop of its own, on
// virtual time unless --loop real is given, and the same random numbers. The runs of one size share a loop.
//
// Two benchmarks must not be on the same line. Only the thread that runs the body calls the functions of Benchmark.

#include "flow/core/future.h"

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

namespace flow {

/// A registered benchmark. Programs use FLOW_BENCHMARK_CASE; Benchmark::add() is for names that are made at run time.
struct BenchmarkCase {
    std::string name;
    std::function<Future<Void>(std::int64_t n)> body;
    std::vector<std::int64_t> sizes = {};
    /// True if several threads do the work. Then the machine's clock counts, not the processor time of this thread.
    bool hasThreads = false;
    /// True if the body makes a loop, or needs none. Its future must be ready when the body returns.
    bool hasOwnLoop = false;
    /// True if the body measures by itself. It is called once for each result, with n = 1.
    bool isOnce = false;
};

/// The functions that the body of a benchmark calls do nothing outside of a run. add() and cases() are for all code.
class Benchmark {
public:
    /// Registers a case. Its sizes must be at least 1. Call it before the benchmarks run. Returns true.
    static bool add(BenchmarkCase benchmark, std::source_location caller = std::source_location::current());

    /// Returns all cases, in the order in which the parts of the program were linked.
    static std::vector<BenchmarkCase> const& cases();

    /// Starts the clock. If the clock runs already, forgets all that it has measured since it was started.
    static void start();
    /// Stops the clock. The body may call start() again: then the result is the sum of all measured parts.
    static void stop();

    /// Fails the benchmark. The run goes on.
    static void fail(std::string why);
    /// Makes each of the n iterations count as `items` items. The default is 1.
    static void setItems(double items);
    /// Adds a number to the result, in the file of --json. If the harness measures a number with this name, such as
    /// "allocs_per_item", `value` replaces that number.
    static void addFigure(std::string name, double value);
    /// Adds a remark to the result, in the file of --json.
    static void setLabel(std::string text);

    /// Makes the compiler compute `value`, although nothing else uses it.
    template <class T>
    static void keep(T& value) {
#ifdef __clang__
        asm volatile("" : "+r,m"(value) : : "memory");
#else
        asm volatile("" : "+m,r"(value) : : "memory");
#endif
    }
    template <class T>
    static void keep(T const& value) {
        asm volatile("" : : "r,m"(value) : "memory");
    }
};

} // namespace flow

/// Registers a function from std::int64_t (the parameter `n`) to Future<Void>, with or without sizes.
#define FLOW_ACTOR_BENCHMARK_CASE(function, name, n, ...)                                                              \
    [[maybe_unused]] static bool const flowBenchmark__##function =                                                     \
        ::flow::Benchmark::add({name, function, {__VA_ARGS__}});

#define FLOW_BENCHMARK_CASE(name, ...) FLOW_BENCHMARK_CASE_EXPAND_(__LINE__, name, __VA_ARGS__)
#define FLOW_BENCHMARK_CASE_EXPAND_(line, name, ...) FLOW_BENCHMARK_CASE_AT_(line, name, __VA_ARGS__)
#define FLOW_BENCHMARK_CASE_AT_(line, name, ...) FLOW_BENCHMARK_CASE_NAMED_(flowBenchmarkCase##line, name, __VA_ARGS__)
#define FLOW_BENCHMARK_CASE_NAMED_(function, name, n, ...)                                                             \
    static ::flow::Future<::flow::Void> function(std::int64_t);                                                        \
    FLOW_ACTOR_BENCHMARK_CASE(function, name, n __VA_OPT__(, ) __VA_ARGS__)                                            \
    static ::flow::Future<::flow::Void> function([[maybe_unused]] std::int64_t n)
