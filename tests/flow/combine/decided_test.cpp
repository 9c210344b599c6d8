#include "flow/combine/detail/decided.h"

#include "flow/combine/all.h"
#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/sim/sim_loop.h"
#include "flow/sync/channel.h"
#include "flow/tasks/task.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <array>
#include <list>
#include <memory>
#include <memory_resource>
#include <ranges>
#include <span>
#include <string>

using namespace flow;

TEST_CASE("race of a vector: the first value, and which one it is") {
    test::Balance balance;
    Promise<std::string> p, q, r;
    Future<Winner<std::string>> first = race(std::vector{p.getFuture(), q.getFuture(), r.getFuture()});
    CHECK_FALSE(first.isReady());
    q.send("q");
    CHECK(first.get().index() == 1);
    CHECK(first.get().value() == "q");
    CHECK(p.getFutureReferenceCount() == 0);
    CHECK(race(std::vector<Future<int>>{Never(), 5, 6}).get().index() == 1);
    CHECK(race(std::vector<Future<Void>>{Never(), Void()}).get().index() == 1);
}

TEST_CASE("race of a vector: a value that can only be moved is moved") {
    test::Balance balance;
    std::vector<Future<std::unique_ptr<int>>> both;
    both.push_back(Never());
    both.push_back(std::make_unique<int>(6));
    Winner<std::unique_ptr<int>> first = race(std::move(both)).takeValue();
    CHECK(*std::move(first).value() == 6);
}

TEST_CASE("race of a vector: the losers have given nothing when what waits for the result runs") {
    test::Balance balance;
    Promise<int> p, q;
    Future<int> kept = q.getFuture();
    Future<Void> waiter = [](std::vector<Future<int>> both, Promise<int>* loser) -> Future<Void> {
        Winner<int> first = co_await race(std::move(both));
        CHECK(first.index() == 0);
        CHECK(loser->getFutureReferenceCount() == 1);
        loser->send(2);
    }({p.getFuture(), kept}, &q);
    p.send(1);
    CHECK(waiter.isReady());
    CHECK(kept.get() == 2);
}

TEST_CASE("race of a vector: an error that comes first; a drop; of none none is the first") {
    test::Balance balance;
    Promise<int> p, q;
    Future<Winner<int>> first = race(std::vector{p.getFuture(), q.getFuture()});
    q.sendError(timed_out());
    CHECK(first.getError() == timed_out());
    CHECK(p.getFutureReferenceCount() == 0);
    first = race(std::vector{p.getFuture()});
    CHECK(p.getFutureReferenceCount() > 0);
    first.cancel();
    CHECK(first.getError() == actor_cancelled());
    CHECK(p.getFutureReferenceCount() == 0);
    CHECK_FALSE(race(std::vector<Future<int>>()).isReady());
}

TEST_CASE("race of a vector of streams, operations or callables: those that lose have given nothing") {
    SimLoop loop;
    test::Balance balance;
    Channel<int> a(2), b(2);
    Future<Winner<int>> waiting = race(std::vector{a.receive(), b.receive()});
    CHECK(keep(b.send(1)).isReady());
    CHECK(keep(a.send(2)).isReady());
    loop.run();
    CHECK(waiting.get().index() == 1);
    CHECK(waiting.get().value() == 1);
    CHECK(a.size() == 1);
    CHECK(keep(b.send(3)).isReady());
    CHECK(race(std::vector{a.receive(), b.receive()}).get().value() == 2); // both are ready: in order
    CHECK(b.size() == 1);
    waiting = race(std::vector{a.receive(), a.receive()});
    waiting = Future<Winner<int>>();
    CHECK(keep(a.send(4)).isReady());
    loop.run();
    CHECK(a.size() == 1);

    PromiseStream<int> p, q;
    Future<Winner<int>> next = race(std::vector{p.getFuture(), q.getFuture()});
    q.send(5);
    p.send(6);
    CHECK(next.get().value() == 5);
    CHECK(p.getFuture().pop() == 6);

    int calls = 0;
    auto make = [&] { return Future<int>(++calls); };
    CHECK(race(std::vector{make, make}).get().value() == 1);
    CHECK(calls == 1);
}

