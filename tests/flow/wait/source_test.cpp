#include "flow/wait/source.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>
#include <memory>
#include <vector>

using namespace flow;

namespace {

/// Permits. Each waiter takes a number of its own.
struct Permits {
    struct Take {
        using Result = int;
        Permits* permits;
        int amount;
        bool isReady() const { return permits->free >= amount; }
        void park(WaiterNode& waiter) { permits->source.park(waiter, *this); }
        int take() const {
            REQUIRE(isReady());
            permits->free -= amount;
            return amount;
        }
    };
    int free = 0;
    Source<Take> source;
};

/// An operation for which the source exists only while something waits.
struct UntilNoneWaits {
    using Result = Void;
    Source<UntilNoneWaits>* source;
    bool isReady() const { return false; }
    void park(WaiterNode& waiter) { source->park(waiter, *this); }
    Void take() const { return Void(); }
    static void noneWaits(Source<UntilNoneWaits>& left) {
        ++ended;
        delete &left;
    }
    static inline int ended = 0;
};

Future<Void> take(Permits& permits, int amount, std::vector<int>& log) {
    log.push_back(co_await Permits::Take{&permits, amount});
}

} // namespace

TEST_CASE("source: in its turn it wakes from the first on, up to the first that is not ready") {
    test::Balance balance;
    SimLoop loop;
    Permits permits;
    std::vector<int> log;
    std::vector<Future<Void>> takers;
    permits.source.wakeInTurn(); // no waiter
    CHECK(!loop.hasWork());
    for (int amount : {2, 1, 5, 1})
        takers.push_back(take(permits, amount, log));
    CHECK(permits.source.first().amount == 2);
    permits.free = 7;
    permits.source.wakeInTurn();
    permits.source.wakeInTurn();
    loop.run();
    CHECK(log == std::vector<int>{2, 1});
    CHECK(permits.source.first().amount == 5);
    takers[2] = {}; // makes room for the one behind it at the next turn
    permits.source.wakeInTurn();
    loop.run();
    CHECK(log == std::vector<int>{2, 1, 1});
    CHECK(!permits.source.isWaitedFor());
}

TEST_CASE("source: on request the next one is woken when the first leaves") {
    test::Balance balance;
    SimLoop loop;
    Permits permits;
    std::vector<int> log;
    std::vector<Future<Void>> takers;
    for (int amount : {5, 4, 1, 1})
        takers.push_back(take(permits, amount, log));
    permits.free = 1;
    takers[0].cancel();
    CHECK(!loop.hasWork());
    permits.source.wakeWhenFirstLeaves(TaskPriority::DefaultYield);
    takers[3].cancel();
    CHECK(!loop.hasWork()); // it was the last
    takers[1].cancel();
    CHECK(loop.hasWork());
    loop.run();
    CHECK(log == std::vector<int>{1});
    takers.push_back(take(permits, 1, log));
    takers.push_back(take(permits, 1, log));
    permits.source.failAll(io_error(), timed_out());
    CHECK(takers[4].getError() == io_error());
    CHECK(takers[5].getError() == timed_out());
    CHECK(!loop.hasWork());
}

TEST_CASE("source: on request the operation hears that no waiter is left, and may destroy the source") {
    test::Balance balance;
    SimLoop loop;
    auto* source = new Source<UntilNoneWaits>;
    source->wakeWhenFirstLeaves(TaskPriority::DefaultYield);
    UntilNoneWaits::ended = 0;
    Future<Void> first = keep(UntilNoneWaits{source}), second = keep(UntilNoneWaits{source});
    second = Future<Void>();
    CHECK(UntilNoneWaits::ended == 0);
    second = keep(UntilNoneWaits{source});
    first = Future<Void>();
    CHECK(UntilNoneWaits::ended == 0);
    second = Future<Void>();
    CHECK(UntilNoneWaits::ended == 1);
    loop.run();
}

TEST_CASE("source: the turn has the requested priority") {
    test::Balance balance;
    SimLoop loop;
    Permits permits;
    std::vector<int> log;
    auto other = [&](int mark) -> Future<Void> {
        co_await delay(0, TaskPriority::DefaultYield);
        log.push_back(mark);
    };
    Future<Void> taker = take(permits, 1, log);
    Future<Void> yielder = other(100);
    permits.free = 1;
    SUBCASE("lower") {
        permits.source.wakeInTurn(TaskPriority::Low);
        loop.run();
        CHECK(log == std::vector<int>{100, 1});
    }
    SUBCASE("higher") {
        permits.source.wakeInTurn(TaskPriority::Max);
        loop.run();
        CHECK(log == std::vector<int>{1, 100});
    }
}

TEST_CASE("source: one that goes while its turn is to come is forgotten by the loop") {
    test::Balance balance;
    SimLoop loop;
    std::vector<int> log;
    auto permits = std::make_unique<Permits>();
    Future<Void> taker = take(*permits, 1, log);
    permits->free = 1;
    permits->source.wakeInTurn();
    permits = nullptr;
    CHECK(taker.getError().code() == error_code_broken_promise);
    loop.run();
    CHECK(log.empty());
}

TEST_CASE("source: continues on another loop when the one with its turn has ended") {
    test::Balance balance;
    Permits permits;
    std::vector<int> log;
    Future<Void> taker;
    {
        SimLoop loop;
        taker = take(permits, 1, log);
        permits.free = 1;
        permits.source.wakeInTurn();
    }
    CHECK(log.empty());
    SimLoop loop;
    permits.source.wakeInTurn();
    loop.run();
    CHECK(log == std::vector<int>{1});
}

namespace {

struct SourceBasket {
    struct Take {
        using Result = int;
        SourceBasket* basket;
        bool isReady() const { return basket->count != 0; }
        void park(WaiterNode& waiter) { basket->source.park(waiter, *this); }
        int take() const { return basket->count--; }
    };
    Take take() { return {this}; }

    int count = 0;
    Source<Take> source;
};

} // namespace

TEST_CASE("source: those that are abandoned wait for ever, and may be cancelled") {
    SimLoop loop;
    SourceBasket basket;
    Future<int> kept = keep(basket.take());
    auto waiting = [](SourceBasket& basket) -> Future<int> { co_return co_await basket.take(); };
    Future<int> frame = waiting(basket);
    CHECK(basket.source.isWaitedFor());
    basket.source.abandonAll();
    CHECK_FALSE(basket.source.isWaitedFor());
    basket.count = 2;
    basket.source.wakeInTurn();
    loop.run();
    CHECK_FALSE(kept.isReady());
    CHECK_FALSE(frame.isReady());
    kept = Future<int>();
    frame.cancel();
    CHECK(frame.isError());
    CHECK(basket.count == 2);
}

TEST_CASE("source: wakes one a turn, as long as there is something") {
    SimLoop loop;
    SourceBasket basket;
    std::vector<Future<int>> all;
    for (int i = 0; i < 5; ++i)
        all.push_back(keep(basket.take()));
    all[1] = Future<int>();
    basket.count = 3;
    basket.source.wakeInTurn();
    loop.run();
    CHECK(all[0].isReady());
    CHECK(all[2].isReady());
    CHECK(all[3].isReady());
    CHECK_FALSE(all[4].isReady());
}
