#include "flow/combine/map.h"

#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace flow;

TEST_CASE("map: the function's result, for values, Void and nothing") {
    test::Balance balance;
    Promise<int> p;
    Future<std::string> text = map(p.getFuture(), [](int n) { return std::to_string(n); });
    int seen = 0;
    Future<Void> nothing = map(p.getFuture(), [&](int n) { seen = n; });
    Future<Void> done = map(Future<Void>(Void()), [](Void) { return Void(); });
    CHECK(done.canGet());
    CHECK_FALSE(text.isReady());
    p.send(42);
    CHECK(text.get() == "42");
    CHECK(nothing.canGet());
    CHECK(seen == 42);
    struct Pair {
        int first;
    };
    CHECK(map(Future<Pair>(Pair{3}), &Pair::first).get() == 3);
    auto moved = map(Future<std::unique_ptr<int>>(std::make_unique<int>(1)), [](std::unique_ptr<int> n) { return *n; });
    CHECK(moved.get() == 1);
}

TEST_CASE("map: errors pass, those of the function too; dropping releases the future") {
    test::Balance balance;
    bool called = false;
    CHECK(map(Future<int>(timed_out()), [&](int) { called = true; }).getError() == timed_out());
    CHECK_FALSE(called);
    CHECK(map(Future<int>(1), [](int) -> int { throw io_error(); }).getError() == io_error());
    Promise<int> p;
    Future<Void> mapped = map(p.getFuture(), [&](int) { called = true; });
    mapped = Future<Void>();
    CHECK(p.getFutureReferenceCount() == 0);
    mapped = map(p.getFuture(), [&](int) { called = true; });
    mapped.cancel();
    CHECK(mapped.getError() == actor_cancelled());
    CHECK_FALSE(called);
}

TEST_CASE("mapAsync: waits for what the function makes") {
    test::Balance balance;
    Promise<int> first, second;
    auto next = [&](int n) { return n > 0 ? second.getFuture() : Future<int>(io_error()); };
    Future<int> result = mapAsync(first.getFuture(), next);
    first.send(1);
    CHECK_FALSE(result.isReady());
    second.send(7);
    CHECK(result.get() == 7);
    CHECK(mapAsync(Future<int>(0), next).getError() == io_error());
    CHECK(mapAsync(Future<int>(timed_out()), next).getError() == timed_out());
    CHECK(mapAsync(Future<int>(1), [](int) { return Future<Void>(Void()); }).canGet());
}

TEST_CASE("store: assigns the value, and nothing on an error") {
    test::Balance balance;
    std::string out = "before";
    Promise<std::string> p;
    Future<Void> stored = store(out, p.getFuture());
    p.send("after");
    CHECK(stored.canGet());
    CHECK(out == "after");
    CHECK(store(out, Future<std::string>(timed_out())).getError() == timed_out());
    CHECK(out == "after");
}
