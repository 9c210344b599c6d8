// Several futures at once: choose, quorum, collections.

#include "bench/run.h"
#include "flow/compat/collection.h"
#include "flow/flow.h"

#include "flow/actorcompiler.h" // must be the last include

namespace MILLRACE_BACKEND_NAMESPACE {

using namespace flow;
using bench::Counted;
using bench::Run;

ACTOR Future<int> firstOf(Future<Void> a, Future<Void> b, Future<Void> c) {
    choose {
        when(wait(a)) { return 0; }
        when(wait(b)) { return 1; }
        when(wait(c)) { return 2; }
    }
}

ACTOR Future<Void> driveRaceReady(Run* run) {
    state Promise<Void> never;
    state Future<Void> ready = Void();
    state Future<Void> b = never.getFuture();
    state Future<Void> c = never.getFuture();
    state int sum = 0;
    while (run->next()) {
        choose {
            when(wait(ready)) { ++sum; }
            when(wait(b)) { sum = -1; }
            when(wait(c)) { sum = -1; }
        }
    }
    run->expect(sum > 0);
    return Void();
}

ACTOR Future<Void> driveRace(Run* run, bool isFirst) {
    state Promise<Void> never;
    state Promise<Void> never2;
    wait(delay(0));
    while (run->next()) {
        Promise<Void> sent;
        Future<int> winner = isFirst ? firstOf(sent.getFuture(), never.getFuture(), never2.getFuture())
                                     : firstOf(never.getFuture(), never2.getFuture(), sent.getFuture());
        sent.send(Void());
        run->expect(winner.get() == (isFirst ? 0 : 2));
    }
    return Void();
}

ACTOR Future<Void> driveQuorum(Run* run) {
    state std::vector<Promise<Void>> promises;
    state std::vector<Future<Void>> futures;
    wait(delay(0));
    while (run->next()) {
        promises = std::vector<Promise<Void>>(run->size());
        futures.clear();
        for (Promise<Void>& promise : promises) {
            futures.push_back(promise.getFuture());
        }
        Future<Void> most = quorum(futures, run->size() / 2 + 1);
        for (Promise<Void>& promise : promises) {
            promise.send(Void());
        }
        run->expect(most.isReady());
    }
    return Void();
}

ACTOR Future<Void> follow(Future<Void> signal) {
    wait(signal);
    return Void();
}

ACTOR Future<Void> driveCollection(Run* run) {
    state ActorCollection actors(true);
    while (run->next()) {
        state Promise<Void> signal;
        for (int i = 0; i < run->size(); ++i) {
            actors.add(follow(signal.getFuture()));
        }
        signal.send(Void());
        wait(actors.getResult());
        actors.clear(true);
    }
    return Void();
}

static const bench::Style style(bench::styleOf(MILLRACE_NAME(MILLRACE_BACKEND_NAMESPACE)),
                                {
                                    {"race_ready", driveRaceReady},
                                    {"race_first", [](Run* run) { return driveRace(run, true); }, [] { return bench::bytes(firstOf(Never(), Never(), Never())); }},
                                    {"race_last", [](Run* run) { return driveRace(run, false); }, [] { return bench::bytes(firstOf(Never(), Never(), Never())); }},
                                    {"quorum", driveQuorum, [] { return std::size_t{0}; }},
                                    {"collection", driveCollection, [] { return bench::bytes(follow(Promise<Void>().getFuture())); }},
                                });

} // namespace MILLRACE_BACKEND_NAMESPACE
