#pragma once
// FLOW_BENCHMARK_CASE (with flow/bench.h also BENCHMARK_CASE): registers a benchmark under a path. It may wait.
//
//     #include "flow/bench.h"
//
//     BENCHMARK_CASE("/queue/push", n) {             // in an .actor.cpp: the body of an actor, which may use `wait`
//         state Queue queue;
//         Benchmark::start();                        // what stands before is set-up, which is not measured
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
// The body does n items; the result is the cost of one. Without sizes, the harness chooses n, so that a run takes long
// enough to be measured. With sizes, the case is one benchmark for each size, named /queue/fill/10: n is that size, and
// the harness runs the body many times. The clock runs from start() to stop(). Without start() it runs from the
// beginning of the body, without stop() to the end of its future. A body with a size that takes less than a
// microsecond should not call them: the clock itself then takes most of the time.
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
    /// Several threads do the work: the time of the machine's clock counts, not the processor time of this thread.
    bool hasThreads = false;
    /// The body makes a loop, or needs none. Its future must be ready when it returns.
    bool hasOwnLoop = false;
    /// The body measures for itself: it is called once for each result, with n = 1.
    bool isOnce = false;
};

/// What the body of a benchmark calls. Outside of a run these functions do nothing.
class Benchmark {
public:
    /// Registers a case. Its sizes must be at least 1. Call it before the benchmarks run. Returns true.
    static bool add(BenchmarkCase benchmark, std::source_location caller = std::source_location::current());

    /// Returns all cases, in the order in which the parts of the program were linked.
    static std::vector<BenchmarkCase> const& cases();

    /// Starts the clock. If it runs, what it has measured since it was started is forgotten.
    static void start();
    /// Stops the clock. What follows is not measured, unless start() is called again: then the result is the sum.
    static void stop();

    /// Fails the benchmark. The run goes on.
    static void fail(std::string why);
    /// Each of the n is so many items. 1 if not called.
    static void setItems(double items);
    /// Adds `value` to the result, in the file of --json. If the harness measures a figure with this name, such as
    /// "allocs_per_item", `value` replaces it.
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

/// Registers a function that takes std::int64_t, here called `n`, and returns Future<Void>; with sizes or without.
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
