#include "flow/fiber/detail/stack_pool.h"

#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <new>
#include <sys/mman.h>
#include <vector>

using namespace flow::fiber;
namespace pool = flow::fiber::detail;

TEST_CASE("stack pool: a stack has at least the requested bytes, and is reused") {
    pool::Stack stack = pool::takeStack(100'001);
    CHECK(stack.bytes >= 100'001);
    std::memset(stack.begin(), 1, stack.bytes);
    CHECK(pool::residentBytes(stack) == stack.bytes);
    pool::giveBack(stack);
    pool::Stack again = pool::takeStack(100'001);
    CHECK(again.memory == stack.memory);
    pool::Stack other = pool::takeStack(200'000);
    CHECK(other.memory != stack.memory);
    pool::giveBack(again);
    pool::giveBack(other);
}

TEST_CASE("stack pool: what is fresh uses no memory") {
    pool::Stack stack = pool::takeStack(777 << 10);
    CHECK(pool::residentBytes(stack) == 0);
    stack.end()[-1] = 1;
    CHECK(pool::residentBytes(stack) > 0);
    CHECK(pool::residentBytes(stack) < 16 << 10);
    pool::giveBack(stack);
}

TEST_CASE("stack pool: a size that no memory can have is bad_alloc") {
    CHECK_THROWS_AS((void)pool::takeStack(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
    CHECK_THROWS_AS((void)pool::takeStack(std::numeric_limits<std::size_t>::max() - (32 << 10)), std::bad_alloc);
    CHECK_THROWS_AS((void)pool::takeStack(std::size_t{1} << 60), std::bad_alloc);
    CHECK_THROWS_AS(setPooledStacks(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
    setPooledStacks(64);
}

TEST_CASE("stack pool: keeps no more stacks than its limit, whatever their sizes, and a quarter with memory") {
    std::vector<pool::Stack> stacks;
    setPooledStacks(0); // empties it
    setPooledStacks(24);
    for (std::size_t i = 0; i < 40; ++i) {
        stacks.push_back(pool::takeStack((100 + 4 * i) << 10)); // each has a size of its own
        stacks.back().end()[-1] = 1;
    }
    for (pool::Stack stack : stacks)
        pool::giveBack(stack);
    for (std::size_t i = 0; i < 40; ++i) {
        INFO(i);
        unsigned char page;
        bool isMapped = ::mincore(stacks[i].end() - 4096, 4096, &page) == 0;
        CHECK(isMapped == (i >= 16));
        if (isMapped)
            CHECK((pool::residentBytes(stacks[i]) > 0) == (i >= 34));
    }
    setPooledStacks(0);
    for (pool::Stack stack : stacks)
        CHECK(pool::residentBytes(stack) == 0);
    setPooledStacks(64);
}

TEST_CASE("stack pool: a stack that is taken and given back again and again keeps its memory") {
    pool::Stack stack = pool::takeStack(64 << 10);
    std::memset(stack.begin(), 1, stack.bytes);
    pool::giveBack(stack);
    for (int i = 0; i < 100; ++i) {
        pool::Stack again = pool::takeStack(64 << 10);
        CHECK(again.memory == stack.memory);
        CHECK(pool::residentBytes(again) == stack.bytes);
        pool::giveBack(again);
    }
}

TEST_CASE("stack pool: a lower limit gives back what has been unused for longest, and memory") {
    setPooledStacks(0);
    setPooledStacks(64);
    std::vector<pool::Stack> stacks;
    for (std::size_t i = 0; i < 16; ++i) {
        stacks.push_back(pool::takeStack((100 + 4 * i) << 10)); // each has a size of its own
        stacks.back().end()[-1] = 1;
    }
    for (pool::Stack stack : stacks)
        pool::giveBack(stack);
    setPooledStacks(8);
    for (std::size_t i = 0; i < 16; ++i) {
        INFO(i);
        unsigned char page;
        bool isMapped = ::mincore(stacks[i].end() - 4096, 4096, &page) == 0;
        CHECK(isMapped == (i >= 8));
        if (isMapped)
            CHECK((pool::residentBytes(stacks[i]) > 0) == (i >= 14));
    }
    setPooledStacks(0);
    setPooledStacks(64);
}
