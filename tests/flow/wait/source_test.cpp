#include "flow/wait/source.h"

#include "flow/flow.h"
#include "flow/sim/sim_loop.h"

#include <doctest/doctest.h>

using namespace flow;

namespace {

struct Basket {
    struct Take {
        using Result = int;
        Basket* basket;
        bool isReady() const { return basket->count != 0; }
        void park(WaiterNode& waiter) { basket->source.park(waiter, *this); }
        int take() const { return basket->count--; }
    };
    Take take() { return {this}; }

    int count = 0;
    Source<Take> source;
};

} // namespace

TEST_CASE("source: those that are forsaken wait for ever, and may be cancelled") {
    SimLoop loop;
    Basket basket;
    Future<int> kept = keep(basket.take());
    auto waiting = [](Basket& basket) -> Future<int> { co_return co_await basket.take(); };
    Future<int> frame = waiting(basket);
    CHECK(basket.source.isWaitedFor());
    basket.source.forsakeAll();
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
    Basket basket;
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
