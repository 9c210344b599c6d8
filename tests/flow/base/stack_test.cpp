#include "flow/base/stack.h"

#include "tests/flow/support/small_stack.h"

#include <cstdint>
#include <doctest/doctest.h>

using namespace flow;

namespace {

std::uintptr_t here() {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

/// Sanitizers make it larger than it was to be.
std::size_t stackBytes() {
    pthread_attr_t attributes;
    std::size_t bytes = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
    return bytes;
}

/// Where the stack is short.
std::uintptr_t descend(int level) {
    volatile char room[256];
    room[level % 256] = 1;
    return stackIsShort() ? here() : descend(level + 1) + room[level % 256] - 1;
}

} // namespace

TEST_CASE("stack: there is room at first, and three quarters can be used") {
    CHECK_FALSE(stackIsShort());
    test::onSmallStack(4 << 20, [] {
        std::size_t bytes = stackBytes();
        CHECK_FALSE(stackIsShort());
        std::uintptr_t used = here() - descend(0);
        CHECK(used > bytes * 70 / 100);
        CHECK(used < bytes * 76 / 100);
        CHECK_FALSE(stackIsShort());
    });
}

TEST_CASE("stack: of another than the thread's nothing is known") {
    test::onForeignStack([] { CHECK(stackIsShort()); });
    CHECK_FALSE(stackIsShort());
}

TEST_CASE("stack: a new one has room, and the old one is known again afterwards") {
    test::onSmallStack(256 << 10, [] {
        bool isShort = true;
        std::uintptr_t outside = here();
        std::uintptr_t inside = outside;
        onNewStack([&] {
            isShort = stackIsShort();
            inside = here();
        });
        CHECK_FALSE(isShort);
        CHECK((inside > outside ? inside - outside : outside - inside) > stackBytes());
        CHECK_FALSE(stackIsShort());
    });
    test::onForeignStack([] {
        bool isShort = true;
        onNewStack([&] { isShort = stackIsShort(); });
        CHECK_FALSE(isShort);
        CHECK(stackIsShort());
    });
}

namespace {

/// As deep as one likes.
int count(int levels) {
    volatile int one = 1; // so that no loop is made of it
    if (levels == 0)
        return 0;
    if (!stackIsShort())
        return one + count(levels - 1);
    int result = 0;
    onNewStack([&] { result = one + count(levels - 1); });
    return result;
}

} // namespace

TEST_CASE("stack: recursion goes on from one to the next, and exceptions are caught within each") {
    test::onSmallStack(256 << 10, [] {
        CHECK(count(test::kManyLinks) == test::kManyLinks);
        bool caught = false;
        onNewStack([&] {
            try {
                throw 1;
            } catch (int) {
                caught = true;
            }
        });
        CHECK(caught);
    });
}
