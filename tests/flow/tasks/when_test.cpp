#include "flow/tasks/when.h"

#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>

namespace {
using namespace flow;

std::string whenTrace;

Task<int> later(Context, int value, double seconds) {
    struct End {
        int value;
        ~End() { whenTrace += std::to_string(value); }
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
auto inWhenTask(F f) {
    whenTrace.clear();
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
        (void)inWhenTask(std::move(f));
    } catch (Error const& error) {
        return error;
    }
    return Error();
}
std::vector<Task<int>> tasks(Context here, std::initializer_list<std::pair<int, double>> list) {
    std::vector<Task<int>> all;
    for (auto [value, seconds] : list)
        all.push_back(value < 0 ? failing(here, seconds) : later(here, value, seconds));
    return all;
}

TEST_CASE("whenAll gives all values") {
    auto [a, b, c] =
        inWhenTask([](Context here) { return whenAll(here, later(here, 1, 2), waits(here), later(here, 3, 1)); });
    CHECK(a == 1);
    CHECK(c == 3);
    CHECK(whenTrace == "31");
    std::pmr::vector<int> values =
        inWhenTask([](Context here) { return whenAll(here, tasks(here, {{1, 2.0}, {2, 1.0}, {3, 3.0}})); });
    CHECK(values == std::pmr::vector<int>{1, 2, 3});
    CHECK(inWhenTask([](Context here) { return whenAll(here, std::vector<Task<int>>()); }).empty());
}

TEST_CASE("whenAll cancels the rest at the first error, and fails with it") {
    CHECK(errorOf([](Context here) { return whenAll(here, later(here, 1, 5), failing(here, 1)); }) == timed_out());
    CHECK(whenTrace == "1");
    CHECK(errorOf([](Context here) { return whenAll(here, tasks(here, {{1, 2.0}, {-1, 1.0}, {3, 0.5}})); }) ==
          timed_out());
    CHECK(whenTrace == "31");
}

TEST_CASE("whenAll takes forks and futures as well") {
    auto [a, b] = inWhenTask([](Context here) {
        Promise<int> promise;
        auto fork = [](Context, Promise<int> p) -> Fork<int> {
            co_await delay(1);
            p.send(5);
            co_return 4;
        };
        return whenAll(here, fork(here, promise), promise.getFuture());
    });
    CHECK(a == 4);
    CHECK(b == 5);
}

TEST_CASE("whenAny passes over errors until all have failed") {
    CHECK(inWhenTask([](Context here) { return whenAny(here, tasks(here, {{-1, 0.5}, {2, 2.0}, {3, 1.0}})); }) == 3);
    CHECK(whenTrace == "32");
    CHECK(errorOf([](Context here) { return whenAny(here, tasks(here, {{-1, 0.5}, {-1, 2.0}})); }) == timed_out());
    CHECK(errorOf([](Context here) { return whenAny(here, std::vector<Task<int>>()); }) == client_invalid_operation());
    // With the option the first result counts.
    CHECK(errorOf([](Context here) { return whenAny(here, tasks(here, {{-1, 0.5}, {2, 2.0}}), First::Result); }) ==
          timed_out());
    CHECK(inWhenTask([](Context here) { return whenAny(here, tasks(here, {{-1, 1.5}, {3, 1.0}}), First::Result); }) ==
          3);
}

TEST_CASE("when(n) gives the first n values in order of place") {
    auto won =
        inWhenTask([](Context here) { return when(2, here, tasks(here, {{1, 3.0}, {2, 2.0}, {-1, 0.5}, {4, 1.0}})); });
    REQUIRE(won.size() == 2);
    CHECK(won[0].index == 1);
    CHECK(won[0].value == 2);
    CHECK(won[1].index == 3);
    CHECK(errorOf([](Context here) { return when(2, here, tasks(here, {{1, 3.0}, {-1, 2.0}})); }) == timed_out());
    CHECK(inWhenTask([](Context here) { return when(0, here, tasks(here, {{1, 3.0}})); }).empty());
}

TEST_CASE("race says which has won, be it by an error") {
    auto won = inWhenTask([](Context here) { return race(here, tasks(here, {{1, 3.0}, {2, 2.0}, {-1, 5.0}})); });
    CHECK(won.index == 1);
    CHECK(won.value == 2);
    CHECK(errorOf([](Context here) { return race(here, tasks(here, {{1, 3.0}, {-1, 2.0}})); }) == timed_out());
    CHECK(whenTrace == "1");
}

TEST_CASE("withTimeout gives a value in time, or cancels and fails") {
    CHECK(inWhenTask([](Context here) { return withTimeout(here, 2, later(here, 7, 1)); }) == 7);
    CHECK(errorOf([](Context here) { return withTimeout(here, 2, later(here, 7, 3)); }) == timed_out());
    CHECK(whenTrace == "7");
    CHECK(errorOf([](Context here) { return withTimeout(here, 2, failing(here, 1)); }) == timed_out());
}

TEST_CASE("a cancel reaches all operands") {
    SimLoop loop;
    whenTrace.clear();
    test::Balance balance;
    auto body = [](Context) -> Task<> {
        Context here = co_await context();
        Task<std::tuple<int, int>> both = whenAll(here, later(here, 1, 5), later(here, 2, 6));
        co_await both;
    };
    Future<Void> running = start(body(Environment()));
    loop.run(delay(1));
    running.cancel();
    CHECK(whenTrace.size() == 2);
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

TEST_CASE("without memory for one of its parts, whenAll fails and leaves nothing behind") {
    int failures = 0;
    for (int refused = 0; refused < 20; ++refused) {
        CAPTURE(refused);
        SimLoop loop;
        test::Balance balance;
        Refusing memory(refused);
        auto body = [](Context) -> Task<int> {
            Context here = co_await context();
            std::pmr::vector<int> values = co_await whenAll(here, threeTasks(here));
            co_return static_cast<int>(values.size());
        };
        try {
            int count = loop.run(start(body(Environment(memory))));
            CHECK(count == 3);
        } catch (std::bad_alloc const&) {
            ++failures;
        } catch (Error const& error) {
            ++failures;
            CHECK(error == unknown_error());
        }
        CHECK(!loop.hasWork());
    }
    CHECK(failures == 10); // the body, three tasks, whenAll, its results, three operands, the values
}

} // namespace
