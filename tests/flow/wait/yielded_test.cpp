#include "flow/wait/yielded.h"

#include "flow/base/random.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::test;

namespace {

/// Decides when to yield, and what ends the pause.
struct Rules {
    static inline int left;
    static inline Promise<Void>* pause;
    static constexpr YieldRules kRules{[] { return left <= 0 || --left == 0; }, [] { return pause->getFuture(); }};

    Rules() {
        left = 0;
        pause = &ofPause;
        yieldRules = &kRules;
    }
    ~Rules() { yieldRules = nullptr; }
    void tick() {
        Promise<Void> ended;
        ended.swap(ofPause);
        ended.send(Void());
    }
    Promise<Void> ofPause;
};

std::vector<Future<Void>> several(int count, Future<Void> what) {
    std::vector<Future<Void>> futures;
    for (int i = 0; i < count; ++i)
        futures.push_back(yieldedFuture(what));
    return futures;
}
long readyOf(std::vector<Future<Void>> const& futures) {
    return std::count_if(futures.begin(), futures.end(), [](auto const& f) { return f.isValid() && f.isReady(); });
}

} // namespace

TEST_CASE("yieldedFuture: runs after all others, in order of registration") {
    test::Balance balance;
    TraceLog log;
    Promise<Void> p;
    auto follow = [&](std::string name, Future<Void> future) -> Future<Void> {
        std::string mine = name;
        co_await future;
        log.say(mine);
    };
    Future<Void> a = follow("a", yieldedFuture(p.getFuture()));
    Future<Void> b = follow("b", p.getFuture());
    Future<Void> c = follow("c", yieldedFuture(p.getFuture()));
    Future<Void> d = follow("d", p.getFuture());
    p.send(Void()); // there is no loop: nothing is delayed
    CHECK(log.take() == "d b a c");
    CHECK(yieldedFuture(Void()).isReady());
    CHECK(yieldedFuture(timed_out()).getError() == timed_out());
    CHECK_FALSE(yieldedFuture(Never()).isReady());
}

TEST_CASE("yieldedFuture: gives way to more urgent work, and then resumes in the loop") {
    test::Balance balance;
    SimLoop loop;
    Promise<Void> p;
    std::vector<Future<Void>> futures = several(300, p.getFuture());
    Future<Void> urgent = delay(0, TaskPriority::Max);
    p.send(Void());
    CHECK(readyOf(futures) == 0);
    loop.run(urgent);
    CHECK(readyOf(futures) == 0);
    loop.run();
    CHECK(readyOf(futures) == 300);
    Promise<Void> q;
    futures = several(300, q.getFuture());
    q.send(Void());
    CHECK(readyOf(futures) > 0);
    CHECK(readyOf(futures) < 300);
    loop.run();
    CHECK(readyOf(futures) == 300);
}

TEST_CASE("yieldedFuture: one each turn if every check says yield, errors included") {
    test::Balance balance;
    for (Error error : {Error(), timed_out()}) {
        Rules rules;
        Promise<Void> p;
        std::vector<Future<Void>> futures = several(5, p.getFuture());
        error.isValid() ? p.sendError(error) : p.send(Void());
        for (int i = 0; i < 5; ++i) {
            CHECK(readyOf(futures) == i);
            rules.tick();
        }
        CHECK(readyOf(futures) == 5);
        for (Future<Void> const& future : futures)
            CHECK(future.isError() == error.isValid());
    }
}

TEST_CASE("yieldedFuture: as many as the checks allow, whatever they say, and cancels at any time") {
    test::Balance balance;
    DeterministicRandom random(1);
    for (int round = 0; round < 300; ++round) {
        Rules rules;
        Promise<Void> p;
        int count = random.randomInt(1, 12);
        std::vector<Future<Void>> futures = several(count, p.getFuture());
        auto dropSome = [&] {
            if (random.randomInt(0, 2) == 0)
                futures[static_cast<std::size_t>(random.randomInt(0, count))] = Future<Void>();
        };
        dropSome();
        Rules::left = random.randomInt(1, 6);
        auto alive = [&] { return std::count_if(futures.begin(), futures.end(), [](auto& f) { return f.isValid(); }); };
        long expected = std::min<long>(alive(), Rules::left - 1);
        p.send(Void());
        CHECK(readyOf(futures) == expected);
        for (int turn = 0; readyOf(futures) < alive(); ++turn) {
            REQUIRE(turn <= count);
            dropSome();
            long before = readyOf(futures);
            Rules::left = random.randomInt(1, 6);
            expected = std::min<long>(alive(), before + Rules::left);
            rules.tick();
            CHECK(readyOf(futures) == expected);
        }
    }
}

TEST_CASE("yieldedFuture: an explicit cancel, before and after it was put off") {
    test::Balance balance;
    Rules rules;
    Promise<Void> p;
    std::vector<Future<Void>> futures = several(3, p.getFuture());
    futures[0].cancel();
    CHECK(futures[0].getError() == actor_cancelled());
    p.send(Void());
    futures[1].cancel();
    CHECK(futures[1].getError() == actor_cancelled());
    rules.tick();
    CHECK(futures[2].canGet());
}
