// bench/actors/several.actor.cpp as a person writes it with co_await. Propagate as in tasks.cpp.

#include "bench/run.h"
#include "flow/combine/race.h"
#include "flow/compat/collection.h"
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"

#include <vector>

namespace {

using namespace flow;
using bench::Counted;
using bench::Run;

Future<int> firstOf(Future<Void> a, Future<Void> b, Future<Void> c, Propagate = {}) {
    auto first = co_await race(a, b, c);
    co_return static_cast<int>(first.index());
}

Future<Void> driveRaceReady(Run* run) {
    Promise<Void> never;
    Future<Void> ready = Void();
    Future<Void> b = never.getFuture();
    Future<Void> c = never.getFuture();
    int sum = 0;
    while (run->next()) {
        auto first = co_await race(ready, b, c);
        sum = first.index() == 0 ? sum + 1 : -1;
    }
    run->expect(sum > 0);
}

Future<Void> driveRace(Run* run, bool isFirst) {
    Promise<Void> never;
    Promise<Void> never2;
    co_await delay(0);
    while (run->next()) {
        Promise<Void> sent;
        Future<int> winner = isFirst ? firstOf(sent.getFuture(), never.getFuture(), never2.getFuture())
                                     : firstOf(never.getFuture(), never2.getFuture(), sent.getFuture());
        sent.send(Void());
        run->expect(winner.get() == (isFirst ? 0 : 2));
    }
}

Future<Void> driveQuorum(Run* run) {
    std::vector<Promise<Void>> promises;
    std::vector<Future<Void>> futures;
    co_await delay(0);
    while (run->next()) {
        promises = std::vector<Promise<Void>>(run->size());
        futures.clear();
        for (Promise<Void>& promise : promises)
            futures.push_back(promise.getFuture());
        Future<Void> most = quorum(futures, run->size() / 2 + 1);
        for (Promise<Void>& promise : promises)
            promise.send(Void());
        run->expect(most.isReady());
    }
}

Future<Void> follow(Future<Void> signal, Propagate = {}) {
    co_await signal;
}

Future<Void> driveCollection(Run* run) {
    ActorCollection actors(true);
    while (run->next()) {
        Promise<Void> signal;
        for (int i = 0; i < run->size(); ++i)
            actors.add(follow(signal.getFuture()));
        signal.send(Void());
        co_await actors.getResult();
        actors.clear(true);
    }
}

const bench::Style style("coroutine", {
                                          {"race_ready", driveRaceReady},
                                          {"race_first", [](Run* run) { return driveRace(run, true); },
                                           [] { return bench::bytes(firstOf(Never(), Never(), Never())); }},
                                          {"race_last", [](Run* run) { return driveRace(run, false); },
                                           [] { return bench::bytes(firstOf(Never(), Never(), Never())); }},
                                          {"quorum", driveQuorum, [] { return std::size_t{0}; }},
                                          {"collection", driveCollection,
                                           [] { return bench::bytes(follow(Promise<Void>().getFuture())); }},
                                      });

} // namespace
