#include "flow/loop/timer_queue.h"

#include "flow/base/random.h"
#include "flow/core/cell.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <vector>

using namespace flow;
using namespace flow::detail;

namespace {

std::vector<Waiter*> expired(TimerQueue& timers, double now) {
    std::vector<Waiter*> fired;
    timers.expire(now, [&](Waiter* waiter, TaskPriority) { fired.push_back(waiter); });
    return fired;
}

} // namespace

TEST_CASE("timer queue: by deadline, and equal deadlines in the order of setting") {
    TimerQueue timers;
    Waiter w[6] = {};
    double deadlines[] = {3, 1, 2, 1, 3, 1};
    for (int i = 0; i < 6; ++i)
        timers.park(&w[i], deadlines[i], TaskPriority::Default);
    CHECK(timers.size() == 6);
    CHECK(timers.nextDeadline() == 1);
    CHECK(expired(timers, 0.999).empty());
    CHECK(expired(timers, 1) == std::vector<Waiter*>{&w[1], &w[3], &w[5]});
    CHECK(w[1].awaited.isNothing());
    CHECK(expired(timers, 10) == std::vector<Waiter*>{&w[2], &w[0], &w[4]});
    CHECK(timers.isEmpty());
    CHECK(timers.size() == 0);
}

TEST_CASE("timer queue: the priority comes back with the waiter") {
    TimerQueue timers;
    Waiter waiter{};
    timers.park(&waiter, 1, TaskPriority::High);
    int calls = 0;
    timers.expire(1, [&](Waiter* fired, TaskPriority priority) {
        ++calls;
        CHECK(fired == &waiter);
        CHECK(priority == TaskPriority::High);
    });
    CHECK(calls == 1);
}

TEST_CASE("timer queue: cancelled timers do not count and do not fire") {
    TimerQueue timers;
    Waiter a{}, b{}, c{};
    timers.park(&a, 1, TaskPriority::Default);
    timers.park(&b, 2, TaskPriority::Default);
    timers.park(&c, 3, TaskPriority::Default);
    detach(&a);
    CHECK(a.awaited.isNothing());
    CHECK(timers.size() == 2);
    CHECK(timers.nextDeadline() == 2);
    detach(&c);
    CHECK(timers.size() == 1);
    CHECK(expired(timers, 5) == std::vector<Waiter*>{&b});
    CHECK(timers.isEmpty());
}

TEST_CASE("timer queue: cancelled timers are compacted when they outnumber the others") {
    flow::test::Blocks blocks;
    {
        std::vector<Waiter> waiters(1000);
        TimerQueue timers;
        for (int i = 0; i < 1000; ++i)
            timers.park(&waiters[i], 1000 - i, TaskPriority::Default);
        CHECK(blocks.leaked() == 1000);
        for (int i = 0; i < 900; ++i)
            detach(&waiters[i]);
        CHECK(timers.size() == 100);
        CHECK(blocks.leaked() == 1000);
        timers.park(&waiters[0], 0.5, TaskPriority::Default);
        CHECK(timers.size() == 101);
        CHECK(blocks.leaked() == 101);
        std::vector<Waiter*> fired = expired(timers, 2000);
        REQUIRE(fired.size() == 101);
        CHECK(fired[0] == &waiters[0]);
        for (int i = 1; i <= 100; ++i)
            CHECK(fired[i] == &waiters[1000 - i]);
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("timer queue: one timer set and cancelled for ever takes no more than a few slots") {
    flow::test::Blocks blocks;
    TimerQueue timers;
    Waiter waiter{};
    for (int i = 0; i < 10000; ++i) {
        timers.park(&waiter, 1e6, TaskPriority::Default);
        detach(&waiter);
        REQUIRE(blocks.leaked() < 200);
    }
    CHECK(timers.size() == 0);
    CHECK(timers.isEmpty());
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("timer queue: who is parked when it dies stays parked, nowhere") {
    flow::test::Blocks blocks;
    auto timers = std::make_unique<TimerQueue>();
    Waiter waiter{}, cancelled{};
    timers->park(&waiter, 1, TaskPriority::Default);
    timers->park(&cancelled, 1, TaskPriority::Default);
    detach(&cancelled);
    timers.reset();
    CHECK(blocks.leaked() == 0);
    CHECK(waiter.link.isEmpty());
    CHECK(waiter.awaited.isNothing());
    CHECK_FALSE(cancelled.link.isLinked());
    detach(&waiter);
    CHECK_FALSE(waiter.link.isLinked());
}

TEST_CASE("timer queue: 100000 random steps against a sorted map") {
    DeterministicRandom random(7);
    std::vector<Waiter> waiters(2000);
    TimerQueue timers;
    std::map<std::pair<double, int>, int> model; // (deadline, sequence) -> waiter
    std::vector<std::pair<double, int>> keys(waiters.size());
    std::vector<bool> parked(waiters.size());
    double now = 0;
    for (int step = 0; step < 100000; ++step) {
        int i = random.randomInt(0, static_cast<int>(waiters.size()));
        if (random.randomInt(0, 50) == 0) {
            now += random.random01() * 3;
            for (Waiter* fired : expired(timers, now)) {
                REQUIRE_FALSE(model.empty());
                REQUIRE(fired == &waiters[model.begin()->second]);
                REQUIRE(model.begin()->first.first <= now);
                parked[model.begin()->second] = false;
                model.erase(model.begin());
            }
            REQUIRE((model.empty() || model.begin()->first.first > now));
        } else if (parked[i]) {
            detach(&waiters[i]);
            model.erase(keys[i]);
            parked[i] = false;
        } else {
            keys[i] = {now + random.randomInt(1, 200) * 0.25, step};
            timers.park(&waiters[i], keys[i].first, TaskPriority::Default);
            model[keys[i]] = i;
            parked[i] = true;
        }
        REQUIRE(timers.size() == model.size());
        if (!model.empty())
            REQUIRE(timers.nextDeadline() == model.begin()->first.first);
    }
}
