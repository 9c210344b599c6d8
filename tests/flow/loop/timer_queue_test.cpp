#include "flow/loop/detail/timer_queue.h"

#include "flow/base/random.h"
#include "flow/core/cell.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <vector>

using namespace flow;
using namespace flow::detail;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

std::vector<Waiter*> expired(TimerQueue& timers, double now) {
    std::vector<Waiter*> fired;
    timers.expire(now, TimerQueue::kNoLimit, [&](Waiter* waiter, TaskPriority) { fired.push_back(waiter); });
    return fired;
}

} // namespace

TEST_CASE("timer queue: by deadline, and equal deadlines in the order of setting") {
    TimerQueue timers;
    Waiter w[6] = {};
    double deadlines[] = {3, 1, 2, 1, 3, 1};
    for (int i = 0; i < 6; ++i)
        timers.park(&w[i], deadlines[i], TaskPriority::Default);
    CHECK_FALSE(timers.isEmpty());
    CHECK(timers.nextDeadline() == 1);
    CHECK(expired(timers, 0.999).empty());
    CHECK(expired(timers, 1) == std::vector<Waiter*>{&w[1], &w[3], &w[5]});
    CHECK(w[1].awaited.isNothing());
    CHECK(expired(timers, 10) == std::vector<Waiter*>{&w[2], &w[0], &w[4]});
    CHECK(timers.isEmpty());
}

