#include "flow/combine/lifetime.h"

#include "tests/flow/support/balance.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::test;

namespace {
Future<int> worker(TraceLog& log, Future<int> awaited) {
    Noisy local(log, "worker");
    int value = co_await std::move(awaited);
    log.say(std::to_string(value));
    co_return value;
}
template <class T>
Future<Void> watch(TraceLog& log, Future<T> future) {
    ErrorOr<T> result = co_await tryGet(std::move(future));
    log.say(result.present() ? "done" : result.getError().name());
}
} // namespace

TEST_CASE("holdWhile: the object is destroyed before waiters run") {
    test::Balance balance;
    TraceLog log;
    Promise<int> p;
    Future<Void> watcher = watch(log, holdWhile(Noisy(log, "held"), p.getFuture()));
    Future<Void> other = watch(log, holdWhileVoid(Noisy(log, "void"), p.getFuture()));
    CHECK(log.take() == "");
    p.send(1);
    CHECK(log.take() == "~void done ~held done");
    Promise<int> q;
    watcher = watch(log, holdWhile(Noisy(log, "held"), q.getFuture()));
    q.sendError(timed_out());
    CHECK(log.take() == "~held timed_out");
    Future<int> held = holdWhile(Noisy(log, "held"), worker(log, Never()));
    held = Future<int>();
    CHECK(log.take() == "~worker ~held");
}

TEST_CASE("uncancellable: runs on without a future, to its value or error") {
    test::Balance balance;
    TraceLog log;
    Promise<int> p;
    Future<int> result = uncancellable(worker(log, p.getFuture()));
    result.cancel();
    CHECK_FALSE(result.isReady());
    Future<Void> watcher = watch(log, result);
    watcher = Future<Void>();
    result = Future<int>();
    CHECK(log.take() == "operation_cancelled"); // the watcher, not the worker
    p.send(5);
    CHECK(log.take() == "5 ~worker");
    CHECK(uncancellable(Future<int>(3)).get() == 3);
    CHECK(uncancellable(Future<Void>(timed_out())).getError() == timed_out());
}

TEST_CASE("cancellable: a cancel of the wrapper leaves the future alone") {
    test::Balance balance;
    TraceLog log;
    Promise<int> p;
    Future<int> shared = worker(log, p.getFuture());
    Future<int> mine = cancellable(shared);
    Future<Void> watcher = watch(log, mine);
    mine.cancel();
    CHECK(log.take() == "operation_cancelled");
    CHECK_FALSE(shared.isReady());
    mine = cancellable(shared);
    p.send(2);
    CHECK(mine.get() == 2);
    Future<int> ofPromise = cancellable(Promise<int>().getFuture());
    CHECK(ofPromise.getError() == broken_promise());
}
