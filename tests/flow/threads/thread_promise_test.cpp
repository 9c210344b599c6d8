#include "flow/threads/thread_promise.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <thread>

using namespace flow;

TEST_CASE("thread promise: another thread sends a value, an error, or nothing") {
    RealLoop loop;
    for (int way = 0; way < 3; ++way) {
        ThreadPromise<std::unique_ptr<int>> promise;
        Future<std::unique_ptr<int>> answer = promise.getFuture();
        std::thread thread([way, promise = std::move(promise)]() mutable {
            CHECK(promise.canBeSet());
            if (way == 0)
                promise.send(std::make_unique<int>(7));
            if (way == 1)
                promise.sendError(timed_out());
            CHECK(promise.canBeSet() == (way == 2));
        });
        auto wait = [](Future<std::unique_ptr<int>> result) -> Future<int> {
            std::unique_ptr<int> value = co_await std::move(result);
            co_return *value;
        };
        Future<int> value = wait(std::move(answer));
        if (way == 0) {
            CHECK(loop.run(value) == 7); // the loop waits for the other thread
        } else {
            CHECK_THROWS_AS(loop.run(value), Error);
            CHECK(value.getError() == (way == 1 ? timed_out() : broken_promise()));
        }
        thread.join();
    }
}

TEST_CASE("thread promise: on its own thread, the future is ready in a turn") {
    test::Balance balance;
    RealLoop loop;
    ThreadPromise<std::string> promise;
    Future<std::string> answer = promise.getFuture();
    promise.send("a text that needs memory of its own");
    CHECK_FALSE(answer.isReady());
    CHECK(loop.run(answer).size() == 35);
    ThreadPromise<Void> first, second;
    Future<Void> broken = first.getFuture(), kept = second.getFuture();
    first = std::move(second);
    CHECK_THROWS_AS(loop.run(broken), Error);
    first.send(Void());
    loop.run(kept);
    Future<Error> value;
    ThreadPromise<Error> ofError;
    value = ofError.getFuture();
    ofError.send(io_error());
    CHECK(loop.run(value) == io_error());
}

TEST_CASE("thread promise: without a future, or with one that was dropped, nothing keeps the loop") {
    test::Balance balance;
    std::unique_ptr<ThreadPromise<int>> early, late;
    {
        RealLoop loop;
        early = std::make_unique<ThreadPromise<int>>();
        late = std::make_unique<ThreadPromise<int>>();
        ThreadPromise<int> unused, sent;
        sent.send(1);
        Future<int> dropped = early->getFuture(), onItsWay = late->getFuture();
        dropped = Future<int>();
        late->send(2);
        onItsWay = Future<int>();
        loop.run();
    }
    early->send(3); // after the end of the loop
}

TEST_CASE("thread promise: misuse") {
    CHECK_NAMES_CALLER(ThreadPromise<int> early);
    RealLoop loop;
    ThreadPromise<int> promise;
    Future<int> answer = promise.getFuture();
    CHECK_NAMES_CALLER((void)promise.getFuture());
    promise.send(1);
    CHECK_NAMES_CALLER(promise.send(2));
    CHECK_NAMES_CALLER(promise.sendError(io_error()));
    CHECK(loop.run(answer) == 1);
}
