// The actors of DELAY, YIELD, NET2 and callback. actorc compiles this file twice, into state machines and into
// coroutines, and both are linked into one process; bench/coroutines.cpp is the same written by hand.

#include "bench/run.h"

#include <cstring>

#include "flow/actorcompiler.h" // must be the last include

#define MILLRACE_TEXT(name) #name
#define MILLRACE_NAME(name) MILLRACE_TEXT(name)

namespace MILLRACE_BACKEND_NAMESPACE {

using namespace flow;
using bench::Priorities;
using bench::Run;

ACTOR Future<Void> driveDelay(Run* run) {
    while (run->next()) {
        wait(delay(0));
    }
    return Void();
}

ACTOR Future<Void> driveYield(Run* run) {
    while (run->next()) {
        wait(yield());
    }
    return Void();
}

ACTOR Future<Void> increment(TaskPriority priority, std::uint32_t* sum) {
    wait(delay(0, priority));
    ++*sum;
    return Void();
}

ACTOR Future<Void> driveNet2(Run* run) {
    state std::uint32_t sum = 0;
    state std::vector<Future<Void>> futures;
    while (run->next()) {
        sum = 0;
        futures = std::vector<Future<Void>>();
        futures.reserve(run->size());
        Priorities priorities;
        for (int i = 0; i < run->size(); ++i) {
            futures.push_back(increment(priorities.next(), &sum));
        }
        wait(waitForAll(futures));
        futures = std::vector<Future<Void>>();
        run->expect(sum == static_cast<std::uint32_t>(run->size()));
    }
    return Void();
}

ACTOR Future<Void> follow(Future<Void> signal, std::uint32_t* sum) {
    wait(signal);
    ++*sum;
    return Void();
}

ACTOR Future<Void> driveCallback(Run* run) {
    state std::uint32_t sum = 0;
    state std::vector<Future<Void>> futures;
    while (run->next()) {
        sum = 0;
        futures = std::vector<Future<Void>>();
        futures.reserve(run->size());
        Promise<Void> signal;
        for (int i = 0; i < run->size(); ++i) {
            futures.push_back(follow(signal.getFuture(), &sum));
        }
        signal.send(Void());
        wait(waitForAll(futures));
        futures = std::vector<Future<Void>>();
        run->expect(sum == static_cast<std::uint32_t>(run->size()));
    }
    return Void();
}

static bench::Style style(std::strcmp(MILLRACE_NAME(MILLRACE_BACKEND_NAMESPACE), "state_machine") == 0
                              ? "actor"
                              : "actorc-coroutine",
                          {[](Run* const& run) { return driveDelay(run); },
                           [](Run* const& run) { return driveYield(run); },
                           [](Run* const& run) { return driveNet2(run); },
                           [](Run* const& run) { return driveCallback(run); },
                           [](TaskPriority const& priority, std::uint32_t* const& sum) { return increment(priority, sum); },
                           [](Future<Void> const& signal, std::uint32_t* const& sum) { return follow(signal, sum); }});

} // namespace MILLRACE_BACKEND_NAMESPACE
