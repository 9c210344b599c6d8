#include "flow/sync/ticks.h"

#include "flow/base/format.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"

#include <doctest/doctest.h>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {
using namespace flow;

using TicksSeen = std::vector<std::pair<double, std::uint64_t>>; // when, and how many were missed

/// Takes a tick for each of the times of `work`, and then works so long.
Future<Void> useTicks(Ticks* ticks, std::vector<double> work, TicksSeen* seen) {
    for (double seconds : work) {
        std::uint64_t missed = co_await ticks->next();
        seen->emplace_back(now(), missed);
        if (seconds > 0)
            co_await delay(seconds);
    }
}

TEST_CASE("ticks: work between them does not move them, and those that are missed are skipped") {
    test::Balance balance;
    SimLoop loop;
    loop.run(delay(10));
    Ticks ticks(1.0);
    TicksSeen seen;
    loop.run(useTicks(&ticks, {0.3, 0.9, 2.5, 0, 0, 4, 0}, &seen));
    // the third one works from 13 to 15.5: the ticks at 14 and 15 are taken as one, and those at 18 to 21 at 21
    CHECK(seen == TicksSeen{{11, 0}, {12, 0}, {13, 0}, {15.5, 1}, {16, 0}, {17, 0}, {21, 3}});
}

TEST_CASE("ticks: or those that are missed are made up") {
    SimLoop loop;
    Ticks ticks(1.0, Ticks::Missed::MakeUp);
    TicksSeen seen;
    loop.run(useTicks(&ticks, {2.5, 0, 0, 0}, &seen));
    CHECK(seen == TicksSeen{{1, 0}, {3.5, 0}, {3.5, 0}, {4, 0}});
}

TEST_CASE("ticks: they do not drift") {
    SimLoop loop;
    loop.run(delay(1e6));
    Ticks ticks(0.1);
    auto count = [](Ticks* t) -> Future<std::uint64_t> {
        std::uint64_t sum = 0;
        for (int i = 0; i < 100'000; ++i) {
            std::uint64_t missed = co_await t->next();
            sum += missed;
        }
        co_return sum;
    };
    CHECK(loop.run(count(&ticks)) == 0);
    CHECK(loop.now() == 1e6 + 1e4);
}

TEST_CASE("ticks: what loses a race, or is cancelled, has taken no tick") {
    SimLoop loop;
    Ticks ticks(1.0);
    auto lose = [](Ticks* t) -> Future<Void> {
        auto first = co_await race(t->next(), delay(0.4));
        CHECK(first.index() == 1);
        Future<std::uint64_t> kept = keep(t->next());
        kept.cancel();
        co_await delay(0.9); // until 1.3
        auto second = co_await race(Future<Void>(Void()), t->next());
        CHECK(second.index() == 0);
        auto third = co_await race(t->next(), Future<Void>(Void())); // the tick is still there
        CHECK(third.index() == 0);
        CHECK(std::get<0>(third) == 0);
        CHECK(now() == doctest::Approx(1.3));
        co_await t->next();
        CHECK(now() == 2);
    };
    loop.run(lose(&ticks));
}

TEST_CASE("ticks: each goes to one waiter, the oldest; their end fails the others") {
    SimLoop loop;
    auto ticks = std::make_unique<Ticks>(1.0);
    Future<std::uint64_t> one = keep(ticks->next()), two = keep(ticks->next()), three = keep(ticks->next());
    Future<std::uint64_t> four = keep(ticks->next());
    loop.run(delay(1.5));
    CHECK(one.isReady());
    CHECK(!two.isReady());
    two = Future<std::uint64_t>();
    loop.run(three);
    CHECK(loop.now() == 2);
    ticks.reset();
    CHECK(four.getError() == broken_promise());
}

TEST_CASE("ticks: a wrong interval is refused by name") {
    SimLoop loop;
    for (double wrong : {0.0, -1.0, 1e-10, 1e10, std::numeric_limits<double>::quiet_NaN()}) {
        CAPTURE(wrong);
        std::string sentence;
        try {
            Ticks ticks(wrong);
        } catch (Error const& error) {
            sentence = error.what();
        }
        CHECK(sentence == format("Ticks: interval is %g; it must be from 1e-9 to 1e9 seconds", wrong));
    }
}

TEST_CASE("ticks: on the machine's clock none comes early, and none is lost") {
    RealLoop loop;
    auto count = [](double begin) -> Future<Void> {
        Ticks ticks(0.002);
        std::uint64_t number = 0;
        while (number < 5) {
            std::uint64_t missed = co_await ticks.next();
            number += 1 + missed;
            CHECK(now() - begin > 0.00199 * static_cast<double>(number));
        }
    };
    loop.run(count(loop.now()));
}

Future<int> takeThree(Ticks* shared, Future<int> number, test::Sentinel) {
    Ticks own(0.01);
    co_await own.next();
    auto first = co_await race(shared->next(), number);
    co_await own.next();
    co_return static_cast<int>(first.index());
}

TEST_CASE("ticks: they can be cancelled at each step") {
    auto make = [](test::Inputs& in) { return takeThree(&in.keep<Ticks>(0.01), in.number(0), in.sentinel()); };
    test::cancelEverywhere("ticks", make, {.hasHandlers = true});
}

} // namespace
