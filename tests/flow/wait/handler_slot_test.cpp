#include "flow/wait/handler_slot.h"

#include "flow/sim/sim_loop.h"
#include "flow/wait/source.h"

#include <doctest/doctest.h>

using namespace flow;

namespace {

struct SlotBasket {
    struct Take {
        using Result = int;
        SlotBasket* basket;
        bool isReady() const { return basket->count != 0; }
        void park(WaiterNode& waiter) { basket->source.park(waiter, *this); }
        int take() const {
            if (basket->count < 0)
                throw timed_out();
            return basket->count--;
        }
    };
    Take take() { return {this}; }
    void put(int more) {
        count += more;
        source.wakeInTurn();
    }

    int count = 0;
    Source<Take> source;
};

struct SlotTaker {
    SlotBasket& basket;
    HandlerSlot slot;
    int sum = 0, calls = 0;
    Error last;

    explicit SlotTaker(SlotBasket& b) : basket(b) {}
    void take() {
        call(basket.take(), slot, [this](Error error, int got) {
            ++calls;
            last = error;
            sum += got;
            if (!error.isValid() && calls < 100)
                take();
        });
    }
};

} // namespace

TEST_CASE("handler slot: is called in a turn, never inside call(), and may wait anew") {
    SimLoop loop;
    SlotBasket basket;
    basket.count = 1;
    SlotTaker taker(basket);
    taker.take();
    CHECK(taker.calls == 0);
    CHECK(taker.slot.isWaiting());
    loop.run();
    CHECK(taker.calls == 1);
    basket.put(2);
    loop.run();
    CHECK(taker.calls == 3);
    CHECK(taker.sum == 1 + 2 + 1);
    CHECK(taker.slot.isWaiting());
}

TEST_CASE("handler slot: of two waiters for the same thing, one keeps waiting") {
    SimLoop loop;
    SlotBasket basket;
    basket.count = 1;
    SlotTaker first(basket), second(basket);
    first.take();
    second.take();
    loop.run();
    CHECK(first.calls == 1);
    CHECK(second.calls == 0);
    basket.put(2);
    loop.run();
    CHECK(first.calls + second.calls == 3);
}

TEST_CASE("handler slot: what is cancelled or destroyed has taken nothing") {
    SimLoop loop;
    SlotBasket basket;
    {
        SlotTaker parked(basket), ready(basket);
        parked.take();
        basket.count = 1;
        ready.take();
        parked.slot.cancel();
        ready.slot.cancel();
        loop.run();
        CHECK(parked.calls + ready.calls == 0);
        parked.take();
    }
    loop.run();
    CHECK(basket.count == 1);
}

TEST_CASE("handler slot: errors, thrown by the operation or of its source, come as errors") {
    SimLoop loop;
    SlotBasket basket;
    SlotTaker taker(basket);
    taker.take();
    basket.source.failAll(connection_failed());
    CHECK(taker.last == connection_failed());
    basket.count = -1;
    taker.take();
    loop.run();
    CHECK(taker.last == timed_out());
}
