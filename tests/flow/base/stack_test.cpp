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
