// bench/actors/timers.actor.cpp as a person writes it with co_await.

#include "bench/run.h"
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"

#include <vector>

namespace {

using namespace flow;
using bench::Counted;
using bench::Run;

Future<Void> pause(double seconds, Propagate = {}) {
    co_await delay(seconds);
}

Future<Void> driveTimerCancel(Run* run) {
    DeterministicRandom random(11);
    co_await delay(0);
    while (run->next()) {
        Future<Void> dropped = pause(bench::laterSeconds(random));
        run->expect(!dropped.isReady());
    }
}

Future<Void> driveTimerFire(Run* run) {
    DeterministicRandom random(12);
    while (run->next())
        co_await delay(1e-9 * (1 + random.random01()));
}

Future<Void> driveTimerFlight(Run* run) {
    std::vector<Future<Void>> flight(static_cast<std::size_t>(run->size()));
    std::size_t next = 0;
    double later = 30;
    co_await delay(0);
    for (Future<Void>& each : flight)
        each = pause(later += 1e-6);
    while (run->next()) {
        flight[next] = pause(later += 1e-6);
        next = next + 1 == flight.size() ? 0 : next + 1;
    }
}

Future<Void> driveTimerRandom(Run* run) {
    std::vector<Future<Void>> waiting(static_cast<std::size_t>(run->size()));
    DeterministicRandom random(13);
    double later = 30;
    co_await delay(0);
    for (Future<Void>& each : waiting)
        each = pause(later += 1e-6);
    while (run->next())
        waiting[random.randomInt(0, run->size())] = pause(later += 1e-6);
}

Future<Void> driveTimers(Run* run) {
    while (run->next()) {
        std::vector<Future<Void>> waiting;
        waiting.reserve(run->size());
        for (int i = 1; i <= run->size(); ++i)
            waiting.push_back(pause(1e-9 * i));
        co_await waitForAll(waiting);
    }
}

Future<Void> driveTimersUnordered(Run* run) {
    DeterministicRandom random(14);
    while (run->next()) {
        std::vector<Future<Void>> waiting;
        waiting.reserve(run->size());
        for (int i = 0; i < run->size(); ++i)
            waiting.push_back(pause(1e-9 * (1 + run->size() * random.random01())));
        co_await waitForAll(waiting);
    }
}

const bench::Style style("coroutine",
                         {
                             {"timer_cancel", driveTimerCancel, [] { return bench::bytes(pause(1)); }},
                             {"timer_fire", driveTimerFire},
                             {"timer_flight", driveTimerFlight, [] { return bench::bytes(pause(1)); }},
                             {"timer_random", driveTimerRandom, [] { return bench::bytes(pause(1)); }},
                             {"timers", driveTimers, [] { return bench::bytes(pause(1)); }},
                             {"timers_unordered", driveTimersUnordered, [] { return bench::bytes(pause(1)); }},
                         });

} // namespace
