#include "flow/tasks/combine.h"

#include "flow/sim/sim_loop.h"
#include "flow/sync/channel.h"
#include "flow/sync/semaphore.h"
#include "flow/wait/yielded.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"

#include <array>
#include <doctest/doctest.h>
#include <memory>
#include <ranges>
#include <span>
#include <string>

namespace {
using namespace flow;

std::string endTrace;

Task<int> later(Context, int value, double seconds) {
    struct End {
        int value;
        ~End() { endTrace += std::to_string(value); }
    } end{value};
    co_await delay(seconds);
    co_return value;
}
Task<int> failing(Context, double seconds) {
    co_await delay(seconds);
    throw timed_out();
}
Task<> waits(Context) {
    co_await delay(0.5);
}

/// Runs the task that f(context) gives in a task, on a simulated loop; checks that nothing is left.
template <class F>
auto inTaskOf(F f) {
    endTrace.clear();
    SimLoop loop;
    auto body = [](Context, F make) -> Task<typename std::invoke_result_t<F&, Context>::Element> {
        Context here = co_await context();
        auto task = make(here);
        auto value = co_await std::move(task);
        co_return value;
    };
    auto result = loop.run(start(body(Environment(), std::move(f))));
    CHECK(!loop.hasWork());
    return result;
}
template <class F>
Error errorOf(F f) {
    try {
        (void)inTaskOf(std::move(f));
    } catch (Error const& error) {
        return error;
    }
    return Error();
}
std::vector<Task<int>> tasks(Context here, std::initializer_list<std::pair<int, double>> list) {
    std::vector<Task<int>> made;
    for (auto [value, seconds] : list)
        made.push_back(value < 0 ? failing(here, seconds) : later(here, value, seconds));
    return made;
}

TEST_CASE("all gives all values") {
    auto [a, b, c] =
        inTaskOf([](Context here) { return all(here, later(here, 1, 2), waits(here), later(here, 3, 1)); });
    CHECK(a == 1);
    CHECK(c == 3);
    CHECK(endTrace == "31");
    std::pmr::vector<int> values =
        inTaskOf([](Context here) { return all(here, tasks(here, {{1, 2.0}, {2, 1.0}, {3, 3.0}})); });
    CHECK(values == std::pmr::vector<int>{1, 2, 3});
    CHECK(inTaskOf([](Context here) { return all(here, std::vector<Task<int>>()); }).empty());
}

TEST_CASE("all cancels the rest at the first error, and fails with it") {
    CHECK(errorOf([](Context here) { return all(here, later(here, 1, 5), failing(here, 1)); }) == timed_out());
    CHECK(endTrace == "1");
    CHECK(errorOf([](Context here) { return all(here, tasks(here, {{1, 2.0}, {-1, 1.0}, {3, 0.5}})); }) == timed_out());
    CHECK(endTrace == "31");
}

TEST_CASE("all takes forks and futures as well") {
    auto [a, b] = inTaskOf([](Context here) {
        Promise<int> promise;
        auto fork = [](Context, Promise<int> p) -> Fork<int> {
            co_await delay(1);
            p.send(5);
            co_return 4;
        };
        return all(here, fork(here, promise), promise.getFuture());
    });
    CHECK(a == 4);
    CHECK(b == 5);
}

TEST_CASE("some gives the first values in order of place, and passes over errors while it can") {
    auto won =
        inTaskOf([](Context here) { return some(here, 2, tasks(here, {{1, 3.0}, {2, 2.0}, {-1, 0.5}, {4, 1.0}})); });
    REQUIRE(won.size() == 2);
    CHECK(won[0].index() == 1);
    CHECK(won[0].value() == 2);
    CHECK(won[1].index() == 3);
    CHECK(errorOf([](Context here) { return some(here, 2, tasks(here, {{1, 3.0}, {-1, 2.0}})); }) == timed_out());
    CHECK(errorOf([](Context here) { return some(here, 1, tasks(here, {{-1, 0.5}, {-1, 2.0}})); }) == timed_out());
    CHECK(inTaskOf([](Context here) { return some(here, 0, tasks(here, {{1, 3.0}})); }).empty());
    CHECK(errorOf([](Context here) { return some(here, 1, std::vector<Task<int>>()); }) == client_invalid_operation());
}

TEST_CASE("race says which has won, be it by an error") {
    auto won = inTaskOf([](Context here) { return race(here, tasks(here, {{1, 3.0}, {2, 2.0}, {-1, 5.0}})); });
    CHECK(won.index() == 1);
    CHECK(won.value() == 2);
    CHECK(errorOf([](Context here) { return race(here, tasks(here, {{1, 3.0}, {-1, 2.0}})); }) == timed_out());
    CHECK(endTrace == "1");
    auto first = inTaskOf([](Context here) { return race(here, later(here, 1, 3), waits(here), delay(1)); });
    CHECK(first.index() == 1);
    CHECK(endTrace == "1");
}

TEST_CASE("a race of none is never ready, and can be cancelled") {
    SimLoop loop;
    test::Balance balance;
    Future<Winner<int>> none = start(race(Environment(), std::vector<Future<int>>()));
    loop.run(delay(1));
    CHECK_FALSE(none.isReady());
    none.cancel();
    CHECK(none.getError() == actor_cancelled());
}

TEST_CASE("streams, operations, delays and callables are operands too; those that lose have given nothing") {
    Channel<int> channel(1);
    PromiseStream<int> stream;
    auto first = inTaskOf([&](Context here) {
        return race(here, channel.receive(), stream.getFuture(), [here] { return later(here, 3, 1); }, delay(2));
    });
    CHECK(first.index() == 2);
    CHECK(std::get<2>(first) == 3);
    CHECK(keep(channel.send(1)).isReady());
    stream.send(2);
    CHECK(channel.size() == 1);
    bool begun = false;
    first = inTaskOf([&](Context here) {
        return race(
            here, channel.receive(), stream.getFuture(),
            [&, here] {
                begun = true;
                return later(here, 3, 1);
            },
            delay(2));
    });
    CHECK(std::get<0>(first) == 1);
    CHECK_FALSE(begun);
    CHECK(stream.getFuture().pop() == 2);
    stream.send(4);
    auto [number, nothing, yielded] =
        inTaskOf([&](Context here) { return all(here, stream.getFuture(), delay(1), yield()); });
    CHECK(number == 4);
    CHECK(inTaskOf([&](Context here) { return timeout(here, stream.getFuture(), 1); }).present() == false);
    stream.send(5);
    CHECK(stream.getFuture().pop() == 5);
}

TEST_CASE("operations in place without a value are operands too") {
    Semaphore permits(2);
    auto first = inTaskOf([&](Context here) { return race(here, later(here, 1, 1.0), permits.acquire()); });
    CHECK(first.index() == 1);
    inTaskOf([&](Context here) { return all(here, permits.acquire(), yield()); });
    CHECK(permits.permits() == 0);
    CHECK(!inTaskOf([&](Context here) { return timeout(here, permits.acquire(), 1.0); }).present());
    permits.release(2);
}

TEST_CASE("timeout and timeoutError give a value in time, or cancel the operand") {
    CHECK(inTaskOf([](Context here) { return timeoutError(here, later(here, 7, 1), 2); }) == 7);
    CHECK(errorOf([](Context here) { return timeoutError(here, later(here, 7, 3), 2); }) == timed_out());
    CHECK(endTrace == "7");
    CHECK(errorOf([](Context here) { return timeoutError(here, failing(here, 1), 2); }) == timed_out());
    SimLoop loop;
    Environment here;
    loop.run(start(timeoutError(here, waits(here), 1)));
    CHECK(loop.now() == 0.5);
    CHECK_THROWS_AS(loop.run(start(timeoutError(here, waits(here), 0.25))), Error);
    CHECK(inTaskOf([](Context here) { return timeout(here, later(here, 7, 1), 2, -1); }) == 7);
    CHECK(inTaskOf([](Context here) { return timeout(here, later(here, 7, 3), 2, -1); }) == -1);
    CHECK(inTaskOf([](Context here) { return timeout(here, later(here, 7, 1), 2); }).get() == 7);
    CHECK_FALSE(inTaskOf([](Context here) { return timeout(here, later(here, 7, 3), 2); }).present());
}

/// Fails so many times, each after a second.
Task<int> attempt(Context, int* left, Error error) {
    co_await delay(1);
    if (--*left > 0)
        throw error;
    co_return 7;
}
Task<int> attempts(Context, RetryPolicy policy, int* left, Error error) {
    auto again = [left, error](Context here) { return attempt(here, left, error); };
    co_return co_await retry(co_await context(), policy, again);
}

TEST_CASE("retry tries again, each time later") {
    SimLoop loop;
    test::Balance balance;
    int left = 4;
    RetryPolicy policy{.attempts = 5, .backoff = 1, .factor = 3, .longest = 5, .jitter = 0};
    CHECK(loop.run(start(attempts(Environment(), policy, &left, timed_out()))) == 7);
    CHECK(loop.now() == 4 + 1 + 3 + 5);
}

TEST_CASE("retry takes futures and operations as well, and tasks without a Context") {
    SimLoop loop;
    test::Balance balance;
    Channel<int> channel(1);
    int failures = 2;
    RetryPolicy policy{.attempts = 3, .jitter = 0};
    auto receive = [&](Context) {
        if (--failures >= 0)
            throw timed_out();
        return channel.receive();
    };
    CHECK(keep(channel.send(5)).isReady());
    CHECK(loop.run(start(retry(Environment(), policy, receive))) == 5);
    CHECK(loop.run(start(retry(Environment(), policy, [](Context) { return Future<int>(6); }))) == 6);
    CHECK(loop.run(start(retry(Environment(), policy, [] { return Future<int>(6); }))) == 6);
    loop.run(start(retry(Environment(), policy, [] { return delay(1); })));
    CHECK(loop.run(start(retry(Environment(), policy, [] { return [] { return Future<int>(6); }; }))) == 6);
    int left = 3;
    CHECK(loop.run(retry(policy, [&] { return attempt(Environment(), &left, timed_out()); })) == 7);
    CHECK(keep(channel.send(8)).isReady());
    CHECK(loop.run(retry(policy, [&] { return channel.receive(); })) == 8);
}

TEST_CASE("retry fails after so many attempts, with the last error") {
    SimLoop loop;
    int left = 9;
    Future<int> failed = start(attempts(Environment(), {.attempts = 3}, &left, timed_out()));
    CHECK_THROWS_AS(loop.run(failed), Error);
    CHECK(failed.getError() == timed_out());
    CHECK(left == 6);
}

TEST_CASE("retry leaves errors that are not worth it, and cancels") {
    SimLoop loop;
    int left = 9;
    RetryPolicy policy{.retries = [](Error error) { return error != broken_promise(); }};
    Future<int> failed = start(attempts(Environment(), policy, &left, broken_promise()));
    CHECK_THROWS_AS(loop.run(failed), Error);
    CHECK(left == 8);
    Future<int> cancelled = start(attempts(Environment(), {}, &left, timed_out()));
    loop.run(delay(0.5));
    cancelled.cancel();
    CHECK(left == 8);
    CHECK(!loop.hasWork());
}

TEST_CASE("a cancel reaches all operands") {
    SimLoop loop;
    endTrace.clear();
    test::Balance balance;
    auto body = [](Context) -> Task<> {
        Context here = co_await context();
        Task<std::tuple<int, int>> both = all(here, later(here, 1, 5), later(here, 2, 6));
        co_await both;
    };
    Future<Void> running = start(body(Environment()));
    loop.run(delay(1));
    running.cancel();
    CHECK(endTrace.size() == 2);
    CHECK(running.getError() == actor_cancelled());
    CHECK(!loop.hasWork());
}

/// Refuses one allocation.
struct Refusing : std::pmr::memory_resource {
    explicit Refusing(int n) : left(n) {}
    int left;
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (left-- == 0)
            throw std::bad_alloc();
        return fastMemory().allocate(bytes, alignment);
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        fastMemory().deallocate(block, bytes, alignment);
    }
    bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }
};

