// NoThrowOnCancel and coro::outcome(): a cancel ends a coroutine at its wait, and is never a result.
#include "flow/coro/coroutine.h"

#include "flow/combine/race.h"
#include "flow/sim/sim_loop.h"
#include "flow/sync/semaphore.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/throws.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::test;

namespace {

constexpr int kKinds = 9;

/// What the waits of the kinds have in common: a handler, a local and a parameter that say when they come to their end.
template <class... Word>
Future<Void> waitsFor(TraceLog& log, Noisy, int kind, Future<int> future, Semaphore* lock, FutureStream<int> stream,
                      Word...) {
    Noisy local(log, "local");
    try {
        if (kind == 0)
            (void)co_await future;
        else if (kind == 1)
            (void)co_await std::move(future);
        else if (kind == 2)
            (void)co_await stream;
        else if (kind == 3)
            co_await delay(1);
        else if (kind == 4)
            co_await lock->acquire();
        else if (kind == 5)
            (void)co_await race(future, delay(1), stream);
        else if (kind == 6)
            (void)co_await race(future, [&] { return lock->acquire(); });
        else if (kind == 7)
            (void)co_await tryGet(future);
        else
            (void)co_await coro::outcome(future);
        log.say("on");
    } catch (Error& error) {
        log.say(error.name());
    }
}

/// Cancels itself while it runs, then waits.
Future<Void> cancelsItself(TraceLog& log, Future<Void>& own, Future<int> signal, int kind, Semaphore* lock,
                           FutureStream<int> stream, NoThrowOnCancel) {
    Noisy local(log, "local");
    try {
        (void)co_await signal;
        own = Future<Void>();
        if (kind == 0)
            (void)co_await signal;
        else if (kind == 1)
            (void)co_await Future<int>(1);
        else if (kind == 2)
            (void)co_await stream;
        else if (kind == 3)
            co_await delay(0);
        else if (kind == 4)
            co_await lock->acquire();
        else if (kind == 5)
            (void)co_await race(signal, delay(1), stream);
        else if (kind == 6)
            (void)co_await race([&] { return signal; }, delay(1));
        else if (kind == 7)
            (void)co_await tryGet(signal);
        else
            (void)co_await coro::outcome(signal);
        log.say("on");
    } catch (...) {
        log.say("handler");
    }
}

Future<Void> outcomeOf(TraceLog& log, Future<int> future) {
    ErrorOr<int> result = co_await coro::outcome(std::move(future));
    log.say(result.isError() ? result.getError().name() : std::to_string(result.get()));
}
Future<Void> outcomeOf(TraceLog& log, Future<int> future, Propagate) {
    ErrorOr<int> result = co_await coro::outcome(std::move(future));
    log.say(result.isError() ? result.getError().name() : std::to_string(result.get()));
}

} // namespace

TEST_CASE("NoThrowOnCancel: a cancel destroys the frame at each kind of wait, without a throw or a handler") {
    Balance balance;
    SimLoop loop;
    TraceLog log;
    Throws throws;
    for (bool drops : {false, true})
        for (int kind = 0; kind < kKinds; ++kind) {
            Promise<int> promise;
            PromiseStream<int> stream;
            Semaphore lock(0);
            Future<Void> waiting = waitsFor(log, Noisy(log, "parameter"), kind, promise.getFuture(), &lock,
                                            stream.getFuture(), NoThrowOnCancel());
            if (drops) {
                waiting = Future<Void>();
            } else {
                waiting.cancel();
                CHECK(waiting.getError() == actor_cancelled());
            }
            CHECK_MESSAGE(log.take() == "~local ~parameter", kind);
            CHECK(promise.getFutureReferenceCount() == 0);
        }
    CHECK(throws.count() == 0);
}

TEST_CASE("NoThrowOnCancel: an error is thrown, and a handler may catch it") {
    SimLoop loop;
    TraceLog log;
    for (int kind : {0, 1, 5, 6, 7, 8}) {
        Promise<int> promise;
        PromiseStream<int> stream;
        Semaphore lock(0);
        Future<Void> waiting = waitsFor(log, Noisy(log, "parameter"), kind, promise.getFuture(), &lock,
                                        stream.getFuture(), NoThrowOnCancel());
        promise.sendError(io_error());
        CHECK(waiting.canGet());
        CHECK_MESSAGE(log.take() == (kind < 7 ? "io_error ~local ~parameter" : "on ~local ~parameter"), kind);
    }
}

TEST_CASE("NoThrowOnCancel: a coroutine that is cancelled while it runs ends at its next wait") {
    Balance balance;
    SimLoop loop;
    TraceLog log;
    Throws throws;
    for (int kind = 0; kind < kKinds; ++kind) {
        Promise<int> promise;
        PromiseStream<int> stream;
        stream.send(1);
        Semaphore lock(1);
        Future<Void> own;
        own = cancelsItself(log, own, promise.getFuture(), kind, &lock, stream.getFuture(), NoThrowOnCancel());
        promise.send(1);
        CHECK_MESSAGE(log.take() == "~local", kind);
        CHECK(lock.available() == 1);
    }
    CHECK(throws.count() == 0);
}

TEST_CASE("without NoThrowOnCancel, a handler gets the cancel") {
    SimLoop loop;
    TraceLog log;
    Promise<int> promise;
    PromiseStream<int> stream;
    Future<Void> waiting = waitsFor(log, Noisy(log, "parameter"), 0, promise.getFuture(), nullptr, stream.getFuture());
    waiting.cancel();
    CHECK(log.take() == "operation_cancelled ~local ~parameter");
}

TEST_CASE("outcome: a value or an error is a result, also the error of an operand that was cancelled") {
    Balance balance;
    TraceLog log;
    Future<Void> first = outcomeOf(log, 7);
    Future<Void> second = outcomeOf(log, io_error());
    Future<Void> third = outcomeOf(log, actor_cancelled());
    Future<Void> fourth = outcomeOf(log, io_error(), {});
    Promise<int> promise;
    Future<Void> fifth = outcomeOf(log, promise.getFuture());
    promise.sendError(timed_out());
    CHECK(fifth.canGet());
    CHECK(log.take() == "7 io_error operation_cancelled io_error timed_out");
}

TEST_CASE("outcome: a cancel of the coroutine ends it") {
    Balance balance;
    TraceLog log;
    for (bool propagates : {false, true}) {
        Throws throws;
        Promise<int> promise;
        Future<Void> waiting =
            propagates ? outcomeOf(log, promise.getFuture(), {}) : outcomeOf(log, promise.getFuture());
        waiting.cancel();
        CHECK(waiting.getError() == actor_cancelled());
        CHECK(throws.count() == (propagates ? 0 : 1));
    }
    CHECK(log.take() == "");
}
