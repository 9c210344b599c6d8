// bench/actors/tasks.actor.cpp as a person writes it with co_await. Propagate says of a coroutine what actorc sees of
// an actor: that there is no handler around its waits.

#include "bench/run.h"
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"

#include <vector>

namespace {

using namespace flow;
using bench::Priorities;
using bench::Run;

Future<Void> driveDelay(Run* run) {
    while (run->next())
        co_await delay(0);
}

Future<Void> driveYield(Run* run) {
    while (run->next())
        co_await yield();
}

Future<Void> increment(TaskPriority priority, std::uint32_t* sum, Propagate = {}) {
    co_await delay(0, priority);
    ++*sum;
}

Future<Void> driveNet2(Run* run) {
    while (run->next()) {
        std::uint32_t sum = 0;
        std::vector<Future<Void>> futures;
        futures.reserve(run->size());
        Priorities priorities;
        for (int i = 0; i < run->size(); ++i)
            futures.push_back(increment(priorities.next(), &sum));
        co_await waitForAll(futures);
        futures = {};
        run->expect(sum == static_cast<std::uint32_t>(run->size()));
    }
}

Future<Void> follow(Future<Void> signal, std::uint32_t* sum, Propagate = {}) {
    co_await signal;
    ++*sum;
}

Future<Void> driveCallback(Run* run) {
    while (run->next()) {
        std::uint32_t sum = 0;
        std::vector<Future<Void>> futures;
        futures.reserve(run->size());
        Promise<Void> signal;
        for (int i = 0; i < run->size(); ++i)
            futures.push_back(follow(signal.getFuture(), &sum));
        signal.send(Void());
        co_await waitForAll(futures);
        futures = {};
        run->expect(sum == static_cast<std::uint32_t>(run->size()));
    }
}

Future<Void> driveWaiting(Run* run) {
    std::uint32_t sum = 0;
    std::vector<Future<Void>> waiting(run->size());
    co_await delay(0);
    while (run->next()) {
        Promise<Void> signal;
        for (Future<Void>& one : waiting)
            one = follow(signal.getFuture(), &sum);
        run->allWait();
        signal.send(Void());
    }
}

const bench::Style
    style("coroutine",
          {
              {"DELAY", driveDelay},
              {"YIELD", driveYield},
              {"NET2", driveNet2, [] { return bench::bytes(increment(TaskPriority::Default, nullptr)); }},
              {"callback", driveCallback, [] { return bench::bytes(follow(Promise<Void>().getFuture(), nullptr)); }},
              {"waiting", driveWaiting, [] { return bench::bytes(follow(Promise<Void>().getFuture(), nullptr)); }},
          });

} // namespace