TEST_CASE("some: the first values, which they are, and the errors that are passed over") {
    test::Balance balance;
    Promise<int> p[4];
    auto futures = [&] {
        std::vector<Future<int>> made;
        for (auto& each : p)
            made.push_back(each.getFuture());
        return made;
    };
    Future<std::vector<Winner<int>>> two = some(2, futures());
    Future<std::vector<Winner<int>>> three = some(3, futures());
    p[3].send(30);
    p[0].sendError(timed_out());
    CHECK_FALSE(two.isReady());
    CHECK_FALSE(three.isReady());
    p[1].send(10);
    REQUIRE(two.isReady());
    CHECK(two.get().size() == 2);
    CHECK(two.get()[0].index() == 1);
    CHECK(two.get()[0].value() == 10);
    CHECK(two.get()[1].index() == 3);
    CHECK(two.get()[1].value() == 30);
    p[2].sendError(io_error()); // only two are left
    CHECK(three.getError() == io_error());
    CHECK(some(0, std::vector<Future<int>>{timed_out()}).get().empty());
    CHECK(some(2, std::vector<Future<int>>{1}).getError() == client_invalid_operation());
    CHECK(some(1, std::vector<Future<int>>{timed_out(), io_error()}).getError() == io_error());
    CHECK(some(1, std::vector<Future<int>>{timed_out(), 7, 8}).get()[0].index() == 1);
}

TEST_CASE("some: releases the others before its waiter runs, and begins none that it does not need") {
    test::Balance balance;
    Promise<int> p, q;
    Future<Void> waiter = [](Future<std::vector<Winner<int>>> first, Promise<int>* other) -> Future<Void> {
        std::vector<Winner<int>> values = co_await std::move(first);
        CHECK(values[0].index() == 0);
        CHECK(other->getFutureReferenceCount() == 0);
    }(some(1, std::vector{p.getFuture(), q.getFuture()}), &q);
    p.send(1);
    CHECK(waiter.isReady());
    int calls = 0;
    auto make = [&]() -> Future<int> {
        if (++calls == 1)
            return timed_out();
        return calls;
    };
    std::vector<Winner<int>> values = some(2, std::vector{make, make, make, make}).takeValue();
    CHECK(values[1].index() == 2);
    CHECK(calls == 3);
}

TEST_CASE("race, all and some take every range that has a size: an array, a span, a pmr vector, a list, a view") {
    SimLoop loop;
    test::Balance balance;
    std::array<Future<int>, 2> array{delayed(Future<int>(1), 2), delayed(Future<int>(2), 1)};
    std::span span(array);
    std::list<Future<int>> list(span.begin(), span.end());
    std::pmr::vector<Future<int>> pmr(span.begin(), span.end());
    std::vector<int> const both{1, 2};
    Future<std::vector<int>> sums[] = {all(array), all(span), all(std::span<Future<int> const>(array)), all(list),
                                       all(pmr)};
    CHECK(array[0].isValid()); // neither a copy of the array nor a span takes the futures of the array
    CHECK_FALSE(race(span).isReady());
    for (auto& sum : sums)
        CHECK(loop.run(std::move(sum)) == both);
    CHECK(loop.now() == 2);
    CHECK(race(span).get().index() == 0);
    CHECK(race(pmr).get().value() == 1);
    auto one = some(1, std::span(array).subspan(1)).get();
    CHECK((one.size() == 1 && one[0].index() == 0 && one[0].value() == 2));
}

TEST_CASE("all of a view that makes its operands calls the function once for each element") {
    SimLoop loop;
    test::Balance balance;
    int calls = 0;
    std::array<int, 3> numbers{1, 2, 3};
    auto made = numbers | std::views::transform([&](int number) {
                    ++calls;
                    return delayed(Future<int>(10 * number), number);
                });
    CHECK((loop.run(all(made)) == std::vector<int>{10, 20, 30}));
    CHECK((calls == 3 && loop.now() == 3));
}

TEST_CASE("a range that owns its operands gives them up; a view does not") {
    SimLoop loop;
    test::Balance balance;
    auto task = [](Context, int value) -> Task<int> { co_return value; };
    std::array<Task<int>, 2> tasks{task(Environment(), 1), task(Environment(), 2)};
    CHECK((all(std::move(tasks)).get() == std::vector<int>{1, 2})); // a task cannot be copied
    std::array<Future<std::string>, 1> kept{std::string("s")};
    CHECK(all(std::span(kept)).get()[0] == "s");
    CHECK(kept[0].get() == "s");
}