TEST_CASE("timer queue: the priority comes back with the waiter") {
    TimerQueue timers;
    Waiter waiter{};
    timers.park(&waiter, 1, TaskPriority::High);
    int calls = 0;
    timers.expire(1, TimerQueue::kNoLimit, [&](Waiter* fired, TaskPriority priority) {
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
    CHECK(timers.nextDeadline() == 2);
    detach(&c);
    CHECK_FALSE(timers.isEmpty());
    CHECK(expired(timers, 5) == std::vector<Waiter*>{&b});
    CHECK(timers.isEmpty());
}

TEST_CASE("timer queue: a cancelled timer leaves nothing behind") {
    flow::test::Blocks blocks;
    DeterministicRandom random(3);
    std::vector<Waiter> waiters(1000);
    TimerQueue timers;
    for (int round = 0; round < 100; ++round) {
        for (Waiter& waiter : waiters)
            timers.park(&waiter, 1 + random.random01() * 1000, TaskPriority::Default);
        REQUIRE(blocks.leaked() == 1000);
        for (int i = 999; i >= 0; --i) {
            detach(&waiters[static_cast<std::size_t>(i)]);
            REQUIRE(timers.isEmpty() == (i == 0));
            REQUIRE(blocks.leaked() == i);
        }
        CHECK(timers.nextDeadline() == kNever);
    }
    CHECK(expired(timers, 2000).empty());
}

TEST_CASE("timer queue: a timer at infinity never fires and does not count") {
    flow::test::Blocks blocks;
    {
        std::vector<Waiter> waiters(100);
        Waiter last{};
        TimerQueue timers;
        for (Waiter& waiter : waiters)
            timers.park(&waiter, kNever, TaskPriority::Default);
        timers.park(&last, 1e300, TaskPriority::Default);
        CHECK_FALSE(timers.isEmpty());
        CHECK(timers.nextDeadline() == 1e300);
        CHECK(expired(timers, 1e300) == std::vector<Waiter*>{&last});
        CHECK(timers.isEmpty());
        CHECK(timers.nextDeadline() == kNever);
        detach(&waiters[7]);
        CHECK(blocks.leaked() == 99);
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("timer queue: any number of equal deadlines fire in the order of setting") {
    for (double deadline : {1.0, 3.7, 1e-300, 123456.789}) {
        std::vector<Waiter> waiters(1000), sooner(100);
        TimerQueue timers;
        std::vector<Waiter*> order;
        for (std::size_t i = 0; i < waiters.size(); ++i) {
            if (i % 10 == 0) // the others must make way for it
                timers.park(&sooner[i / 10], deadline * (0.9 - 0.0001 * static_cast<double>(i)), TaskPriority::Default);
            timers.park(&waiters[i], deadline, TaskPriority::Default);
            order.push_back(&waiters[i]);
        }
        CHECK(expired(timers, deadline * 0.95).size() == 100);
        CHECK(timers.nextDeadline() <= deadline);
        CHECK(expired(timers, deadline) == order);
    }
}

TEST_CASE("timer queue: work beyond a number of steps continues later, in the same order") {
    DeterministicRandom random(5);
    std::vector<Waiter> waiters(20000);
    TimerQueue timers;
    std::multimap<double, Waiter*> model;
    double now = 1000;
    expired(timers, now);
    auto set = [&](Waiter& waiter) {
        double deadline = now + 0.001 * random.randomInt(1, 500);
        timers.park(&waiter, deadline, TaskPriority::Default);
        model.emplace(deadline, &waiter);
    };
    for (std::size_t i = 0; i < 10000; ++i)
        set(waiters[i]);
    std::size_t next = 10000;
    now += 1;
    int calls = 0;
    while (timers.nextDeadline() <= now) {
        ++calls;
        std::size_t fired = 0;
        timers.expire(now, 100, [&](Waiter* waiter, TaskPriority) {
            REQUIRE(waiter == model.begin()->second);
            model.erase(model.begin());
            ++fired;
        });
        REQUIRE(fired <= 100 + 16);
        if (next < waiters.size())
            set(waiters[next++]);
    }
    CHECK(calls <= 10000 * 9 / 100);
    CHECK(timers.isEmpty() == model.empty());
    now += 1;
    std::vector<Waiter*> rest;
    for (auto const& [deadline, waiter] : model)
        rest.push_back(waiter);
    CHECK(expired(timers, now) == rest);
}

TEST_CASE("timer queue: timers that outlive it stay parked, in no queue") {
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

namespace {

/// Sets, cancels and fires at random, beside a model that does the same.
class Comparison {
public:
    Comparison(std::uint32_t seed, int waiters) : random_(seed), waiters_(static_cast<std::size_t>(waiters)) {
        for (Entry& entry : waiters_)
            entry.place = model_.end();
    }

    void step() {
        std::size_t i = pick();
        if (waiters_[i].place != model_.end())
            cancel(waiters_[i]);
        else
            set(waiters_[i]);
        REQUIRE(timers_.isEmpty() == model_.empty());
    }
    void letTimePass() {
        bool toTheNext = random_.randomInt(0, 2) == 0;
        now_ = toTheNext && !model_.empty() ? model_.begin()->first : now_ + distance();
        int steps = random_.randomInt(0, 2) == 0 ? 50 : TimerQueue::kNoLimit;
        do {
            timers_.expire(now_, steps, [this](Waiter* waiter, TaskPriority) {
                REQUIRE_FALSE(model_.empty());
                REQUIRE(waiter == &model_.begin()->second->waiter);
                REQUIRE(model_.begin()->first <= now_);
                model_.begin()->second->place = model_.end();
                model_.erase(model_.begin());
            });
            if (timers_.nextDeadline() <= now_)
                step();
        } while (timers_.nextDeadline() <= now_);
        REQUIRE((model_.empty() || model_.begin()->first > now_));
        REQUIRE((model_.empty() ? timers_.nextDeadline() == kNever : timers_.nextDeadline() <= model_.begin()->first));
    }
    std::size_t pick() { return static_cast<std::size_t>(random_.randomInt(0, static_cast<int>(waiters_.size()))); }

private:
    struct Entry;
    using Model = std::multimap<double, Entry*>; // equal keys stay in the order in which they came
    struct Entry {
        Waiter waiter{};
        Model::iterator place;
    };

    /// Of any size, and often the same.
    double distance() {
        double unit = std::pow(10.0, random_.randomInt(-9, 4));
        return unit * (random_.randomInt(0, 2) == 0 ? random_.randomInt(1, 4) : 1 + random_.random01());
    }
    void set(Entry& entry) {
        double deadline = now_ + distance();
        if (deadline > now_) {
            timers_.park(&entry.waiter, deadline, TaskPriority::Default);
            entry.place = model_.emplace(deadline, &entry);
        }
    }
    void cancel(Entry& entry) {
        detach(&entry.waiter);
        model_.erase(entry.place);
        entry.place = model_.end();
    }

    DeterministicRandom random_;
    Model model_;
    std::vector<Entry> waiters_;
    TimerQueue timers_;
    double now_ = 0;
};

} // namespace

TEST_CASE("timer queue: random steps of 1 to 100000 timers against a sorted map") {
    for (int waiters : {1, 3, 20, 300, 5000, 100000}) {
        CAPTURE(waiters);
        Comparison comparison(static_cast<std::uint32_t>(waiters), waiters);
        int steps = std::max(20000, waiters * 2);
        for (int step = 0; step < steps; ++step) {
            comparison.step();
            if (step % std::max(10, waiters / 8) == 0)
                comparison.letTimePass();
        }
        for (int i = 0; i < 200; ++i)
            comparison.letTimePass();
    }
}
