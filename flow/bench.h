#pragma once
// The macro of benchmarks without a prefix: BENCHMARK_CASE.
//
//     BENCHMARK_CASE("/queue/push", n) {
//         Queue queue;
//         Benchmark::start();
//         for (; n > 0; --n)
//             co_await queue.push(n);
//     }
//
// flow/testing/benchmark.h has the contract, and the macro with a prefix: FLOW_BENCHMARK_CASE. flow/flow.h does not
// include this header.

#include "flow/testing/benchmark.h"

#define BENCHMARK_CASE FLOW_BENCHMARK_CASE
