#include "flow/tasks/keep_running.h"

#include "flow/base/random.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/scope.h"
#include "flow/trace/sink.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace keep_running_test { // its helpers have the names of those of other tests
namespace {
using namespace flow;

KeepPolicy const kPlain{
    .retry = {.attempts = 4, .backoff = 1, .factor = 2, .longest = 8, .jitter = 0}, .within = 1000, .healthy = 1000};

Future<Void> failsAfter(double seconds, Error error) {
    co_await delay(seconds);
    throw error;
}

/// The times at which runs began.
using Times = std::vector<double>;

template <class T>
Error errorOf(SimLoop& loop, Future<T> const& failed) {
    try {
        loop.run(failed);
    } catch (Error& error) {
        return error;
    }
    return Error();
}

TEST_CASE("keepRunning: again after waits that grow, then the last error") {
    SimLoop loop;
    test::Balance balance;
    TraceMemory trace;
    {
        Times times;
        Future<Void> kept = keepRunning(kPlain, "reader", [&] {
            times.push_back(now());
            return failsAfter(10, times.size() < 4 ? io_error() : timed_out());
        });
        CHECK(errorOf(loop, kept) == timed_out());
        CHECK(times == Times{0, 11, 23, 37});
    }
    CHECK(trace.lines().size() == 4);
    CHECK(trace.lines()[2].find(R"("Severity":20,"Type":"KeptChildEnded","Name":"reader")") != std::string::npos);
    CHECK(trace.lines()[2].find("io_error") != std::string::npos);
    CHECK(trace.lines()[2].find(R"("Wait":4)") != std::string::npos);
    CHECK(trace.lines()[3].find(R"("Severity":40)") != std::string::npos);
    CHECK(trace.lines()[3].find("timed_out") != std::string::npos);
    trace.clear();
}

TEST_CASE("keepRunning: a healthy run makes the next wait short, and old ends do not count") {
    SimLoop loop;
    test::Balance balance;
    KeepPolicy policy = kPlain;
    policy.healthy = 5;
    policy.within = 20;
    policy.retry.attempts = 5;
    Times times;
    Future<Void> kept = keepRunning(policy, "reader", [&] {
        times.push_back(now());
        return failsAfter(times.size() % 3 == 0 ? 20 : 1, io_error());
    });
    loop.run(delay(200));
    CHECK_FALSE(kept.isReady());
    CHECK(times.size() > 20);
    CHECK(std::vector(times.begin(), times.begin() + 5) == Times{0, 2, 5, 26, 29});
}

TEST_CASE("keepRunning: a child that ends without an error runs again, too") {
    SimLoop loop;
    test::Balance balance;
    int runs = 0;
    Future<Void> kept = keepRunning(kPlain, "ends", [&] {
        ++runs;
        return Future<Void>(delay(1));
    });
    CHECK(errorOf(loop, kept) == operation_failed());
    CHECK(runs == 4);
}

TEST_CASE("keepRunning: what the function throws, and errors after which no run follows") {
    SimLoop loop;
    test::Balance balance;
    int runs = 0;
    KeepPolicy policy = kPlain;
    policy.retry.retries = [](Error error) { return error != io_error(); };
    auto kept = [&](Error last) {
        runs = 0;
        return keepRunning(policy, "throws", [&runs, last]() -> Future<Void> {
            if (++runs == 1)
                throw std::runtime_error("not yet");
            throw Error(last);
        });
    };
    CHECK(errorOf(loop, kept(io_error())) == io_error());
    CHECK(runs == 2);
    CHECK(errorOf(loop, kept(actor_cancelled())) == actor_cancelled());
    CHECK(runs == 2);
    CHECK(errorOf(loop, kept(timed_out())) == timed_out());
    CHECK(runs == 4);
}

TEST_CASE("keepRunning: dropped, it ends the child, or the wait for the next run") {
    SimLoop loop;
    test::Balance balance;
    Promise<Void> promise;
    Future<Void> kept = keepRunning(kPlain, "waits", [&] { return promise.getFuture(); });
    CHECK(promise.getFutureReferenceCount() == 1);
    kept = {};
    CHECK(promise.getFutureReferenceCount() == 0);
    kept = keepRunning(kPlain, "waits", [] { return Future<Void>(timed_out()); });
    loop.run(delay(0.5));
    CHECK(loop.hasWork());
    kept = {};
    CHECK_FALSE(loop.hasWork());
}

/// A child that fails in its run number i at its step i, until it has done all of its steps.
struct Fails {
    static constexpr int kSteps = 5;
    int runs = 0;
    int alive = 0;
    bool healthy = false;

