// For flow/docs/debugging_a_slow_loop.md: a heartbeat that comes late, since something keeps the loop from it.
#include "flow/flow.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/long_steps.h"

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "flow/actorcompiler.h" // must be last

using namespace flow;

static double const kBeat = 0.005;

ACTOR Future<Void> beat(int count) {
    state double due = now();
    state int late = 0;
    state int i = 0;
    for (; i < count; ++i) {
        due = now() + kBeat;
        wait(delay(kBeat));
        if (now() > due + 0.02)
            ++late;
    }
    std::printf("heartbeats came late: %s\n", late > 0 ? "yes" : "no");
    return Void();
}

ACTOR Future<Void> readRows(int count) {
    state int i = 0;
    for (; i < count; ++i)
        wait(delay(0.001));
    return Void();
}

ACTOR Future<Void> rebuildIndex(int rows) {
    state int i = 0;
    for (; i < rows; ++i) {
        wait(delay(0.004));
        double until = Loop::current().timer() + 0.05; // sorts what has come
        while (Loop::current().timer() < until) {
        }
    }
    return Void();
}

ACTOR Future<Void> runAll() {
    state Future<Void> rows = readRows(100);
    state Future<Void> index = rebuildIndex(3);
    wait(beat(10));
    wait(rows && index);
    return Void();
}

int main() {
    RealLoop real;
    std::optional<LongSteps> report;
    if (std::getenv("REPORT_LONG_STEPS"))
        report.emplace(real, 0.030);
    real.run(runAll());
}
