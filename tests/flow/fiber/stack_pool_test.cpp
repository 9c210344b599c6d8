#include "flow/fiber/stack_pool.h"

#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <new>
#include <sys/mman.h>
#include <vector>

using namespace flow::fiber;

TEST_CASE("stack pool: a stack has at least the requested bytes, and is reused") {
    detail::Stack stack = detail::takeStack(100'001);
    CHECK(stack.bytes >= 100'001);
    std::memset(stack.begin(), 1, stack.bytes);
    CHECK(detail::residentBytes(stack) == stack.bytes);
    detail::giveBack(stack);
    detail::Stack again = detail::takeStack(100'001);
    CHECK(again.memory == stack.memory);
    detail::Stack other = detail::takeStack(200'000);
    CHECK(other.memory != stack.memory);
    detail::giveBack(again);
    detail::giveBack(other);
}

TEST_CASE("stack pool: what is fresh uses no memory") {
    detail::Stack stack = detail::takeStack(777 << 10);
    CHECK(detail::residentBytes(stack) == 0);
    stack.end()[-1] = 1;
    CHECK(detail::residentBytes(stack) > 0);
    CHECK(detail::residentBytes(stack) < 16 << 10);
    detail::giveBack(stack);
}

TEST_CASE("stack pool: a size that no memory can have is bad_alloc") {
    CHECK_THROWS_AS((void)detail::takeStack(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
    CHECK_THROWS_AS((void)detail::takeStack(std::numeric_limits<std::size_t>::max() - (32 << 10)), std::bad_alloc);
    CHECK_THROWS_AS((void)detail::takeStack(std::size_t{1} << 60), std::bad_alloc);
    CHECK_THROWS_AS(setPooledStacks(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
    setPooledStacks(64);
}

TEST_CASE("stack pool: keeps no more stacks than its limit, whatever their sizes, and a quarter with memory") {
    std::vector<detail::Stack> stacks;
    setPooledStacks(0); // empties it
    setPooledStacks(24);
    for (std::size_t i = 0; i < 40; ++i) {
        stacks.push_back(detail::takeStack((100 + 4 * i) << 10)); // each has a size of its own
        stacks.back().end()[-1] = 1;
    }
    for (detail::Stack stack : stacks)
        detail::giveBack(stack);
    for (std::size_t i = 0; i < 40; ++i) {
        INFO(i);
        unsigned char page;
        bool isMapped = ::mincore(stacks[i].end() - 4096, 4096, &page) == 0;
        CHECK(isMapped == (i >= 16));
        if (isMapped)
            CHECK((detail::residentBytes(stacks[i]) > 0) == (i >= 34));
    }
    setPooledStacks(0);
    for (detail::Stack stack : stacks)
        CHECK(detail::residentBytes(stack) == 0);
    setPooledStacks(64);
}

TEST_CASE("stack pool: a stack that is taken and given back again and again keeps its memory") {
    detail::Stack stack = detail::takeStack(64 << 10);
    std::memset(stack.begin(), 1, stack.bytes);
    detail::giveBack(stack);
    for (int i = 0; i < 100; ++i) {
        detail::Stack again = detail::takeStack(64 << 10);
        CHECK(again.memory == stack.memory);
        CHECK(detail::residentBytes(again) == stack.bytes);
        detail::giveBack(again);
    }
}

TEST_CASE("stack pool: a lower limit gives back what has been unused for longest, and memory") {
    setPooledStacks(0);
    setPooledStacks(64);
    std::vector<detail::Stack> stacks;
    for (std::size_t i = 0; i < 16; ++i) {
        stacks.push_back(detail::takeStack((100 + 4 * i) << 10)); // each has a size of its own
        stacks.back().end()[-1] = 1;
    }
    for (detail::Stack stack : stacks)
        detail::giveBack(stack);
    setPooledStacks(8);
    for (std::size_t i = 0; i < 16; ++i) {
        INFO(i);
        unsigned char page;
        bool isMapped = ::mincore(stacks[i].end() - 4096, 4096, &page) == 0;
        CHECK(isMapped == (i >= 8));
        if (isMapped)
            CHECK((detail::residentBytes(stacks[i]) > 0) == (i >= 14));
    }
    setPooledStacks(0);
    setPooledStacks(64);
}