/// A function of its own, since gcc 12 does not translate a braced list within a co_await.
std::vector<Task<int>> threeTasks(Context here) {
    return tasks(here, {{1, 2.0}, {2, 1.0}, {3, 3.0}});
}

TEST_CASE("without memory for one of its parts, all fails and leaves nothing behind") {
    int failures = 0;
    for (int refused = 0; refused < 20; ++refused) {
        CAPTURE(refused);
        SimLoop loop;
        test::Balance balance;
        Refusing memory(refused);
        auto body = [](Context) -> Task<int> {
            Context here = co_await context();
            std::pmr::vector<int> values = co_await all(here, threeTasks(here));
            co_return static_cast<int>(values.size());
        };
        try {
            int count = loop.run(start(body(Environment(memory))));
            CHECK(count == 3);
        } catch (std::bad_alloc const&) {
            ++failures;
        }
        CHECK(!loop.hasWork());
    }
    CHECK(failures == 10); // the body, three tasks, all, its results, three operands, the values
}

} // namespace

TEST_CASE("all, race and some with a Context take every range that has a size") {
    auto two = [](Context here) { return std::array{later(here, 1, 2), later(here, 2, 1)}; };
    auto sums = inTaskOf([&](Context here) { return all(here, two(here)); });
    CHECK((sums.size() == 2 && sums[0] == 1 && sums[1] == 2));
    CHECK(inTaskOf([&](Context here) { return race(here, two(here)); }).index() == 1);
    CHECK(inTaskOf([&](Context here) { return some(here, 1, two(here)); }).at(0).value() == 2);
    std::array futures{Future<int>(1), Future<int>(2)};
    CHECK(inTaskOf([&](Context here) { return all(here, std::span(futures)); }).at(1) == 2);
    CHECK(futures[1].isValid()); // a span does not own them
    std::array<int, 2> numbers{1, 2};
    auto made = [&](Context here) {
        return all(here, numbers | std::views::transform([here](int n) { return later(here, 5 * n, n); }));
    };
    CHECK(inTaskOf(made).at(1) == 10);
}

