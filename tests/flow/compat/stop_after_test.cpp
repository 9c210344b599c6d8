#include "flow/compat/stop_after.h"

#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

using namespace flow;

namespace {
Future<int> answer(double seconds, Error error) {
    co_await delay(seconds);
    if (error.isValid())
        throw error;
    co_return 42;
}
} // namespace

TEST_CASE("stopAfter: the loop ends with the actor, value or error") {
    test::Balance balance;
    SimLoop loop;
    Future<Void> other = delay(100);
    Future<int> main = stopAfter(answer(3, Error()));
    loop.run();
    CHECK(loop.now() == 3);
    CHECK(main.get() == 42);
    main = stopAfter(answer(2, io_error()));
    loop.run();
    CHECK(loop.now() == 5);
    CHECK(main.getError() == io_error());
}

TEST_CASE("stopAfter: dropped, it stops nothing") {
    test::Balance balance;
    SimLoop loop;
    Future<int> main = stopAfter(answer(3, Error()));
    auto drop = [&]() -> Future<Void> {
        co_await delay(1);
        main = Future<int>();
        co_await delay(9);
    };
    Future<Void> dropping = drop();
    loop.run();
    CHECK(loop.now() == 10);
}
