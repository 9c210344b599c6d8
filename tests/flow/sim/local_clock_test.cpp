#include "flow/sim/local_clock.h"

#include <doctest/doctest.h>

using namespace flow;

TEST_CASE("local clock: offset, rate, jumps") {
    LocalClock clock(10, 100);
    CHECK(clock.at(10) == 100);
    CHECK(clock.at(12.5) == 102.5);
    CHECK(clock.worldTimeAt(102.5) == 12.5);
    clock.setRate(20, 2);
    CHECK(clock.at(20) == 110);
    CHECK(clock.at(21) == 112);
    CHECK(clock.worldTimeAt(112) == 21);
    clock.jump(25, 1000);
    CHECK(clock.at(25) == 1120);
    CHECK(clock.at(26) == 1122);
    CHECK(clock.rate() == 2);
}

TEST_CASE("local clock: the calendar goes by the world's time, and may jump back") {
    LocalClock clock(0, 5);
    CHECK(clock.systemAt(3) == Loop::kVirtualDate + 3);
    clock.jumpSystem(-10);
    CHECK(clock.systemAt(3) == Loop::kVirtualDate - 7);
    CHECK(clock.at(3) == 8);
}
