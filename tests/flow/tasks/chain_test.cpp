#include "flow/tasks/chain.h"

#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>
#include <string>

namespace {
using namespace flow;

Task<int> number(Context, int n, Error error = Error()) {
    co_await delay(1);
    if (error.isValid())
        throw error;
    co_return n;
}
Task<> nothing(Context) {
    co_return;
}

TEST_CASE("then() continues with a value, or with another task") {
    SimLoop loop;
    test::Balance balance;
    Environment here;
    CHECK(loop.run(start(number(here, 3).then([](int n) { return n + 1; }))) == 4);
    CHECK(loop.run(start(number(here, 3) | then([&](int n) { return number(here, 10 * n); }))) == 30);
    std::string text = loop.run(start(nothing(here) | then([] { return std::string("done"); })));
    CHECK(text == "done");
    int seen = 0;
    loop.run(start(number(here, 3) | then([&](int n) { seen = n; })));
    CHECK(seen == 3);
}

TEST_CASE("each ending has its function") {
    SimLoop loop;
    test::Balance balance;
    Environment here;
    std::string trace;
    auto chain = [&](Error error) {
        return number(here, 3, error)
            .onValue([&](int const& n) { trace += std::to_string(n); })
            .onError([&](Error e) { trace += e.name(); })
            .onCancel([&] { trace += "cancelled"; });
    };
    CHECK(loop.run(start(chain(Error()))) == 3);
    CHECK(trace == "3");
    trace.clear();
    Future<int> failed = start(chain(timed_out()));
    CHECK_THROWS_AS(loop.run(failed), Error);
    CHECK(trace == "timed_out");
    trace.clear();
    Future<int> cancelled = start(chain(Error()));
    cancelled.cancel();
    CHECK(trace == "cancelled");
    CHECK(!loop.hasWork());
}

TEST_CASE("what a function of a chain throws is how it ends") {
    SimLoop loop;
    Environment here;
    Future<int> failed = start(number(here, 1).then([](int) -> int { throw broken_promise(); }));
    CHECK_THROWS_AS(loop.run(failed), Error);
    CHECK(failed.getError() == broken_promise());
}

} // namespace
