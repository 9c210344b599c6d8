#include "flow/core/future.h"

#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/test_waiter.h"
#include "tests/flow/support/tracer.h"

#include <doctest/doctest.h>

#include <memory>
#include <optional>

using namespace flow;
using namespace flow::detail;
using test::Balance;
using test::TestWaiter;

TEST_CASE("promise: sends a value or an error once") {
    Balance balance;
    Promise<int> promise;
    Future<int> future = promise.getFuture();
    CHECK(promise.isValid());
    CHECK(promise.canBeSet());
    CHECK(!promise.isSet());
    CHECK(!future.isReady());
    promise.send(7);
    CHECK(!promise.canBeSet());
    CHECK(promise.isSet());
    CHECK(future.get() == 7);
    CHECK(promise.getFuture().get() == 7);
    CHECK_DIES(promise.send(8), "set twice");
    CHECK_DIES(promise.sendError(io_error()), "set twice");
    CHECK_DIES(promise.send(Never()), "set twice");

    Promise<Void> failing;
    failing.sendError(io_error());
    CHECK(failing.isSet());
    CHECK(failing.getFuture().getError() == io_error());
    CHECK_DIES(failing.send(Void()), "set twice");
    CHECK_DIES(Promise<int>().sendError(Error()), "was not set");
    Promise<int> zero; // success() is an error too, of code 0
    zero.sendError(success());
    CHECK(zero.getFuture().isError());
    CHECK(zero.getFuture().getError().code() == 0);
}

TEST_CASE("promise: Never is set, but never ready, and not broken") {
    Balance balance;
    Future<int> future;
    TestWaiter waiter;
    {
        Promise<int> promise;
        future = promise.getFuture();
        waiter.wait(future);
        promise.send(Never());
        CHECK(!promise.canBeSet());
        CHECK(!promise.isSet());
        CHECK_DIES(promise.send(1), "set twice");
    }
    CHECK(waiter.woken() == 0);
    CHECK(!future.isReady());
}

TEST_CASE("promise: the last one dropped breaks its future") {
    Balance balance;
    auto first = std::make_unique<Promise<int>>();
    Future<int> future = first->getFuture();
    auto second = std::make_unique<Promise<int>>(*first);
    CHECK(first->getPromiseReferenceCount() == 2);
    first.reset();
    CHECK(!future.isReady());
    Promise<int> third = std::move(*second);
    second.reset();
    CHECK(!future.isReady());
    third = Promise<int>();
    CHECK(future.getError() == broken_promise());
    Future<int> early = third.getFuture();
    Promise<int>& self = third;
    third = self;
    third = std::move(self);
    CHECK(third.isValid());
    CHECK(!early.isReady());
}

TEST_CASE("promise: a moved-from one ends the program") {
    Promise<int> promise;
    Promise<int> taken = std::move(promise);
    CHECK(!promise.isValid()); // NOLINT: that is the test
    const char* message = "the Promise is invalid";
    CHECK_DIES(promise.send(1), message);
    CHECK_DIES(promise.sendError(io_error()), message);
    CHECK_DIES((void)promise.getFuture(), message);
    CHECK_DIES((void)promise.isSet(), message);
    Promise<int> copy = promise;
    CHECK(!copy.isValid());
}

TEST_CASE("promise: cancel() of its future is nothing") {
    Promise<int> promise;
    Future<int> future = promise.getFuture();
    TestWaiter waiter;
    waiter.wait(future);
    future.cancel();
    CHECK(waiter.woken() == 0);
    CHECK(promise.canBeSet());
    promise.send(1);
    CHECK(waiter.woken() == 1);
    CHECK(future.get() == 1);
    future.cancel();
    CHECK(future.get() == 1);
}

TEST_CASE("promise: waiters run newest first, before send returns") {
    Balance balance;
    for (int count = 1; count <= 5; ++count) {
        Promise<int> promise;
        Future<int> future = promise.getFuture();
        std::vector<int> order, expected;
        std::vector<std::unique_ptr<TestWaiter>> waiters;
        for (int i = 0; i < count; ++i) {
            waiters.push_back(std::make_unique<TestWaiter>([&order, i](Cell* cell) {
                CHECK(valueOf<int>(cell) == 9);
                order.push_back(i);
            }));
            waiters.back()->wait(future);
            expected.insert(expected.begin(), i);
        }
        CHECK(future.cell()->futures == static_cast<unsigned>(count) + 1);
        promise.send(9);
        CHECK(order == expected);
        CHECK(promise.getFutureReferenceCount() == 1);
    }
}

TEST_CASE("promise: breaking it and errors run all waiters too") {
    Balance balance;
    for (bool broken : {true, false}) {
        auto promise = std::make_unique<Promise<Void>>();
        std::vector<int> order;
        auto note = [&](int number) {
            return [&order, number, broken](Cell* cell) {
                CHECK(cell->error == (broken ? broken_promise() : io_error()));
                order.push_back(number);
            };
        };
        TestWaiter a(note(1)), b(note(2)), c(note(3));
        for (TestWaiter* waiter : {&a, &b, &c})
            waiter->wait(promise->getFuture());
        if (!broken)
            promise->sendError(io_error());
        promise.reset();
        CHECK(order == std::vector{3, 2, 1});
    }
}