TEST_CASE("combine with a Context: an invalid future names the caller, however many operands there are") {
    auto with = [](auto make) {
        SimLoop loop;
        loop.run(start([](Context, auto make) -> Task<> {
            Context here = co_await context();
            Future<int> none;
            auto task = make(here, none);
            (void)co_await std::move(task);
        }(Environment(), make)));
    };
    CHECK_NAMES_CALLER(with([](Context here, auto none) { return all(here, none); }));
    CHECK_NAMES_CALLER(with([](Context here, auto none) { return all(here, delay(1), delay(1), delay(1), none); }));
    CHECK_NAMES_CALLER(with([](Context here, auto none) { return all(here, std::vector{none}); }));
    CHECK_NAMES_CALLER(with([](Context here, auto none) { return race(here, delay(1), none); }));
    CHECK_NAMES_CALLER(with([](Context here, auto none) { return race(here, std::array{none}); }));
    CHECK_NAMES_CALLER(with([](Context here, auto none) { return some(here, 1, std::vector{none}); }));
    CHECK_NAMES_CALLER(with([](Context here, auto none) { return timeout(here, none, 1.0); }));
    CHECK_NAMES_CALLER(with([](Context here, auto none) { return timeout(here, none, 1.0, 3); }));
    CHECK_NAMES_CALLER(with([](Context here, auto none) { return timeoutError(here, none, 1.0); }));
}
