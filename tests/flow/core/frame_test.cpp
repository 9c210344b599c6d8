#include "flow/core/frame.h"

#include <doctest/doctest.h>
#include <initializer_list>

using namespace flow;
using namespace flow::detail;

TEST_CASE("frame: an Awaited says what kind of thing it is, and gives it back") {
    CHECK(Awaited().isNothing());

    Cell cell{};
    Awaited aCell(&cell);
    CHECK(aCell.isCell());
    CHECK_FALSE((aCell.isNothing() || aCell.isTimer() || aCell.isGroup()));
    CHECK(aCell.cell() == &cell);

    TimerSlot slot{};
    Awaited aTimer(&slot);
    CHECK(aTimer.isTimer());
    CHECK_FALSE((aTimer.isNothing() || aTimer.isCell() || aTimer.isGroup()));
    CHECK(aTimer.timer() == &slot);

    BranchGroup group{};
    Awaited aGroup(&group);
    CHECK(aGroup.isGroup());
    CHECK_FALSE((aGroup.isNothing() || aGroup.isCell() || aGroup.isTimer()));
    CHECK(aGroup.group() == &group);
}

TEST_CASE("frame: a waiter is found by its link, a frame by its cell, and back") {
    Waiter waiter{};
    CHECK(Waiter::of(&waiter.link) == &waiter);

    struct alignas(16) Block {
        Cell cell{};
        Waiter frame{};
    } block;
    CHECK(block.cell.frame() == &block.frame);
    CHECK(Cell::of(&block.frame) == &block.cell);
    CHECK(reinterpret_cast<std::uintptr_t>(block.cell.frame()) % 16 == 0);
}

TEST_CASE("frame: a cell's flags leave its status alone, and its status leaves them") {
    Cell cell{};
    CHECK(cell.isUnset());
    cell.flags |= Cell::kHasFrame | Cell::kCancelled;
    for (std::uint8_t status : {Cell::kNever, Cell::kValue, Cell::kError, Cell::kUnset}) {
        cell.setStatus(status);
        CHECK(cell.isReady() == (status == Cell::kValue || status == Cell::kError));
        CHECK(cell.isValue() == (status == Cell::kValue));
        CHECK(cell.isError() == (status == Cell::kError));
        CHECK(cell.isUnset() == (status == Cell::kUnset));
        CHECK((cell.has(Cell::kHasFrame) && cell.has(Cell::kCancelled) && !cell.has(Cell::kUncancellable)));
    }
}