TEST_CASE("promise: a waiter may take out any of the others while it is woken") {
    Balance balance;
    for (unsigned out = 0; out < 16; ++out) { // by the waiter that runs first, of five
        Promise<int> promise;
        Future<int> future = promise.getFuture();
        std::vector<std::unique_ptr<TestWaiter>> waiters;
        for (int i = 0; i < 4; ++i) {
            waiters.push_back(std::make_unique<TestWaiter>());
            waiters.back()->wait(future);
        }
        TestWaiter first([&](Cell*) {
            for (unsigned i = 0; i < 4; ++i)
                if (out >> i & 1)
                    abandon(waiters[i].get());
        });
        first.wait(future);
        promise.send(1);
        for (unsigned i = 0; i < 4; ++i)
            CHECK(waiters[i]->woken() == (out >> i & 1 ? 0 : 1));
        CHECK(promise.getFutureReferenceCount() == 1);
    }
}

TEST_CASE("promise: waiters that take out the next one each time") {
    Balance balance;
    Promise<Void> promise;
    Future<Void> future = promise.getFuture();
    std::vector<std::unique_ptr<TestWaiter>> waiters(5);
    for (std::size_t i = 0; i < 5; ++i) {
        waiters[i] = std::make_unique<TestWaiter>([&waiters, i](Cell*) {
            if (i > 0)
                waiters[i - 1].reset();
        });
        waiters[i]->wait(future);
    }
    promise.send(Void());
    CHECK(waiters[4]->woken() == 1);
    CHECK(!waiters[3]);
    CHECK(waiters[2]->woken() == 1);
    CHECK(!waiters[1]);
    CHECK(waiters[0]->woken() == 1);
}

TEST_CASE("promise: waiters may drop all promises and futures") {
    Balance balance;
    for (int count = 1; count <= 3; ++count)
        for (int how = 0; how < 3; ++how) {
            test::Log log;
            std::optional<Promise<test::Tracer>> promise(std::in_place);
            std::optional<Future<test::Tracer>> future = promise->getFuture();
            std::vector<std::unique_ptr<TestWaiter>> waiters;
            for (int i = 0; i < count; ++i) {
                waiters.push_back(std::make_unique<TestWaiter>([&](Cell* cell) {
                    future.reset();
                    promise.reset();
                    CHECK(cell->isReady());
                    if (how == 0)
                        CHECK(valueOf<test::Tracer>(cell).name() == "a");
                }));
                waiters.back()->wait(*future);
            }
            if (how == 0)
                promise->send(test::Tracer(log, "a"));
            else if (how == 1)
                promise->sendError(io_error());
            else
                std::exchange(promise, std::nullopt).reset();
            if (how == 0)
                CHECK(log == test::Log{"make a", "move a", "destroy a", "destroy moved"});
            for (auto& waiter : waiters)
                CHECK(waiter->woken() == 1);
        }
}

TEST_CASE("promise: another promise dropped inside a waiter wakes at once") {
    Balance balance;
    std::optional<Promise<int>> inner(std::in_place);
    Promise<int> outer;
    std::vector<int> order;
    TestWaiter ofInner([&](Cell* cell) {
        CHECK(cell->error == broken_promise());
        order.push_back(2);
    });
    ofInner.wait(inner->getFuture());
    TestWaiter older([&](Cell*) { order.push_back(4); }), newer([&](Cell*) {
        order.push_back(1);
        inner.reset();
        order.push_back(3);
    });
    older.wait(outer.getFuture());
    newer.wait(outer.getFuture());
    outer.send(1);
    CHECK(order == std::vector{1, 2, 3, 4});
}

TEST_CASE("promise: setting it again from a waiter ends the program") {
    Promise<int> promise;
    TestWaiter waiter([&](Cell*) { promise.send(2); });
    waiter.wait(promise.getFuture());
    CHECK_DIES(promise.send(1), "set twice");
}

TEST_CASE("promise: a value is sent without a future") {
    Balance balance;
    int live = test::Counted::live;
    {
        Promise<test::Counted> promise;
        promise.send(3);
        CHECK(test::Counted::live == live + 1);
        Promise<test::Counted> unset;
        CHECK(unset.getFutureReferenceCount() == 0);
    }
    CHECK(test::Counted::live == live);
}

TEST_CASE("promise: the count of futures is the handles, and one for all waiters") {
    Balance balance;
    Promise<int> promise, copy = promise;
    Future<int> future = promise.getFuture();
    CHECK(future.getFutureReferenceCount() == 1);
    CHECK(future.getPromiseReferenceCount() == 2);
    TestWaiter a, b;
    a.wait(future);
    CHECK(promise.getFutureReferenceCount() == 2);
    b.wait(future);
    CHECK(promise.getFutureReferenceCount() == 2);
    promise.send(1);
    CHECK(promise.getFutureReferenceCount() == 1);
}

TEST_CASE("promise: reset and swap") {
    Balance balance;
    Promise<int> one, two;
    Future<int> first = one.getFuture(), second = two.getFuture();
    CHECK(first == one.getFuture());
    CHECK_FALSE(first == second);
    one.swap(two);
    one.send(2);
    CHECK(second.get() == 2);
    two.reset();
    CHECK(first.getError() == broken_promise());
    CHECK(two.canBeSet());
}
