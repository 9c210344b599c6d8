#include "flow/memory/allocation_watch.h"

#include "flow/core/future.h"
#include "flow/memory/allocation_failure.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <memory>
#include <set>

using namespace flow;

namespace {

struct Seen : memory::AllocationWatch {
    std::set<void*> blocks, cells;
    int allocations = 0;

    void allocated(void* block, void* cell) noexcept override {
        ++allocations;
        blocks.insert(block);
        if (cell)
            cells.insert(cell);
    }
    void released(void* block) noexcept override { blocks.erase(block); }
};

struct Refusing : memory::AllocationWatch {
    bool allocating() noexcept override { return false; }
};

} // namespace

TEST_CASE("allocation watch: sees what is taken and given back, of every size") {
    std::int64_t live = memory::totalStatistics().live();
    void* before = memory::allocate(64);
    Seen seen;
    for (std::size_t bytes : {1, 16, 100, 513, 4096, 4097, 100000}) {
        void* block = memory::allocate(bytes);
        CHECK(seen.blocks.count(block) == 1);
        memory::release(block, memory::sizeClassOf(bytes));
        CHECK(seen.blocks.empty());
    }
    CHECK(seen.allocations == 7);
    CHECK(seen.cells.empty());
    memory::release(before, memory::sizeClassOf(64));
    CHECK(seen.blocks.empty());
    CHECK(memory::totalStatistics().live() == live);
}

TEST_CASE("allocation watch: returns the places of the cells") {
    Seen seen;
    Promise<std::string> promise; // the value stands in front of the cell
    Future<std::string> future = promise.getFuture();
    REQUIRE(seen.cells.size() == 1);
    CHECK(*seen.cells.begin() == static_cast<void*>(future.cell()));
    CHECK(*seen.blocks.begin() < *seen.cells.begin());
}

TEST_CASE("allocation watch: blocks outlive it in either direction") {
    auto inner = std::make_unique<Promise<int>>();
    {
        Seen seen;
        inner.reset();
        inner = std::make_unique<Promise<int>>();
        CHECK(seen.allocations == 1);
    }
    inner->send(3);
    CHECK(inner->getFuture().get() == 3);
}

TEST_CASE("allocation watch: several see the same, and one that refuses refuses for all") {
    Seen outer;
    {
        Seen inner;
        Promise<int> promise;
        CHECK(inner.allocations == 1);
        CHECK(outer.allocations == 1);
        AllocationFailure failure(0);
        CHECK_THROWS_AS(Promise<int>(), std::bad_alloc);
        CHECK(inner.allocations == 1);
    }
    CHECK(outer.blocks.empty());
    Promise<int> another;
    CHECK(outer.allocations == 2);
}

TEST_CASE("allocation watch: what one refuses is not taken, and others do not see it") {
    std::int64_t live = memory::totalStatistics().live();
    Seen seen;
    {
        Refusing refusing;
        for (std::size_t bytes : {16, 513, 100000})
            CHECK_THROWS_AS(memory::allocate(bytes), std::bad_alloc);
        CHECK_THROWS_AS(Promise<int>(), std::bad_alloc);
    }
    CHECK(seen.allocations == 0);
    CHECK(memory::totalStatistics().live() == live);
    Promise<int> promise;
    CHECK(seen.allocations == 1);
}

TEST_CASE("allocation watch: they end in reverse order") {
    auto wrong = [] {
        auto first = std::make_unique<Seen>();
        auto second = std::make_unique<Seen>();
        first.reset();
    };
    CHECK_DIES(wrong(), "ends before another that was made later");
}
