// A co_await of a variable takes no reference of what is there already: what could take it away meanwhile?

#include "flow/coro/detail/awaiters.h"

#include "flow/coro/coroutine.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>

using namespace flow;

namespace {

/// Runs `act` whenever one is copied or moved.
struct Acting {
    int value;
    std::function<void()>* act = nullptr;

    Acting(int v, std::function<void()>* a) : value(v), act(a) {}
    Acting(Acting const& other) : value(other.value), act(other.act) {
        if (act && *act)
            (*act)();
    }
};

Future<int> valueOfNext(FutureStream<Acting>& stream) {
    Acting element = co_await stream;
    co_return element.value;
}

Future<int> valueOf(Future<Acting>& future, Propagate = {}) {
    Acting found = co_await future;
    co_return found.value;
}

} // namespace

TEST_CASE("awaiters: what is ready stays counted as it was, what is not is held") {
    auto take = [](Future<int>& future) -> Future<int> {
        int found = co_await future;
        co_return found;
    };
    test::Balance balance;
    Promise<int> promise;
    Future<int> future = promise.getFuture();
    Future<int> waiting = take(future);
    future = Future<int>();
    CHECK(promise.getFutureReferenceCount() == 1);
    promise.send(3);
    CHECK(waiting.get() == 3);
    CHECK(promise.getFutureReferenceCount() == 0);
    future = promise.getFuture();
    for (int i = 0; i < 3; ++i)
        CHECK(take(future).get() == 3);
    CHECK(promise.getFutureReferenceCount() == 1);
    future = timed_out();
    for (int i = 0; i < 3; ++i)
        CHECK(take(future).getError() == timed_out());
    CHECK(future.isError());
}

TEST_CASE("awaiters: copying a value drops the last future") {
    test::Balance balance;
    Future<Acting> future;
    std::function<void()> drop = [&] { future = Future<Acting>(); };
    std::function<void()> act;
    future = Acting(5, &act);
    act = drop;
    CHECK(valueOf(future).get() == 5);
    CHECK(!future.isValid());
}

TEST_CASE("awaiters: moving an element drops the stream") {
    test::Balance balance;
    std::function<void()> act;
    auto out = std::make_unique<PromiseStream<Acting>>();
    FutureStream<Acting> in = out->getFuture();
    out->send(Acting(6, &act));
    act = [&] {
        out.reset();
        in = FutureStream<Acting>();
    };
    CHECK(valueOfNext(in).get() == 6);
    CHECK(!in.isValid());
}

TEST_CASE("awaiters: a waiter for onEmpty may drop the stream") {
    test::Balance balance;
    auto out = std::make_unique<PromiseStream<int>>();
    auto in = std::make_unique<FutureStream<int>>(out->getFuture());
    out->send(7);
    Future<Void> dropping = [](auto& outer, auto& inner) -> Future<Void> {
        co_await outer->onEmpty();
        outer.reset();
        inner.reset();
    }(out, in);
    Future<int> taken = [](FutureStream<int>& stream) -> Future<int> {
        int element = co_await stream;
        co_return element;
    }(*in);
    CHECK(dropping.isReady());
    CHECK(taken.get() == 7);
}

TEST_CASE("awaiters: a variable that can only be moved from") {
    test::Balance balance;
    auto take = [](Future<std::unique_ptr<int>>& future) -> Future<int> {
        std::unique_ptr<int> box = co_await future;
        co_return *box;
    };
    Future<std::unique_ptr<int>> box = std::make_unique<int>(8);
    CHECK(take(box).get() == 8);
}

TEST_CASE("awaiters: a cancelled coroutine finds no value in what is ready") {
    test::Balance balance;
    std::string said;
    Future<int> ready = 1;
    PromiseStream<int> out;
    FutureStream<int> stream = out.getFuture();
    out.send(2);
    Promise<Void> never;
    Future<Void> task = [](std::string& log, Future<int>& value, FutureStream<int>& next,
                           Future<Void> wait) -> Future<Void> {
        for (int i = 0; i < 3; ++i)
            try {
                if (i == 0)
                    co_await wait;
                else if (i == 1)
                    log += std::to_string(co_await value);
                else
                    log += std::to_string(co_await next);
            } catch (Error const& error) {
                log += error == actor_cancelled() ? "c" : "?";
            }
    }(said, ready, stream, never.getFuture());
    task = Future<Void>();
    CHECK(said == "ccc");
    CHECK(stream.pop() == 2);
}
