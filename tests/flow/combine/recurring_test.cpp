#include "flow/combine/recurring.h"

#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::test;

TEST_CASE("recurring: calls again and again until it is dropped or the function throws") {
    test::Balance balance;
    SimLoop loop;
    TraceLog log;
    int left = 3;
    auto tick = [&] {
        log.say(std::to_string(static_cast<int>(now())));
        if (left-- == 0)
            throw end_of_stream();
    };
    Future<Void> ticking = recurring(tick, 2.0);
    CHECK(log.take() == "");
    CHECK_THROWS_AS(loop.run(ticking), Error);
    CHECK(log.take() == "2 4 6 8");
    left = 100;
    ticking = recurring(tick, 1.0);
    loop.run(delay(2.5));
    CHECK(log.take() == "9 10");
    ticking = Future<Void>();
    loop.run(delay(5));
    CHECK(log.take() == "");
}

TEST_CASE("recurringAsync: the interval begins when what the function made is ready") {
    test::Balance balance;
    SimLoop loop;
    TraceLog log;
    auto work = [&]() -> Future<Void> {
        log.say(std::to_string(static_cast<int>(now())));
        co_await delay(2);
    };
    Future<Void> working = recurringAsync(work, 3.0, 1.0);
    loop.run(delay(12));
    CHECK(log.take() == "1 6 11");
    working = Future<Void>();
    CHECK_THROWS_AS(loop.run(recurringAsync([] { return Future<Void>(io_error()); }, 1.0)), Error);
}