    Future<Void> run() {
        struct Alive {
            explicit Alive(Fails* f) : fails(f) { CHECK(++fails->alive == 1); }
            ~Alive() { --fails->alive; }
            Fails* fails;
        };
        return [](Fails* self, int failsAt) -> Future<Void> {
            Alive alive(self);
            self->healthy = false;
            for (int step = 0; step < kSteps; ++step) {
                if (step == failsAt)
                    throw io_error();
                co_await delay(deterministicRandom()->random01());
            }
            self->healthy = true;
            co_await Never();
        }(this, runs++);
    }
};

TEST_CASE("keepRunning: every child fails at every step") {
    for (Restart restart : {Restart::OneForOne, Restart::OneForAll}) {
        for (std::uint32_t seed = 1; seed <= 10; ++seed) {
            CAPTURE(seed);
            SimLoop loop;
            setThreadLocalDeterministicRandomSeed(seed);
            test::Balance balance;
            std::vector<Fails> all(7);
            std::vector<KeptChild> children;
            for (Fails& each : all)
                children.push_back({"child", [&each] { return each.run(); }});
            KeepPolicy policy{.retry = {.attempts = 1000}};
            Future<Void> kept = keepRunning(policy, std::move(children), restart);
            loop.run(delay(1000));
            CHECK_FALSE(kept.isReady());
            for (Fails const& each : all) {
                CHECK(each.healthy);
                CHECK(each.alive == 1);
                if (restart == Restart::OneForOne)
                    CHECK(each.runs == Fails::kSteps + 1);
                else
                    CHECK(each.runs == all.front().runs);
            }
            kept = {};
            for (Fails const& each : all)
                CHECK(each.alive == 0);
            CHECK_FALSE(loop.hasWork());
        }
    }
}

TEST_CASE("keepRunning: one for one leaves the others alone, until one fails for good") {
    SimLoop loop;
    test::Balance balance;
    int good = 0;
    int bad = 0;
    Scope scope;
    scope.spawn(keepRunning(kPlain,
                            {{"good", [&good] { return ++good, Future<Void>(Never()); }},
                             {"bad", [&bad] { return ++bad, failsAfter(1, io_error()); }}},
                            Restart::OneForOne));
    scope.spawn(Future<Void>(Never()));
    loop.run(delay(10.5));
    CHECK(good == 1);
    CHECK(bad == 4);
    CHECK(errorOf(loop, keep(scope.join())) == io_error()); // cancels the other child of the scope
    CHECK_FALSE(loop.hasWork());
}

TEST_CASE("keepRunning: a child that is cancelled ends its group, however the group is kept") {
    for (Restart restart : {Restart::OneForOne, Restart::OneForAll}) {
        SimLoop loop;
        test::Balance balance;
        Future<Void> kept = keepRunning(kPlain,
                                        {{"good", [] { return Future<Void>(Never()); }},
                                         {"cancelled", [] { return failsAfter(1, actor_cancelled()); }}},
                                        restart);
        CHECK(errorOf(loop, kept) == actor_cancelled());
        CHECK(loop.now() == 1);
        CHECK_FALSE(loop.hasWork());
    }
}

TEST_CASE("keepRunning: one for all") {
    SimLoop loop;
    test::Balance balance;
    TraceMemory trace;
    std::string text;
    struct Says {
        std::string& text;
        ~Says() { text += "-"; }
    };
    auto child = [&](const char* name, double seconds) {
        return KeptChild{name, [name, seconds, &text]() -> Future<Void> {
                             text += name;
                             Says says{text};
                             co_await delay(seconds);
                             throw timed_out();
                         }};
    };
    Future<Void> kept = keepRunning(kPlain, {child("a", 9), child("b", 1), child("c", 9)}, Restart::OneForAll);
    CHECK(errorOf(loop, kept) == timed_out());
    CHECK(text == "abc---abc---abc---abc---");
    CHECK(loop.now() == 4 + 1 + 2 + 4);
    CHECK(trace.lines()[0].find(R"("Name":"b")") != std::string::npos);
    loop.run(keepRunning(kPlain, std::vector<KeptChild>()));
    trace.clear();
}

TEST_CASE("keepRunning: a policy without sense") {
    auto never = [] { return Future<Void>(Never()); };
    CHECK_DIES((void)keepRunning({.retry = {.attempts = 0}}, "a", never), "retry.attempts must be at least 1");
    CHECK_DIES((void)keepRunning({.retry = {.backoff = -1}}, "a", never),
               "RetryPolicy: backoff is -1; it must not be negative");
    CHECK_DIES((void)keepRunning({.within = -1}, "a", never), "`within` must not be negative");
    CHECK_DIES((void)keepRunning({.healthy = -1}, "a", never), "`healthy` must not be negative");
    CHECK_DIES((void)keepRunning({}, "a", nullptr), "has no function");
    CHECK_NAMES_CALLER((void)keepRunning({.within = -1}, "a", never));
}

TEST_CASE("keepRunning can be cancelled at each step") {
    for (Restart restart : {Restart::OneForOne, Restart::OneForAll})
        test::cancelEverywhere("keepRunning",
                               [restart](test::Inputs& in) {
                                   KeepPolicy policy = kPlain;
                                   policy.retry.attempts = 2;
                                   policy.retry.backoff = 0.01;
                                   return keepRunning(policy,
                                                      {{"a", [&in, sentinel = in.sentinel()] { return in.event(0); }},
                                                       {"b", [&in, sentinel = in.sentinel()] { return in.event(1); }}},
                                                      restart);
                               },
                               {.hasHandlers = true}); // join() throws
}

} // namespace
} // namespace keep_running_test
