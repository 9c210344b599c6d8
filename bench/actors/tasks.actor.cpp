// Waiting on the loop. actorc compiles the files of this folder twice, into state machines and into coroutines, and both
// are linked into one process; bench/coroutines/ has the same by hand.

#include "bench/run.h"
#include "flow/flow.h"

#include "flow/actorcompiler.h" // must be the last include

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

ACTOR Future<Void> driveWaiting(Run* run) {
    state std::uint32_t sum = 0;
    state std::vector<Future<Void>> waiting(run->size());
    wait(delay(0));
    while (run->next()) {
        Promise<Void> signal;
        for (Future<Void>& one : waiting) {
            one = follow(signal.getFuture(), &sum);
        }
        run->allWait();
        signal.send(Void());
    }
    return Void();
}

static const bench::Style style(
    bench::styleOf(MILLRACE_NAME(MILLRACE_BACKEND_NAMESPACE)),
    {
        {"DELAY", driveDelay},
        {"YIELD", driveYield},
        {"NET2", driveNet2, [] { return bench::bytes(increment(TaskPriority::Default, nullptr)); }},
        {"callback", driveCallback, [] { return bench::bytes(follow(Promise<Void>().getFuture(), nullptr)); }},
        {"waiting", driveWaiting, [] { return bench::bytes(follow(Promise<Void>().getFuture(), nullptr)); }},
    });

} // namespace MILLRACE_BACKEND_NAMESPACE
