#include "flow/core/detail/turn_budget.h"

#include "flow/combine/race.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/sync/semaphore.h"
#include "flow/tasks/task.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/tap.h"

#include <doctest/doctest.h>
#include <thread>
#include <vector>

using namespace flow;
using test::Tap;

namespace {

constexpr int kTurns = 20;
/// A task that is woken in a turn of its own may take one as well: as many as a turn has tasks.
constexpr int kMost = TurnBudget::kOperations + 64;

Future<Void> drink(Tap* tap) {
    while (tap->isOpen())
        tap->got(co_await tap->draw());
}
Future<Void> drinkRacing(Tap* tap) {
    while (tap->isOpen()) {
        auto first = co_await race(Future<Void>(Never()), tap->draw());
        tap->got(std::get<1>(first));
    }
}
Future<Void> drinkFromTwo(Tap* tap) {
    while (tap->isOpen()) {
        auto first = co_await race(tap->draw(), tap->draw());
        tap->got(first.index() == 0 ? std::get<0>(first) : std::get<1>(first));
    }
}
/// The operands are looked at one by one.
Future<Void> drinkLazily(Tap* tap) {
    while (tap->isOpen()) {
        auto first = co_await race([&] { return tap->draw(); }, Future<Void>(Never()));
        tap->got(std::get<0>(first));
    }
}
Future<Void> drinkKept(Tap* tap) {
    while (tap->isOpen())
        tap->got(co_await keep(tap->draw()));
}
Future<Void> drinkPropagating(Tap* tap, Propagate = {}) {
    while (tap->isOpen())
        tap->got(co_await tap->draw());
}
Task<> drinkInTask(Context, Tap* tap) {
    while (tap->isOpen())
        tap->got(co_await tap->draw());
}
Future<Void> drinkAsTask(Tap* tap) {
    return start(drinkInTask(Environment(), tap));
}

struct Style {
    char const* name;
    Future<Void> (*drink)(Tap*);
};
Style const kStyles[] = {
    {"a wait", drink},
    {"a race", drinkRacing},
    {"a race of two", drinkFromTwo},
    {"a race of callables", drinkLazily},
    {"a kept operation", drinkKept},
    {"a coroutine that propagates", [](Tap* tap) { return drinkPropagating(tap); }},
    {"a task", drinkAsTask},
};

/// So many drink from one tap until another actor has had kTurns turns.
void checkTurns(Loop& loop, int drinkers, Future<Void> (*drink)(Tap*)) {
    Tap tap;
    Future<Void> watching = tap.watch(kTurns);
    std::vector<Future<Void>> drinking;
    for (int i = 0; i < drinkers; ++i)
        drinking.push_back(drink(&tap));
    loop.run(watching);
    loop.run();
    CHECK(tap.turns() == kTurns);
    CHECK(tap.mostInTurn() <= kMost);
    CHECK(tap.mostInTurn() >= TurnBudget::kOperations); // no more turns than needed
    CHECK(tap.isEven());                                // each that was drawn has come to a drinker
    for (Future<Void> const& each : drinking)
        CHECK(each.isReady());
}

TEST_CASE("turn budget: what is always ready lets others have their turns, in each style") {
    for (Style const& style : kStyles)
        for (int drinkers : {1, 50}) {
            CAPTURE(style.name);
            CAPTURE(drinkers);
            test::Balance balance;
            SimLoop simulated;
            checkTurns(simulated, drinkers, style.drink);
        }
}

TEST_CASE("turn budget: the same on a real loop, where time passes") {
    for (Style const& style : kStyles) {
        CAPTURE(style.name);
        RealLoop real;
        checkTurns(real, 3, style.drink);
    }
    RealLoop real;
    Tap tap;
    Future<Void> drinking = drink(&tap);
    real.run(delay(0.001));
    tap.shut();
    real.run(drinking);
    CHECK(tap.isEven());
}

TEST_CASE("turn budget: what waits at DefaultYield, and loops of delay(0), have their turns beside it") {
    SimLoop loop;
    Tap tap;
    Mutex mutex;
    int locks = 0, spins = 0;
    auto lockAgain = [](Mutex* m, int* count, Tap* until) -> Future<Void> {
        while (until->isOpen()) {
            Mutex::Lock lock = co_await m->lock();
            co_await delay(0, TaskPriority::DefaultYield);
            ++*count;
        }
    };
    auto spin = [](int* count, Tap* until) -> Future<Void> {
        for (; until->isOpen(); ++*count)
            co_await delay(0);
    };
    std::vector<Future<Void>> all;
    for (int i = 0; i < 2; ++i)
        all.push_back(lockAgain(&mutex, &locks, &tap));
    all.push_back(spin(&spins, &tap));
    for (int i = 0; i < 3; ++i)
        all.push_back(drink(&tap));
    loop.run(tap.watch(kTurns, TaskPriority::DefaultYield));
    CHECK(tap.turns() == kTurns);
    CHECK(locks >= kTurns / 2);
    CHECK(spins >= kTurns);
    for (Future<Void> const& each : all)
        loop.run(each);
    CHECK(tap.isEven());
}

TEST_CASE("turn budget: what runs outside a turn has that of one turn; without a loop there is no limit") {
    Tap tap;
    auto drawAll = [&] {
        int count = 0;
        while (count < 4 * TurnBudget::kOperations && keep(tap.draw()).isReady())
            ++count;
        return count;
    };
    std::thread([&] { CHECK(drawAll() == 4 * TurnBudget::kOperations); }).join();
    SimLoop loop;
    CHECK(drawAll() == TurnBudget::kOperations);
    CHECK(drawAll() == 0);
    CHECK(TurnBudget::isSpent());
    Future<int> later = keep(tap.draw());
    CHECK(loop.run(later) == 1);
    CHECK(drawAll() == TurnBudget::kOperations);
}

TEST_CASE("turn budget: when it is spent, futures and streams that are ready do not suspend") {
    SimLoop loop;
    loop.run([]() -> Future<Void> {
        co_await delay(0);
        Tap tap;
        while (!TurnBudget::isSpent())
            tap.got(co_await tap.draw());
        std::uint64_t task = flow::Loop::current().stepsRun();
        Future<int> one = 1;
        PromiseStream<int> numbers;
        FutureStream<int> stream = numbers.getFuture();
        for (int i = 0; i < 1000; ++i) {
            numbers.send(i);
            int added = co_await one;
            added += co_await stream;
            CHECK(added == i + 1);
            auto first = co_await race(tap.draw(), one); // the operation is put off, and has given nothing
            CHECK(first.index() == 1);
        }
        CHECK(flow::Loop::current().stepsRun() == task);
        CHECK(tap.isEven());
    }());
}

struct Done {
    using Result = Void;
    static constexpr bool kEndsOnce = true;
    void* aligned;
    bool isReady() const { return true; }
    void park(WaiterNode&) const { FAIL("it is ready"); }
    Void take() const { return Void(); }
};

TEST_CASE("turn budget: what ends once is like a future") {
    SimLoop loop;
    loop.run([]() -> Future<Void> {
        co_await delay(0);
        std::uint64_t task = flow::Loop::current().stepsRun();
        for (int i = 0; i < 2 * TurnBudget::kOperations; ++i) {
            co_await Done{};
            co_await race(Done{}, Future<Void>(Never()));
            co_await keep(Done{});
        }
        CHECK(flow::Loop::current().stepsRun() == task);
    }());
}

/// Spends what the turn has.
Future<Void> spend(Tap& tap) {
    while (!TurnBudget::isSpent())
        tap.got(co_await tap.draw());
}

TEST_CASE("turn budget: one that was put off and is cancelled has taken nothing") {
    test::Balance balance;
    SimLoop loop;
    Tap tap;
    loop.run([](Tap* t) -> Future<Void> {
        co_await delay(0);
        co_await spend(*t);
        for (Style const& style : kStyles) {
            Future<Void> putOff = style.drink(t);
            CHECK(!putOff.isReady());
            putOff.cancel();
        }
    }(&tap));
    loop.run();
    CHECK(tap.isEven());
    CHECK(!loop.hasWork());
}

TEST_CASE("turn budget: one that was put off stands behind those that wait, and before those that come later") {
    SimLoop loop;
    Tap tap;
    std::vector<int> order;
    auto one = [](Tap* t, std::vector<int>* log, int number) -> Future<Void> {
        t->got(co_await t->draw());
        log->push_back(number);
    };
    loop.run([](Tap* t, std::vector<int>* log, auto drinkOne) -> Future<Void> {
        co_await delay(0);
        co_await spend(*t);
        std::vector<Future<Void>> all;
        for (int i = 0; i < 5; ++i)
            all.push_back(drinkOne(t, log, i));
        all.erase(all.begin() + 2);
        CHECK(log->empty());
        co_await delay(1);
    }(&tap, &order, one));
    CHECK(order == std::vector<int>{0, 1, 3, 4});
}

TEST_CASE("turn budget: another loop that runs inside a turn has its own") {
    SimLoop outer;
    Tap tap;
    Future<Void> watching = tap.watch(kTurns);
    auto running = [](Tap* t) -> Future<Void> {
        co_await delay(0);
        while (t->isOpen()) {
            t->got(co_await t->draw());
            SimLoop inner;
            inner.run(delay(1));
        }
    };
    Future<Void> drinking = running(&tap);
    outer.run(watching);
    outer.run();
    CHECK(tap.mostInTurn() <= kMost);
    CHECK(drinking.isReady());
}

TEST_CASE("turn budget: bytes count") {
    SimLoop loop;
    loop.run([]() -> Future<Void> {
        co_await delay(0);
        CHECK(!TurnBudget::isSpent());
        TurnBudget::useBytes(TurnBudget::kOperations * TurnBudget::kBytesOfOne - 1);
        CHECK(!TurnBudget::isSpent());
        TurnBudget::useBytes(TurnBudget::kBytesOfOne);
        CHECK(TurnBudget::isSpent());
        {
            TurnBudget::Saved inOneGo(TurnBudget::kNoLimit);
            CHECK(!TurnBudget::isSpent());
        }
        CHECK(TurnBudget::isSpent());
        co_await delay(0);
        CHECK(!TurnBudget::isSpent());
    }());
}

} // namespace
