#include "flow/sim/schedule_explorer.h"

#include "flow/combine/race.h"
#include "flow/compat/async_trigger.h"
#include "flow/compat/collection.h"
#include "flow/compat/flow_lock.h"
#include "flow/compat/flow_mutex.h"
#include "flow/compat/wait_for_all.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/loop.h"
#include "flow/sync/async_var.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace flow;

namespace {

/// What the test is about is made anew for each order, and lives as long as its actors.
template <class T>
using Shared = std::shared_ptr<T>;

Future<Void> all(std::vector<Future<Void>> each) {
    co_await waitForAll(each);
}

Future<Void> spell(std::string* word, char letter) {
    co_await delay(0);
    *word += letter;
}

Future<Void> use(Shared<FlowLock> lock, Shared<int> inside, int most) {
    co_await delay(0);
    co_await lock->take();
    FlowLock::Releaser releaser(*lock);
    if (++*inside > most)
        throw internal_error();
    co_await delay(0);
    --*inside;
}
Future<Void> useAndGiveUp(Shared<FlowLock> lock, Shared<int> inside) {
    Future<Void> waiting = use(lock, inside, 1);
    co_await delay(0);
}

/// Like an AsyncVar, but a waiter checks first and waits later: a change in between is lost.
struct Sloppy {
    bool set = false;
    AsyncTrigger changed;
};
Future<Void> waitSloppily(Shared<Sloppy> flag) {
    if (!flag->set) {
        co_await delay(0);
        co_await flag->changed.onTrigger();
    }
}
Future<Void> setSloppily(Shared<Sloppy> flag) {
    co_await delay(0);
    flag->set = true;
    flag->changed.trigger();
}

Future<Void> waitFor(Shared<AsyncVar<int>> variable, int value) {
    co_await delay(0);
    while (variable->get() < value)
        co_await variable->onChange();
}
Future<Void> count(Shared<AsyncVar<int>> variable) {
    co_await delay(0);
    variable->set(variable->get() + 1);
}

Future<Void> expectPriority(TaskPriority priority) {
    co_await delay(0, priority);
    if (Loop::current().currentPriority() != priority)
        throw internal_error();
}

/// No order of the test fails. Returns how many there are.
std::uint64_t holds(std::function<Future<Void>()> test) {
    Schedules orders = exploreSchedules(test, 200'000);
    CHECK(orders.failure == "");
    CHECK(orders.all);
    return orders.count;
}

} // namespace

TEST_CASE("orders: a task runs at its own priority") {
    holds([] {
        std::vector<Future<Void>> each;
        for (TaskPriority priority : {TaskPriority::DefaultDelay, TaskPriority::DefaultDelay, TaskPriority::Low})
            each.push_back(expectPriority(priority));
        return all(std::move(each));
    });
}

TEST_CASE("orders: each order, once") {
    for (int tasks = 1; tasks <= 7; ++tasks) {
        std::set<std::string> words;
        std::string word;
        Schedules orders = exploreSchedules([&]() -> Future<Void> {
            word.clear();
            std::vector<Future<Void>> each;
            for (int i = 0; i < tasks; ++i)
                each.push_back(spell(&word, static_cast<char>('a' + i)));
            co_await waitForAll(each);
            words.insert(word);
        });
        int factorial = 1;
        for (int i = 2; i <= tasks; ++i)
            factorial *= i;
        CHECK(orders.failure == "");
        CHECK(orders.all);
        CHECK(orders.count == static_cast<std::uint64_t>(factorial));
        CHECK(words.size() == static_cast<std::size_t>(factorial));
    }
}

TEST_CASE("orders: more urgent tasks stay before the others") {
    std::string word;
    auto urgent = [&word](char letter, TaskPriority priority) -> Future<Void> {
        co_await delay(0, priority);
        word += letter;
    };
    std::set<std::string> words;
    Schedules orders = exploreSchedules([&]() -> Future<Void> {
        word.clear();
        std::vector<Future<Void>> each;
        each.push_back(urgent('c', TaskPriority::Low));
        each.push_back(urgent('a', TaskPriority::DefaultEndpoint));
        each.push_back(urgent('d', TaskPriority::Low));
        each.push_back(urgent('b', TaskPriority::DefaultEndpoint));
        co_await waitForAll(each);
        words.insert(word);
    });
    CHECK(orders.all);
    CHECK(words == std::set<std::string>{"abcd", "abdc", "bacd", "badc"});
}

TEST_CASE("orders: a lost wake-up is found, with the order in which it is lost") {
    Schedules orders = exploreSchedules([]() -> Future<Void> {
        auto flag = std::make_shared<Sloppy>();
        return all({waitSloppily(flag), setSloppily(flag)});
    });
    INFO(orders.failure);
    CHECK(orders.failure.find("nothing can happen any more") == 0);
    CHECK(orders.failure.find("waitSloppily waits for a promise") != std::string::npos);
    CHECK(orders.failure.find("in this order:\n  setSloppily, of 2\n") != std::string::npos);
}

TEST_CASE("orders: a number of them, if there are too many") {
    std::string word;
    Schedules orders = exploreSchedules(
        [&]() -> Future<Void> {
            return all({spell(&word, 'a'), spell(&word, 'b'), spell(&word, 'c'), spell(&word, 'd')});
        },
        10);
    CHECK(orders.count == 10);
    CHECK(!orders.all);
    orders = exploreSchedules(
        [&]() -> Future<Void> {
            return all({spell(&word, 'a'), spell(&word, 'b'), spell(&word, 'c'), spell(&word, 'd')});
        },
        1000, 2);
    CHECK(!orders.all); // of those that are ready together, two were tried
    CHECK(orders.count == 8);
    CHECK_DIES(exploreSchedules([] { return all({}); }, 0), "most and together must be above 0");
    CHECK_DIES(exploreSchedules([] { return all({}); }, 1, 0), "most and together must be above 0");
}

TEST_CASE("orders: a test that throws before it gives a future has failed") {
    Schedules orders = exploreSchedules([]() -> Future<Void> { throw io_error(); });
    CHECK(orders.count == 1);
    CHECK(orders.failure.starts_with("it ended with io_error"));
}

TEST_CASE("orders: none loses a wake-up of FlowLock") {
    CHECK(holds([]() -> Future<Void> {
              auto lock = std::make_shared<FlowLock>(1);
              auto inside = std::make_shared<int>(0);
              return all({use(lock, inside, 1), use(lock, inside, 1), use(lock, inside, 1)});
          }) > 6);
    holds([]() -> Future<Void> {
        auto lock = std::make_shared<FlowLock>(2);
        auto inside = std::make_shared<int>(0);
        return all({use(lock, inside, 2), use(lock, inside, 2), use(lock, inside, 2), use(lock, inside, 2)});
    });
}

TEST_CASE("orders: none loses a wake-up of FlowLock, with a waiter that cancels") {
    holds([]() -> Future<Void> {
        auto lock = std::make_shared<FlowLock>(1);
        auto inside = std::make_shared<int>(0);
        return all({use(lock, inside, 3), useAndGiveUp(lock, inside), use(lock, inside, 3)});
    });
}

TEST_CASE("orders: none loses a wake-up of AsyncVar") {
    holds([]() -> Future<Void> {
        auto variable = std::make_shared<AsyncVar<int>>(0);
        return all({waitFor(variable, 2), count(variable), waitFor(variable, 1), count(variable)});
    });
}

TEST_CASE("orders: none loses a wake-up of FlowMutex") {
    auto use = [](Shared<FlowMutex> mutex, Shared<int> inside) -> Future<Void> {
        co_await delay(0);
        FlowMutex::Lock lock = co_await mutex->take();
        if (++*inside > 1)
            throw internal_error();
        co_await delay(0);
        --*inside;
        lock.release();
    };
    holds([&]() -> Future<Void> {
        auto mutex = std::make_shared<FlowMutex>();
        auto inside = std::make_shared<int>(0);
        return all({use(mutex, inside), use(mutex, inside), use(mutex, inside)});
    });
}

TEST_CASE("orders: none loses a wake-up of PromiseStream") {
    auto send = [](PromiseStream<int> stream, int number) -> Future<Void> {
        co_await delay(0);
        stream.send(number);
    };
    auto receive = [](FutureStream<int> stream, int times) -> Future<Void> {
        int sum = 0;
        for (int i = 0; i < times; ++i) {
            co_await delay(0);
            sum += co_await stream;
        }
        if (sum != 6)
            throw internal_error();
    };
    holds([&]() -> Future<Void> {
        PromiseStream<int> stream;
        return all({receive(stream.getFuture(), 3), send(stream, 1), send(stream, 2), send(stream, 3)});
    });
}

TEST_CASE("orders: none loses a wake-up of ActorCollection, race and quorum") {
    auto nap = []() -> Future<Void> { co_await delay(0); };
    holds([&]() -> Future<Void> {
        ActorCollection collection(true);
        for (int i = 0; i < 4; ++i)
            collection.add(nap());
        co_await collection.getResult();
    });
    holds([&]() -> Future<Void> { co_await race(nap(), nap(), nap()); });
    holds([&]() -> Future<Void> {
        std::vector<Future<Void>> each{nap(), nap(), nap(), nap()};
        co_await quorum(each, 3);
    });
}
