#include "flow/core/void.h"

#include "flow/core/future.h"

#include <doctest/doctest.h>

#include <type_traits>

using namespace flow;

static_assert(std::is_empty_v<Void>);

TEST_CASE("Void: takes no room in front of a cell, and a future of it is ready like others") {
    CHECK(detail::kPrefixBytes<Void> == 0);
    Promise<Void> promise;
    Future<Void> future = promise.getFuture();
    CHECK_FALSE(future.isReady());
    promise.send(Void());
    CHECK(future.canGet());
}
