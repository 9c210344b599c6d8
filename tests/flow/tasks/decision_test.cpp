#include "flow/tasks/detail/decision.h"

#include "flow/sim/sim_loop.h"

#include <doctest/doctest.h>
#include <source_location>

namespace {
using namespace flow;
using tasks::Decision;

template <class F>
void inTask(F f) {
    SimLoop loop;
    auto body = [](Context, F check) -> Task<> { check(co_await context()); };
    loop.run(start(body(Environment(), std::move(f))));
}

TEST_CASE("a decision is made by the last value that it needs") {
    inTask([](Context here) {
        Decision decision(here, std::source_location::current(), 2, 1);
        CHECK(decision.succeeded(4));
        decision.failed(2, timed_out());
        CHECK(!decision.isMade());
        CHECK(decision.succeeded(3));
        CHECK(decision.isMade());
        CHECK(decision.winner() == 3);
        CHECK(!decision.succeeded(5)); // too late
        decision.failed(6, timed_out());
        decision.throwIfFailed();
    });
}

TEST_CASE("a decision is made by the first error that is one too many") {
    inTask([](Context here) {
        Decision decision(here, std::source_location::current(), 2, 1);
        decision.failed(0, timed_out());
        decision.failed(1, broken_promise());
        CHECK(decision.isMade());
        CHECK(decision.winner() == 1);
        CHECK_THROWS_AS(decision.throwIfFailed(), Error);
    });
}

} // namespace
