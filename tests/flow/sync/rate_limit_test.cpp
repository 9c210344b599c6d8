#include "flow/sync/rate_limit.h"

#include "flow/base/random.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"
#include "tests/flow/support/death.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace {
using namespace flow;

Future<Void> takeTokens(RateLimit* limit, std::size_t tokens, std::vector<double>* times) {
    co_await limit->take(tokens);
    times->push_back(now());
}

TEST_CASE("rate limit: a burst at once, then an even rate, and a burst again after a pause") {
    test::Balance balance;
    SimLoop loop;
    RateLimit limit({.perSecond = 4, .burst = 3});
    auto run = [](RateLimit* l) -> Future<Void> {
        std::vector<double> times;
        for (int i = 0; i < 6; ++i)
            co_await takeTokens(l, 1, &times);
        CHECK(times == std::vector<double>{0, 0, 0, 0.25, 0.5, 0.75});
        co_await delay(100);
        times.clear();
        for (int i = 0; i < 4; ++i)
            co_await takeTokens(l, 1, &times);
        CHECK(times == std::vector<double>{100.75, 100.75, 100.75, 101});
    };
    loop.run(run(&limit));
}

TEST_CASE("rate limit: waiters are served in order, also behind one that wants more") {
    SimLoop loop;
    RateLimit limit({.perSecond = 1, .burst = 4});
    std::vector<double> times;
    Future<Void> a = takeTokens(&limit, 3, &times), b = takeTokens(&limit, 4, &times),
                 c = takeTokens(&limit, 1, &times);
    CHECK(!limit.tryTake()); // there is a token, but others wait
    Future<Void> d = takeTokens(&limit, 2, &times);
    for (Future<Void> const& each : {a, b, c, d})
        loop.run(each);
    CHECK(times == std::vector<double>{0, 3, 4, 6});
    CHECK(!limit.tryTake());
    loop.run(delay(2));
    CHECK(limit.tryTake(2));
    CHECK(!limit.tryTake());
    CHECK(limit.tryTake(0));
}

TEST_CASE("rate limit: what loses a race, or is cancelled, has taken nothing, and those behind it move up") {
    SimLoop loop;
    RateLimit limit({.perSecond = 1, .burst = 10});
    CHECK(limit.tryTake(10));
    std::vector<double> times;
    auto lose = [](RateLimit* l) -> Future<Void> {
        auto first = co_await race(l->take(10), delay(2.5));
        CHECK(first.index() == 1);
    };
    Future<Void> losing = lose(&limit), cancelled = takeTokens(&limit, 9, &times), one = takeTokens(&limit, 1, &times);
    Future<Void> five = takeTokens(&limit, 5, &times);
    loop.run(delay(1));
    cancelled = Void();
    loop.run(one);
    loop.run(five);
    CHECK(times == std::vector<double>{2.5, 6}); // the first has its token long since, and the second at 1 + 5
    Future<Void> large = takeTokens(&limit, 9, &times), small = takeTokens(&limit, 1, &times);
    large = Void();
    loop.run(small);
    CHECK(times.back() == 7); // and not when the other would have had its tokens
}

TEST_CASE("rate limit: its end fails those that wait") {
    SimLoop loop;
    auto limit = std::make_unique<RateLimit>(RateLimit::Options{.perSecond = 1e-3});
    CHECK(limit->tryTake());
    Future<Void> waiting = keep(limit->take()), another = keep(limit->take());
    limit.reset();
    CHECK(waiting.getError() == broken_promise());
    CHECK(another.getError() == broken_promise());
    loop.run();
    CHECK(loop.now() == 0);
}

