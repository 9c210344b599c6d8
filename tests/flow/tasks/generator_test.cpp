#include "flow/tasks/generator.h"

#include "flow/combine/race.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>
#include <string>

namespace {
using namespace flow;

Generator<int> below(int end, int failsAt = -1) {
    for (int i = 0; i < end; ++i) {
        if (i == failsAt)
            throw timed_out();
        co_yield i;
    }
}

TEST_CASE("a generator gives its values to a loop, and its error") {
    int sum = 0;
    for (int i : below(5))
        sum += i;
    CHECK(sum == 10);
    for (int i : below(0))
        sum += i;
    Generator<int> failing = below(5, 2);
    sum = 0;
    try {
        for (int i : failing)
            sum += 10 + i;
    } catch (Error const& error) {
        CHECK(error == timed_out());
    }
    CHECK(sum == 21);
    Generator<int> unread = below(3); // never begins
}

TEST_CASE("the frame of a generator comes from FastAllocator") {
    test::Balance balance;
    Generator<int> (*volatile make)(int, int) = below; // so that the compiler cannot do without the frame
    std::uint64_t before = memory::totalStatistics().allocated;
    Generator<int> numbers = make(3, -1);
    CHECK(memory::totalStatistics().allocated == before + 1);
}

AsyncGenerator<std::string> words(Context, std::string* trace, int count, bool fails = false) {
    struct End {
        std::string* trace;
        ~End() { *trace += "end "; }
    } end{trace};
    for (int i = 0; i < count; ++i) {
        co_await delay(1);
        *trace += "make ";
        co_yield std::to_string(i);
    }
    if (fails)
        throw timed_out();
}

TEST_CASE("an asynchronous generator waits, gives its values in order, and ends") {
    SimLoop loop;
    test::Balance balance;
    std::string trace;
    auto body = [](Context, std::string* trace) -> Task<> {
        AsyncGenerator<std::string> all = words(co_await context(), trace, 3);
        for (;;) {
            std::optional<std::string> word = co_await all.next();
            if (!word)
                break;
            *trace += *word + " ";
        }
        std::optional<std::string> more = co_await all.next();
        CHECK(!more);
    };
    loop.run(start(body(Environment(), &trace)));
    CHECK(trace == "make 0 make 1 make 2 end ");
    CHECK(loop.now() == 3);
}

TEST_CASE("what it throws comes out of next(), once") {
    SimLoop loop;
    test::Balance balance;
    std::string trace;
    auto body = [](Context, std::string* trace) -> Task<> {
        AsyncGenerator<std::string> all = words(co_await context(), trace, 1, true);
        std::optional<std::string> word = co_await all.next();
        CHECK(word == "0");
        Error error;
        try {
            word = co_await all.next();
        } catch (...) {
            error = currentError();
        }
        CHECK(error == timed_out());
        word = co_await all.next();
        CHECK(!word);
    };
    loop.run(start(body(Environment(), &trace)));
}

TEST_CASE("a next() that loses a race has taken nothing; dropping the handle cancels the body") {
    SimLoop loop;
    test::Balance balance;
    std::string trace;
    auto body = [](Context, std::string* trace) -> Task<> {
        {
            AsyncGenerator<std::string> all = words(co_await context(), trace, 3);
            auto first = co_await race(all.next(), delay(0.5));
            CHECK(first.index() == 1);
            std::optional<std::string> word = co_await all.next();
            CHECK(word == "0");
            co_await delay(5); // the second value waits
        }
        *trace += "dropped ";
    };
    loop.run(start(body(Environment(), &trace)));
    CHECK(trace == "make make end dropped ");
}

TEST_CASE("it can be cancelled with its parent at every step") {
    for (int step = 0; step < 12; ++step) {
        SimLoop loop;
        test::Balance balance;
        std::string trace;
        auto body = [](Context, std::string* trace) -> Task<int> {
            AsyncGenerator<std::string> all = words(co_await context(), trace, 4);
            int count = 0;
            for (;;) {
                std::optional<std::string> word = co_await all.next();
                if (!word)
                    co_return count;
                ++count;
            }
        };
        Future<int> running = start(body(Environment(), &trace));
        loop.run(delay(step * 0.5));
        running.cancel();
        CHECK(running.isReady());
        CHECK(trace.ends_with("end "));
    }
}

} // namespace
