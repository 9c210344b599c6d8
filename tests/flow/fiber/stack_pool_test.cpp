#include "flow/fiber/stack_pool.h"

#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <new>

using namespace flow::fiber;

TEST_CASE("stack pool: a stack has at least the bytes that were asked for, and is given out again") {
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
    CHECK_THROWS_AS((void)detail::takeStack(std::size_t{1} << 60), std::bad_alloc);
}
