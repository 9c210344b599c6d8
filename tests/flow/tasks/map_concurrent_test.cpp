#include "flow/tasks/map_concurrent.h"

#include "flow/base/random.h"
#include "flow/core/stream.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/task.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/failures.h"

#include <doctest/doctest.h>

#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>

namespace map_concurrent_test { // its helpers have the names of those of other tests
namespace {
using namespace flow;

/// Counts how many calls run.
struct Calls {
    int running = 0;
    int most = 0;
    int begun = 0;
};
struct OneCall {
    explicit OneCall(Calls& calls) : calls_(calls) {
        ++calls.begun;
        calls.most = std::max(calls.most, ++calls.running);
    }
    OneCall(OneCall const&) = delete;
    ~OneCall() { --calls_.running; }

private:
    Calls& calls_;
};

Future<int> doubled(Calls* calls, int n, double seconds) {
    OneCall call(*calls);
    co_await delay(seconds);
    co_return 2 * n;
}
Future<int> failing(Calls* calls, int n, int bad) {
    OneCall call(*calls);
    co_await delay(n == bad ? 1.0 : 1.5);
    if (n == bad)
        throw timed_out();
    co_return n;
}
Future<int> numberInTurn(int n) {
    co_await delay(0);
    co_return n;
}
std::vector<int> upTo(int n) {
    std::vector<int> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}
template <class T>
Error errorOf(SimLoop& loop, Future<T> const& failed) {
    try {
        loop.run(failed);
    } catch (Error& error) {
        return error;
    }
    return Error();
}

TEST_CASE("mapConcurrent: many calls, some at a time, and their results in order") {
    SimLoop loop;
    test::Balance balance;
    Calls calls;
    std::vector<int> results = loop.run(mapConcurrent(
        upTo(1000), 50, [&](int n) { return doubled(&calls, n, 1 + deterministicRandom()->random01()); }));
    CHECK(results.size() == 1000);
    for (int n = 0; n < 1000; ++n)
        CHECK(results[static_cast<std::size_t>(n)] == 2 * n);
    CHECK(calls.most == 50);
    CHECK(calls.running == 0);
    CHECK(loop.now() > 1000 / 50 * 1);
    CHECK(loop.now() < 1000 / 50 * 2);
}

TEST_CASE("mapConcurrent: results that wait for an earlier one keep their places") {
    SimLoop loop;
    Calls calls;
    auto running = mapConcurrent(upTo(100), 4, [&](int n) { return doubled(&calls, n, n == 0 ? 10 : 1); });
    loop.run(delay(9));
    CHECK(calls.begun == 4);
    CHECK(calls.running == 1);
    loop.run(delay(1.5));
    CHECK(calls.begun == 8);
    CHECK(loop.run(running).size() == 100);
}

TEST_CASE("mapConcurrent: the range is empty, is a view, has references, or values that only move") {
    SimLoop loop;
    test::Balance balance;
    Calls calls;
    CHECK(loop.run(mapConcurrent(std::vector<int>(), 3, [&](int n) { return doubled(&calls, n, 1); })).empty());
    auto odd = std::views::iota(0, 10) | std::views::filter([](int n) { return n % 2 != 0; });
    CHECK(loop.run(mapConcurrent(odd, 3, [&](int n) { return doubled(&calls, n, 1); })) ==
          std::vector{2, 6, 10, 14, 18});
    std::vector<std::string> words{"a", "b", "c"};
    loop.run(mapConcurrent(std::span(words), 2, [](std::string& word) { // a coroutine that refers to the element
        return [](std::string& mine) -> Future<Void> {
            co_await delay(1);
            mine += "!";
        }(word);
    }));
    CHECK(words == std::vector<std::string>{"a!", "b!", "c!"});
    std::vector<std::unique_ptr<int>> pointers;
    pointers.push_back(std::make_unique<int>(7));
    pointers.push_back(std::make_unique<int>(8));
    auto moved = loop.run(mapConcurrent(std::move(pointers), 9, [](std::unique_ptr<int>& pointer) {
        return [](std::unique_ptr<int> mine) -> Future<std::unique_ptr<int>> {
            co_await delay(1);
            co_return mine;
        }(std::move(pointer));
    }));
    CHECK(*moved[1] == 8);
}

Task<int> taskOf(Context, int n) {
    co_await delay(1);
    co_return n;
}

TEST_CASE("mapConcurrent: the function gives whatever can be awaited, and may be a coroutine with captures") {
    SimLoop loop;
    test::Balance balance;
    CHECK(loop.run(mapConcurrent(upTo(3), 2, [](int n) { return taskOf(Environment(), n); })) == std::vector{0, 1, 2});
    CHECK(loop.run(mapConcurrent(upTo(3), 2, [](int n) { return delay(n); })).size() == 3);
    CHECK(loop.run(mapConcurrent(upTo(3), 2, [](int n) { return [n] { return Future<int>(n); }; })) ==
          std::vector{0, 1, 2});
    std::string text = "so long that it is no short string";
    auto sizes = loop.run(mapConcurrent(upTo(20), 2, [text](int n) -> Future<std::size_t> {
        co_await delay(n);
        co_return text.size();
    }));
    CHECK(sizes == std::vector<std::size_t>(20, text.size()));
}

TEST_CASE("mapConcurrent: the first error cancels the other calls, and no call begins afterwards") {
    SimLoop loop;
    test::Balance balance;
    for (int bad : {0, 3, 13}) {
        CAPTURE(bad);
        Calls calls;
        auto failed = mapConcurrent(upTo(100), 5, [&](int n) { return failing(&calls, n, bad); });
        CHECK(errorOf(loop, failed) == timed_out());
        CHECK(calls.running == 0);
        CHECK(calls.begun <= bad + 5);
        CHECK_FALSE(loop.hasWork());
    }
    auto thrown = mapConcurrent(upTo(3), 1, [](int n) -> Future<int> {
        if (n == 1)
            throw io_error();
        return n;
    });
    CHECK(errorOf(loop, thrown) == io_error());
    auto cancelled = mapConcurrent(upTo(3), 1, [](int) { return Future<int>(actor_cancelled()); });
    CHECK(errorOf(loop, cancelled) == actor_cancelled());
}

TEST_CASE("mapConcurrent: errors are results, if the results are ErrorOr") {
    SimLoop loop;
    test::Balance balance;
    Calls calls;
    std::vector<ErrorOr<int>> results = loop.run(mapConcurrent<ErrorOr<int>>(upTo(20), 4, [&](int n) {
        if (n == 11)
            throw std::runtime_error("not this one");
        return failing(&calls, n, 7);
    }));
    CHECK(results.size() == 20);
    CHECK(results[7].getError() == timed_out());
    CHECK(results[11].getError() == unknown_error());
    CHECK(results[19].get() == 19);
    CHECK(loop.run(mapConcurrent<ErrorOr<int>>(upTo(1), 1, [](int) { return Future<int>(actor_cancelled()); }))[0]
              .getError() == actor_cancelled());
}

TEST_CASE("mapConcurrent: a range or its stream that fails, fails the future") {
    SimLoop loop;
    test::Balance balance;
    auto broken = std::views::iota(0, 5) | std::views::transform([](int n) {
                      if (n == 3)
                          throw io_error();
                      return n;
                  });
    Calls calls;
    CHECK(errorOf(loop, mapConcurrent<ErrorOr<int>>(broken, 2, [&](int n) { return doubled(&calls, n, 1); })) ==
          io_error());
    CHECK(calls.running == 0);
}

TEST_CASE("mapConcurrent: a stream gives its values when there is a place") {
    SimLoop loop;
    test::Balance balance;
    for (bool ends : {true, false}) {
        Calls calls;
        PromiseStream<std::unique_ptr<int>> in;
        auto running = mapConcurrent(in.getFuture(), 2, [&](std::unique_ptr<int> n) { return doubled(&calls, *n, 1); });
        for (int n = 0; n < 5; ++n)
            in.send(std::make_unique<int>(n));
        loop.run(delay(0.5));
        CHECK(calls.begun == 2);
        CHECK_FALSE(in.isEmpty());
        loop.run(delay(5));
        CHECK(in.isEmpty());
        CHECK_FALSE(running.isReady());
        in.sendError(ends ? end_of_stream() : connection_failed());
        if (ends)
            CHECK(loop.run(running) == std::vector{0, 2, 4, 6, 8});
        else
            CHECK(errorOf(loop, running) == connection_failed());
    }
}

TEST_CASE("mapConcurrent: dropped, it cancels the calls") {
    SimLoop loop;
    test::Balance balance;
    Calls calls;
    auto running = mapConcurrent(upTo(100), 7, [&](int n) { return doubled(&calls, n, 1 + n); });
    loop.run(delay(2.5));
    CHECK(calls.running == 7);
    running = {};
    CHECK(calls.running == 0);
    CHECK_FALSE(loop.hasWork());
}

TEST_CASE("mapConcurrent: calls that are ready at once leave turns to others, and take little stack") {
    SimLoop loop;
    test::Balance balance;
    Future<std::vector<int>> running = mapConcurrent(upTo(100'000), 8, [](int n) { return Future<int>(n); });
    int turns = 0;
    while (!running.isReady()) {
        loop.run(delay(0, TaskPriority::DefaultYield));
        ++turns;
    }
    CHECK(turns > 100);
    CHECK(running.get().back() == 99'999);
    Calls calls;
    auto all = loop.run(mapConcurrent(upTo(20'000), 20'000, [&](int n) { return doubled(&calls, n, 1); }));
    CHECK(all.size() == 20'000);
    CHECK(calls.most == 20'000);
}

TEST_CASE("mapConcurrent: on a real loop") {
    RealLoop loop;
    CHECK(loop.run(mapConcurrent(upTo(100), 7, [](int n) { return numberInTurn(n); })) == upTo(100));
}

TEST_CASE("mapConcurrent: no call at a time is misuse") {
    SimLoop loop;
    auto call = [](int n) { return Future<int>(n); };
    CHECK_DIES((void)mapConcurrent(upTo(3), 0, call), "at most 0 calls at a time");
    CHECK_NAMES_CALLER((void)mapConcurrent(upTo(3), 0, call));
    CHECK_DIES((void)mapConcurrent(FutureStream<int>(), 1, call), "invalid");
    CHECK_NAMES_CALLER((void)mapConcurrent(upTo(3), 1, [](int) { return Future<int>(); }));
}

TEST_CASE("mapConcurrent can be cancelled at each step") {
    auto everywhere = [](auto make) {
        test::cancelEverywhere("mapConcurrent", make, {.hasHandlers = true}); // next() throws
    };
    for (std::size_t most : {1, 2, 9}) {
        everywhere([=](test::Inputs& in) {
            return mapConcurrent(upTo(3), most, [&in, sentinel = in.sentinel()](int n) { return in.number(n); });
        });
        everywhere([=](test::Inputs& in) {
            return mapConcurrent(in.numbers(), most, [&in, sentinel = in.sentinel()](int) { return in.number(1); });
        });
        everywhere([=](test::Inputs& in) {
            return mapConcurrent<ErrorOr<int>>(upTo(3), most, [&in](int n) { return in.number(n); });
        });
    }
}

TEST_CASE("mapConcurrent: each allocation fails once") {
    SimLoop loop;
    DroppedErrorHandler before = setDroppedErrorHandler([](const char*, Error) {}); // of what found no memory
    CHECK(test::failEverywhere([] {
              Promise<int> promises[3];
              auto running = mapConcurrent(upTo(3), 2, [&](int n) { return promises[n].getFuture(); });
              for (Promise<int>& promise : promises) {
                  promise.send(1);
                  Loop::current().run(delay(1));
              }
              test::expect(running.isReady());
              test::expect(test::ranOut(running) || running.get() == std::vector{1, 1, 1});
          }) > 5);
    setDroppedErrorHandler(before);
}

} // namespace
} // namespace map_concurrent_test
