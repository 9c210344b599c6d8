#include "flow/loop/step_watch.h"

#include "flow/base/random.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "flow/wait/yielded.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

using namespace flow;

namespace {

struct Watcher final : StepWatch {
    std::string seen;
    std::vector<WaiterNode*> ready;
    int sleepsSeen = 0;

    void woken(WaiterNode* waiter, TaskPriority, WokenBy by) noexcept override {
        seen += "TtPN"[static_cast<int>(by)];
        ready.push_back(waiter);
    }
    void begins(WaiterNode* step, TaskPriority) noexcept override {
        CHECK(std::erase(ready, step) == 1); // what runs was reported, once
        seen += '(';
    }
    void ended() noexcept override { seen += ')'; }
    void sleeps() noexcept override { ++sleepsSeen; }
};

Future<Void> step(TaskPriority priority) {
    co_await delay(0, priority);
}

} // namespace

TEST_CASE("step watch: sees what makes steps ready, and each step") {
    SimLoop loop;
    Watcher watch;
    loop.add(watch);
    auto twoSteps = []() -> Future<Void> {
        co_await delay(0);
        Future<Void> other = step(TaskPriority::DefaultYield);
        co_await delay(1);
        co_await other;
    };
    loop.run(twoSteps());
    CHECK(watch.seen == "N()T()t()");
    loop.remove(watch);
    std::string before = watch.seen;
    loop.run(twoSteps());
    CHECK(watch.seen == before);
}

TEST_CASE("step watch: sees posts of other threads and sleeps") {
    RealLoop loop;
    Watcher watch;
    loop.add(watch);
    {
        WorkGuard guard(loop);
        std::thread other([&] { loop.post([&] { loop.stop(); }); });
        loop.run();
        other.join();
    }
    CHECK(watch.seen == "P()");
    loop.run(delay(0.001));
    CHECK(watch.sleepsSeen >= 1);
    loop.remove(watch);
}

TEST_CASE("step watch: a step adds one and removes one, and runs the loop itself") {
    RealLoop loop;
    Watcher first, second;
    loop.add(first);
    auto call = [&]() -> Future<Void> {
        co_await delay(0);
        loop.add(second);
        loop.run(step(TaskPriority::Default));
        loop.remove(first);
        loop.run(step(TaskPriority::Default));
        loop.remove(second);
        loop.run(step(TaskPriority::Default));
    };
    loop.run(call());
    CHECK(first.seen.substr(0, 5) == "N(T()");
    CHECK(second.seen.substr(0, 3) == "T()");
    loop.run(step(TaskPriority::Default));
}

TEST_CASE("step watch: a loop runs in the same order with and without one") {
    auto run = [](std::uint64_t seed, bool isWatched) {
        SimLoop loop;
        Watcher watch;
        if (isWatched)
            loop.add(watch);
        DeterministicRandom random(seed);
        std::string order;
        auto actor = [](DeterministicRandom* dice, std::string* log, char name) -> Future<Void> {
            for (int i = 0; i < 20; ++i) {
                auto priority = static_cast<TaskPriority>(7000 + dice->randomInt(0, 4) * 500);
                switch (dice->randomInt(0, 4)) {
                case 0:
                    co_await delay(dice->randomInt(0, 3), priority);
                    break;
                case 1:
                    co_await yield(priority);
                    break;
                case 2:
                    (void)co_await race(delay(0, priority), delay(1));
                    break;
                default:
                    co_await delay(0, priority);
                }
                *log += name;
            }
        };
        std::vector<Future<Void>> running;
        for (char name = 'a'; name < 'k'; ++name)
            running.push_back(actor(&random, &order, name));
        auto cancel = [](std::vector<Future<Void>>* all, DeterministicRandom* dice) -> Future<Void> {
            for (int i = 0; i < 5; ++i) {
                co_await delay(1, TaskPriority::Max);
                (*all)[static_cast<std::size_t>(dice->randomInt(0, 10))] = Future<Void>();
            }
        };
        loop.run(cancel(&running, &random));
        for (auto& each : running)
            if (each.isValid())
                loop.run(each);
        if (isWatched)
            loop.remove(watch);
        return order + std::to_string(loop.stepsRun());
    };
    for (std::uint64_t seed = 1; seed <= 30; ++seed)
        CHECK(run(seed, true) == run(seed, false));
}
