#include "flow/fiber/stack_pool.h"

#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <new>
#include <sys/mman.h>
#include <vector>

using namespace flow::fiber;

TEST_CASE("stack pool: a stack has at least the requested bytes, and is reused") {
    flow::fiber::detail::Stack stack = flow::fiber::detail::takeStack(100'001);
    CHECK(stack.bytes >= 100'001);
    std::memset(stack.begin(), 1, stack.bytes);
    CHECK(flow::fiber::detail::residentBytes(stack) == stack.bytes);
    flow::fiber::detail::giveBack(stack);
    flow::fiber::detail::Stack again = flow::fiber::detail::takeStack(100'001);
    CHECK(again.memory == stack.memory);
    flow::fiber::detail::Stack other = flow::fiber::detail::takeStack(200'000);
    CHECK(other.memory != stack.memory);
    flow::fiber::detail::giveBack(again);
    flow::fiber::detail::giveBack(other);
}

TEST_CASE("stack pool: what is fresh uses no memory") {
    flow::fiber::detail::Stack stack = flow::fiber::detail::takeStack(777 << 10);
    CHECK(flow::fiber::detail::residentBytes(stack) == 0);
    stack.end()[-1] = 1;
    CHECK(flow::fiber::detail::residentBytes(stack) > 0);
    CHECK(flow::fiber::detail::residentBytes(stack) < 16 << 10);
    flow::fiber::detail::giveBack(stack);
}

TEST_CASE("stack pool: a size that no memory can have is bad_alloc") {
    CHECK_THROWS_AS((void)flow::fiber::detail::takeStack(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
    CHECK_THROWS_AS((void)flow::fiber::detail::takeStack(std::numeric_limits<std::size_t>::max() - (32 << 10)),
                    std::bad_alloc);
    CHECK_THROWS_AS((void)flow::fiber::detail::takeStack(std::size_t{1} << 60), std::bad_alloc);
    CHECK_THROWS_AS(setPooledStacks(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
    setPooledStacks(64);
}

TEST_CASE("stack pool: keeps no more stacks than its limit, whatever their sizes, and a quarter with memory") {
    std::vector<flow::fiber::detail::Stack> stacks;
    setPooledStacks(0); // empties it
    setPooledStacks(24);
    for (std::size_t i = 0; i < 40; ++i) {
        stacks.push_back(flow::fiber::detail::takeStack((100 + 4 * i) << 10)); // each has a size of its own
        stacks.back().end()[-1] = 1;
    }
    for (flow::fiber::detail::Stack stack : stacks)
        flow::fiber::detail::giveBack(stack);
    for (std::size_t i = 0; i < 40; ++i) {
        INFO(i);
        unsigned char page;
        bool isMapped = ::mincore(stacks[i].end() - 4096, 4096, &page) == 0;
        CHECK(isMapped == (i >= 16));
        if (isMapped)
            CHECK((flow::fiber::detail::residentBytes(stacks[i]) > 0) == (i >= 34));
    }
    setPooledStacks(0);
    for (flow::fiber::detail::Stack stack : stacks)
        CHECK(flow::fiber::detail::residentBytes(stack) == 0);
    setPooledStacks(64);
}

TEST_CASE("stack pool: a stack that is taken and given back again and again keeps its memory") {
    flow::fiber::detail::Stack stack = flow::fiber::detail::takeStack(64 << 10);
    std::memset(stack.begin(), 1, stack.bytes);
    flow::fiber::detail::giveBack(stack);
    for (int i = 0; i < 100; ++i) {
        flow::fiber::detail::Stack again = flow::fiber::detail::takeStack(64 << 10);
        CHECK(again.memory == stack.memory);
        CHECK(flow::fiber::detail::residentBytes(again) == stack.bytes);
        flow::fiber::detail::giveBack(again);
    }
}

TEST_CASE("stack pool: a lower limit gives back what has been unused for longest, and memory") {
    setPooledStacks(0);
    setPooledStacks(64);
    std::vector<flow::fiber::detail::Stack> stacks;
    for (std::size_t i = 0; i < 16; ++i) {
        stacks.push_back(flow::fiber::detail::takeStack((100 + 4 * i) << 10)); // each has a size of its own
        stacks.back().end()[-1] = 1;
    }
    for (flow::fiber::detail::Stack stack : stacks)
        flow::fiber::detail::giveBack(stack);
    setPooledStacks(8);
    for (std::size_t i = 0; i < 16; ++i) {
        INFO(i);
        unsigned char page;
        bool isMapped = ::mincore(stacks[i].end() - 4096, 4096, &page) == 0;
        CHECK(isMapped == (i >= 8));
        if (isMapped)
            CHECK((flow::fiber::detail::residentBytes(stacks[i]) > 0) == (i >= 14));
    }
    setPooledStacks(0);
    setPooledStacks(64);
}
