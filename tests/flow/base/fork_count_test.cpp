#include "flow/base/fork_count.h"

#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

using namespace flow;

TEST_CASE("fork: a child counts one more, and its parent does not") {
    std::uint32_t before = forkCount();
    test::Death child = test::runInChild([&] { ::_exit(forkCount() == before + 1 ? 3 : 4); });
    CHECK(child.status == 3);
    CHECK(forkCount() == before);
}
