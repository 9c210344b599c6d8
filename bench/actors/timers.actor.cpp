// Timers that are set, among others: dropped, or waited for.

#include "bench/run.h"
#include "flow/flow.h"

#include "flow/actorcompiler.h" // must be the last include

namespace MILLRACE_BACKEND_NAMESPACE {

using namespace flow;
using bench::Counted;
using bench::Run;

ACTOR Future<Void> pause(double seconds) {
    wait(delay(seconds));
    return Void();
}

ACTOR Future<Void> driveTimerCancel(Run* run) {
    state DeterministicRandom random(11);
    wait(delay(0));
    while (run->next()) {
        Future<Void> dropped = pause(bench::laterSeconds(random));
        run->expect(!dropped.isReady());
    }
    return Void();
}

ACTOR Future<Void> driveTimerFire(Run* run) {
    state DeterministicRandom random(12);
    while (run->next()) {
        wait(delay(1e-9 * (1 + random.random01())));
    }
    return Void();
}

ACTOR Future<Void> driveTimerFlight(Run* run) {
    state std::vector<Future<Void>> flight(run->size());
    state int next = 0;
    state double later = 30;
    wait(delay(0));
    for (Future<Void>& each : flight) {
        each = pause(later += 1e-6);
    }
    while (run->next()) {
        flight[next] = pause(later += 1e-6);
        next = next + 1 == run->size() ? 0 : next + 1;
    }
    return Void();
}

ACTOR Future<Void> driveTimerRandom(Run* run) {
    state std::vector<Future<Void>> waiting(run->size());
    state DeterministicRandom random(13);
    state double later = 30;
    wait(delay(0));
    for (Future<Void>& each : waiting) {
        each = pause(later += 1e-6);
    }
    while (run->next()) {
        waiting[random.randomInt(0, run->size())] = pause(later += 1e-6);
    }
    return Void();
}

ACTOR Future<Void> driveTimers(Run* run) {
    state std::vector<Future<Void>> waiting;
    while (run->next()) {
        waiting = std::vector<Future<Void>>();
        waiting.reserve(run->size());
        for (int i = 1; i <= run->size(); ++i) {
            waiting.push_back(pause(1e-9 * i));
        }
        wait(waitForAll(waiting));
    }
    return Void();
}

ACTOR Future<Void> driveTimersUnordered(Run* run) {
    state DeterministicRandom random(14);
    state std::vector<Future<Void>> waiting;
    while (run->next()) {
        waiting = std::vector<Future<Void>>();
        waiting.reserve(run->size());
        for (int i = 0; i < run->size(); ++i) {
            waiting.push_back(pause(1e-9 * (1 + run->size() * random.random01())));
        }
        wait(waitForAll(waiting));
    }
    return Void();
}

static const bench::Style style(bench::styleOf(MILLRACE_NAME(MILLRACE_BACKEND_NAMESPACE)),
                                {
                                    {"timer_cancel", driveTimerCancel, [] { return bench::bytes(pause(1)); }},
                                    {"timer_fire", driveTimerFire},
                                    {"timer_flight", driveTimerFlight, [] { return bench::bytes(pause(1)); }},
                                    {"timer_random", driveTimerRandom, [] { return bench::bytes(pause(1)); }},
                                    {"timers", driveTimers, [] { return bench::bytes(pause(1)); }},
                                    {"timers_unordered", driveTimersUnordered, [] { return bench::bytes(pause(1)); }},
                                });

} // namespace MILLRACE_BACKEND_NAMESPACE
