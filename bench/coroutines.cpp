// The actors of bench/actor_vs_coroutine.actor.cpp as a person writes them with co_await.

#include "bench/run.h"

namespace {

using namespace flow;
using bench::Priorities;
using bench::Run;

Future<Void> driveDelay(Run* const& driven) {
    Run* run = driven; // the reference ends with the call
    while (run->next())
        co_await delay(0);
}

Future<Void> driveYield(Run* const& driven) {
    Run* run = driven;
    while (run->next())
        co_await yield();
}

Future<Void> increment(TaskPriority priority, std::uint32_t* sum) {
    co_await delay(0, priority);
    ++*sum;
}

Future<Void> driveNet2(Run* const& driven) {
    Run* run = driven;
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

Future<Void> follow(Future<Void> signal, std::uint32_t* sum) {
    co_await signal;
    ++*sum;
}

Future<Void> driveCallback(Run* const& driven) {
    Run* run = driven;
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

const bench::Style
    style("coroutine",
          {driveDelay, driveYield, driveNet2, driveCallback,
           [](TaskPriority const& priority, std::uint32_t* const& sum) { return increment(priority, sum); },
           [](Future<Void> const& signal, std::uint32_t* const& sum) { return follow(signal, sum); }});

} // namespace
