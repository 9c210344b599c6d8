// TEST_CASE and BENCHMARK_CASE: an actor that registers itself.
#include "flow/bench.h"
#include "flow/sim.h"
#include "flow/test.h"
#include "trace.h"
#include "flow/actorcompiler.h"

TEST_CASE("/programs/waits") {
    state int line = __LINE__;
    wait(delay(1));
    say("%s after %g s, lines %d and %d", params.get("text").get().c_str(), now(), line, __LINE__);
    params.set("text", "mine");
    wait(delay(1));
    say("%s", params.get("text").get().c_str());
    return Void();
}

TEST_CASE("/programs/waits for nothing") { // no warning
    say("at once");
    return Void();
}

namespace inner {
TEST_CASE("/programs/fails") {
    try {
        wait(Future<Void>(timed_out()));
    } catch (Error& e) {
        say("caught %s", e.name());
        throw operation_failed();
    }
    return Void();
}
}

BENCHMARK_CASE("/programs/counts", n) {
    for (; n > 0; n--)
        wait(delay(1));
    say("%g s", now());
    return Void();
}

BENCHMARK_CASE("/programs/sizes", items, 2, 3) {
    say("%d items", static_cast<int>(items));
    wait(delay(1));
    return Void();
}

int main() {
    SimLoop sim;
    UnitTestParameters parameters;
    parameters.set("text", "given");
    for (UnitTest* test = g_unittests.tests; test; test = test->next) { // the latest first
        say("%s, line %d", test->name, test->line);
        sim.run(watch(test->name, test->func(parameters)));
    }
    say("%s", parameters.get("text").get().c_str());
    for (BenchmarkCase const& benchmark : Benchmark::cases()) {
        SimLoop own;
        say("%s, %d sizes", benchmark.name.c_str(), static_cast<int>(benchmark.sizes.size()));
        own.run(watch(benchmark.name.c_str(), benchmark.body(3)));
    }
}