TEST_CASE("rate limit: wrong options are refused by name, and too many tokens with the caller's line") {
    auto sentence = [](RateLimit::Options options) -> std::string {
        try {
            RateLimit limit(options);
            return "";
        } catch (Error const& error) {
            CHECK(error == invalid_option_value());
            return error.what();
        }
    };
    CHECK(sentence({.perSecond = 0, .burst = 1}) == "RateLimit: perSecond is 0; it must be more than 0, and finite");
    CHECK(sentence({.perSecond = 1, .burst = 0}) == "RateLimit: burst is 0; it must be at least 1");
    for (double wrong : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        CHECK(sentence({.perSecond = wrong}) != "");
    RateLimit limit({.perSecond = 1, .burst = 2});
    CHECK_DIES((void)limit.take(3), "rate_limit_test.cpp");
    CHECK_DIES((void)limit.tryTake(3), "rate_limit_test.cpp");
}

TEST_CASE("rate limit: random users get no more than the rate, and those that wait lose nothing of it") {
    test::Balance balance;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        SimLoop loop;
        DeterministicRandom random(seed);
        double rate = 0.1 + 10 * random.random01();
        auto burst = static_cast<std::size_t>(random.randomInt(1, 6));
        RateLimit limit({.perSecond = rate, .burst = burst});
        double taken = 0, lastAt = 0;
        auto use = [](RateLimit* from, std::size_t tokens, double patience, double* sum, double* last) -> Future<Void> {
            auto first = co_await race(from->take(tokens), delay(patience));
            if (first.index() == 1)
                co_return;
            *sum += static_cast<double>(tokens);
            *last = now();
        };
        std::vector<Future<Void>> users;
        for (int i = 0; i < 200; ++i) {
            auto tokens = static_cast<std::size_t>(random.randomInt(0, static_cast<int>(burst) + 1));
            bool isPatient = random.randomInt(0, 3) != 0;
            users.push_back(use(&limit, tokens, isPatient ? 1e9 : random.random01(), &taken, &lastAt));
            if (seed % 2 == 0 && random.randomInt(0, 20) == 0)
                loop.run(delay(random.random01()));
            CHECK(taken <= static_cast<double>(burst) + rate * loop.now() + 1e-6);
        }
        for (Future<Void>& user : users)
            loop.run(user);
        CHECK(taken <= static_cast<double>(burst) + rate * lastAt + 1e-6);
        if (seed % 2 != 0) // something has waited all the time
            CHECK(taken >= rate * lastAt - 1e-6);
    }
}

TEST_CASE("rate limit: a very high rate loses no tokens, and none is gained") {
    SimLoop loop;
    loop.run(delay(1e7)); // where the clock's step is longer than the time for a token
    RateLimit limit({.perSecond = 1e10, .burst = 1000});
    auto run = [](RateLimit* l) -> Future<Void> {
        for (int i = 0; i < 100'000; ++i)
            co_await l->take(100);
    };
    loop.run(run(&limit));
    CHECK(loop.now() - 1e7 >= 0.99e-3);
    CHECK(loop.now() - 1e7 <= 1.01e-3);
}

TEST_CASE("rate limit: on the machine's clock it is not too fast") {
    RealLoop loop;
    RateLimit limit({.perSecond = 1000});
    auto run = [](RateLimit* l) -> Future<Void> {
        for (int i = 0; i < 6; ++i)
            co_await l->take();
    };
    double begin = loop.now();
    loop.run(run(&limit));
    CHECK(loop.now() - begin > 0.0049);
}

Future<int> takeThrice(RateLimit* limit, Future<int> number, test::Sentinel) {
    co_await limit->take(2);
    Future<Void> other = keep(limit->take(2));
    auto first = co_await race(limit->take(1), number);
    co_await std::move(other);
    co_return static_cast<int>(first.index());
}

TEST_CASE("rate limit: it can be cancelled at each step") {
    auto make = [](test::Inputs& in) {
        RateLimit& limit = in.keep<RateLimit>(RateLimit::Options{.perSecond = 100, .burst = 2});
        return takeThrice(&limit, in.number(0), in.sentinel());
    };
    test::cancelEverywhere("rate limit", make, {.hasHandlers = true});
}

} // namespace
