#include "flow/base/stack.h"

#include "tests/flow/support/small_stack.h"

#include <doctest/doctest.h>

using namespace flow;

namespace {

/// Levels until the stack is short; each takes 1 KiB, and somewhat more under AddressSanitizer.
int descend(int level) {
    volatile char room[1024];
    room[level % 1024] = 1;
    return stackIsShort() ? level : descend(level + 1) + room[level % 1024] - 1;
}

} // namespace

TEST_CASE("stack: there is room at first, and three quarters can be used") {
    CHECK_FALSE(stackIsShort());
    test::onSmallStack(1 << 20, [] {
        CHECK_FALSE(stackIsShort());
        int levels = descend(0);
        CHECK(levels > 768 / 4);
        CHECK(levels < 768);
        CHECK_FALSE(stackIsShort());
    });
}

TEST_CASE("stack: of another than the thread's nothing is known") {
    test::onForeignStack([] { CHECK(stackIsShort()); });
    CHECK_FALSE(stackIsShort());
}
