#include "flow/wait/operation_room.h"

#include "flow/core/in_place.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/source.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;

namespace {

struct Slots {
    struct Take {
        using Result = std::string;
        Slots* slots;
        bool isReady() const { return slots->free > 0; }
        void park(WaiterNode& waiter) { slots->source.park(waiter, *this); }
        std::string take() const { return "slot " + std::to_string(slots->free--); }
    };
    int free = 0;
    Source<Take> source;
};
/// Aligned to more than a place of a room is.
struct alignas(16) Wide {
    using Result = Void;
    Slots* slots;
    bool isReady() const { return slots->free > 0; }
    void park(WaiterNode&) const {}
    Void take() const { return Void(); }
};

struct KeptState {
    long kept = 0;
};
struct KeptBlock {
    KeptState state;
    flow::detail::HeldOperation places[2];
};

TEST_CASE("room: what is not an operation in place needs none") {
    struct Plain {};
    Plain plain;
    OperationRoom<Plain> room(&plain);
    Pending wait = operand<1, int>(room).wait(Future<int>(7));
    CHECK(wait.isReady());
    CHECK(takeLocal<1, int>(room, wait).get() == 7);
    wait = operand<2>(room).wait(Future<Void>(timed_out()));
    CHECK_FALSE(passed<2>(room, wait));
    CHECK(wait.takeError() == timed_out());
    static_assert(roomBytes<Plain>() == 0);
}

TEST_CASE("room: an operation is kept behind the state, and taken from there") {
    SimLoop loop;
    Slots slots{2, {}};
    KeptBlock block;
    OperationRoom<KeptState, 2> room(&block.state);
    CHECK(room.held() == block.places);
    Pending wait = operand<1, std::string>(room).wait(Slots::Take{&slots});
    CHECK(wait.isHeld());
    CHECK_FALSE(wait.isReady());
    CHECK(slots.free == 2); // checked, not taken
    CHECK(wait.start());
    CHECK(wait.isReady());
    CHECK(takeLocal<1, std::string>(room, wait).get() == "slot 2");
    wait = operand<2, Deduce>(room.at(1)).wait(Slots::Take{&slots});
    CHECK(wait.held() == block.places + 1);
    CHECK(wait.start());
    std::string found = takeValue<2, Deduced<OperationRoom<KeptState, 2>, 2>>(room.at(1), wait);
    CHECK(found == "slot 1");
    wait = operand<3, std::string>(room).waitNext(Slots::Take{&slots});
    CHECK_FALSE(wait.start());
    static_assert(roomBytes<KeptState>() == sizeof(block.places));
}

TEST_CASE("room: it is aligned behind a state that is not") {
    struct Three {
        int kept[3] = {};
    };
    struct One {
        bool kept = false;
    };
    struct {
        alignas(8) int lastOfFrame = 0;
        Three state;
        flow::detail::HeldOperation place;
    } three;
    struct {
        alignas(8) int lastOfFrame = 0;
        One state;
        flow::detail::HeldOperation place;
    } one;
    CHECK(OperationRoom<Three>(&three.state).held() == &three.place);
    CHECK(OperationRoom<One>(&one.state).held() == &one.place);
}

TEST_CASE("room: what a wait gives is remembered where the source does not say it") {
    SimLoop loop;
    struct Plain {};
    Plain plain;
    OperationRoom<Plain> room(&plain);
    using R = decltype(room);
    Pending wait;
    {
        Future<std::string> inner = std::string("text");
        wait = operand<1, Deduce>(room).wait(inner);
    }
    static_assert(std::is_same_v<Deduced<R, 1>, std::string>);
    CHECK(takeValue<1, Deduced<R, 1>>(room, wait) == "text");
    PromiseStream<int> stream;
    stream.send(5);
    wait = operand<2, Deduce>(room).waitNext(stream.getFuture());
    CHECK(takeNext<2, Deduced<R, 2>>(room, wait) == 5);
    wait = operand<3, Deduce>(room).wait(yield());
    static_assert(std::is_same_v<Deduced<R, 3>, Void>);
    CHECK(takeValue<3, Deduced<R, 3>>(room, wait) == Void());
}

TEST_CASE("room: an operation that fits no place takes one block") {
    SimLoop loop;
    Slots slots{1, {}};
    struct Other {};
    Other other;
    OperationRoom<Other> room(&other);
    Pending wait = operand<1>(room).wait(Wide{&slots});
    CHECK(wait.isOperation());
    CHECK(wait.start());
    CHECK(passed<1>(room, wait));
    static_assert(roomBytes<Other>() == 0);
}

} // namespace
