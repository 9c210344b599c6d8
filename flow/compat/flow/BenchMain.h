#pragma once
// runBenchmarks() under the old header name: the main function of a program of Google Benchmark, if that is installed.
//
//     int main(int argc, char** argv) { return runBenchmarks(argc, argv); }
//
// The benchmarks run on a thread of their own, beside the loop of newNet2(), where onMainThread() runs their calls.

#include "ThreadHelper.h"

#include <functional>
#include <thread>
#include <utility>

/// Stops the network when `what` has a value or an error, and returns its result.
inline flow::Future<flow::Void> stopNetworkAfter(flow::Future<flow::Void> what) {
    return flow::stopAfter(std::move(what));
}

#if __has_include("benchmark/benchmark.h")
#include "benchmark/benchmark.h"

/// Runs the benchmarks that the command line names, after `extraInit`. Returns 1 for an unknown option.
inline int runBenchmarks(int argc, char** argv, std::function<void()> const& extraInit = {}) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 1;
    g_network = newNet2(TLSConfig());
    if (extraInit)
        extraInit();
    flow::WorkGuard guard(flow::Loop::current());
    std::thread thread([] { // nondeterminism: the loop is real
        benchmark::RunSpecifiedBenchmarks();
        onMainThreadVoid([] { g_network->stop(); });
    });
    g_network->run();
    thread.join();
    return 0;
}
#endif
