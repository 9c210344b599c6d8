#include "flow/coro/coroutine.h"

#include "flow/combine/all.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

using namespace flow;
using flow::test::Blocks;
using flow::test::Noisy;
using flow::test::TraceLog;

namespace {

Future<int> plus(TraceLog& log, Future<int> a, int b) {
    log.say("start");
    int v = co_await a;
    log.say("go");
    co_return v + b;
}

Future<int> holds(TraceLog& log, Noisy, Future<int> awaited) {
    Noisy local(log, "local");
    int v = co_await std::move(awaited);
    if (v < 0)
        throw timed_out();
    co_return v;
}

Future<Void> watch(TraceLog& log, std::string name, Future<int> future) {
    ErrorOr<int> result = co_await tryGet(std::move(future));
    log.say(name + "=" + (result.present() ? std::to_string(result.get()) : result.getError().name()));
}

Future<int> throwsOther(std::string what) {
    co_await delay(0);
    throw std::runtime_error(what);
}

Future<int> throwsNothing() {
    throw Error();
    co_return 1;
}

Future<Void> stubborn(Uncancellable, TraceLog& log, Noisy, Future<Void> awaited) {
    co_await awaited;
    log.say("on");
    co_await delay(0);
    log.say("end");
}

Future<int> stubbornAtLast(Future<int> awaited, std::shared_ptr<int> result, Uncancellable = {}) {
    *result = co_await awaited;
    co_return *result;
}

template <class T>
Future<T> orElse(Future<T> what, T other, ExplicitVoid = {}) {
    try {
        T value = co_await what;
        co_return value;
    } catch (Error& e) {
        if (e.code() != error_code_timed_out)
            throw;
    }
    co_return other;
}

// As programs of Flow say it: co_await gives nothing where the coroutine returns nothing.
Future<Void> passOn(Future<Void> what) {
    co_return co_await what;
}
Future<Void> passOnMade(Promise<Void> from) {
    co_return co_await from.getFuture();
}
Future<Void> passOnError(Future<Void> what, Propagate = {}) {
    co_return co_await what;
}
template <class T>
Future<Void> store(Future<T> what, std::optional<T>& out, ExplicitVoid = {}) {
    out = co_await what;
    co_return Void();
}

struct Server {
    TraceLog& log;
    Future<Void> serve(Uncancellable, Future<Void> awaited) {
        co_await awaited;
        log.say("served");
    }
    coro::Detached failing(Future<Void> awaited) {
        co_await awaited;
        throw timed_out();
    }
};

TraceLog dropped;
void noteDropped(const char* where, Error error) {
    dropped.say(std::string(where) + ":" + error.name());
}

} // namespace

TEST_CASE("coroutine: with ExplicitVoid a template returns its T, also if that is Void") {
    SimLoop loop;
    loop.run([]() -> Future<Void> {
        co_await delay(0);
        struct Local {
            Future<Void> operator()(ExplicitVoid = {}) { co_return Void(); } // gcc 12 is in doubt about local classes
        };
        co_await Local()();
        co_await orElse<Void>(delay(0.1), Void());
        co_await orElse<Void>(timed_out(), Void());
        Promise<Void> promise;
        Future<Void> waits = orElse<Void>(promise.getFuture(), Void());
        CHECK(!waits.isReady());
        promise.sendError(io_error());
        CHECK(waits.getError().code() == error_code_io_error);
        int number = co_await orElse<int>(timed_out(), 3);
        CHECK(number == 3);
    }());
}

TEST_CASE("coroutine: one of Future<Void> may co_return the co_await of another") {
    SimLoop loop;
    Promise<Void> promise;
    Future<Void> all[] = {passOn(promise.getFuture()), passOnMade(promise), passOnError(promise.getFuture())};
    for (Future<Void> const& each : all)
        CHECK(!each.isReady());
    promise.send(Void());
    for (Future<Void> const& each : all)
        CHECK(each.get() == Void());
    CHECK(passOn(timed_out()).getError().code() == error_code_timed_out);
    CHECK(passOnError(timed_out()).getError().code() == error_code_timed_out);
    std::optional<Void> stored;
    CHECK(store<Void>(Void(), stored).isReady());
    CHECK(stored.has_value());
    std::optional<int> number;
    CHECK(store<int>(3, number).isReady());
    CHECK(number == 3);
}

TEST_CASE("coroutine: Uncancellable may be the type of any parameter") {
    SimLoop loop;
    Promise<int> promise;
    auto result = std::make_shared<int>(0);
    (void)stubbornAtLast(promise.getFuture(), result);
    promise.send(4);
    CHECK(*result == 4);
    CHECK(result.use_count() == 1);
}

TEST_CASE("coroutine: starts at once and resumes synchronously") {
    TraceLog log;
    Promise<int> promise;
    Future<int> future = plus(log, promise.getFuture(), 1);
    CHECK(log.take() == "start");
    CHECK_FALSE(future.isReady());
    promise.send(41);
    CHECK(log.take() == "go");
    CHECK(future.get() == 42);
}

TEST_CASE("coroutine: a ready wait does not suspend and needs no loop") {
    TraceLog log;
    Blocks blocks;
    {
        Future<int> future = plus(log, 1, 1);
        CHECK(log.take() == "start go");
        CHECK(future.get() == 2);
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("coroutine: waiters run newest first, each up to its next suspension") {
    TraceLog log;
    Promise<int> promise;
    Future<Void> a = watch(log, "a", promise.getFuture());
    Future<Void> b = watch(log, "b", promise.getFuture());
    Future<Void> c = watch(log, "c", plus(log, promise.getFuture(), 1));
    Future<Void> d = watch(log, "d", promise.getFuture());
    log.take();
    promise.send(1);
    CHECK(log.take() == "d=1 go c=2 b=1 a=1");
}

TEST_CASE("coroutine: locals, then parameters are destroyed before waiters run") {
    TraceLog log;
    for (int value : {5, -1}) {
        Promise<int> promise;
        Future<int> future = holds(log, Noisy(log, "parameter"), promise.getFuture());
        log.take();
        Future<Void> watcher = watch(log, "watcher", future);
        promise.send(value);
        CHECK(log.take() == "~local ~parameter watcher=" + std::string(value < 0 ? "timed_out" : "5"));
    }
    Promise<int> promise;
    Future<int> future = holds(log, Noisy(log, "parameter"), promise.getFuture());
    log.take();
    Future<Void> watcher = watch(log, "watcher", future);
    future.cancel();
    CHECK(log.take() == "~local ~parameter watcher=operation_cancelled");
    CHECK(promise.getFutureReferenceCount() == 0);
}

TEST_CASE("coroutine: dropping the last future cancels synchronously") {
    TraceLog log;
    Blocks blocks;
    {
        Promise<int> promise;
        Future<int> inner = holds(log, Noisy(log, "inner"), promise.getFuture());
        Future<int> outer = holds(log, Noisy(log, "outer"), std::move(inner));
        Future<int> copy = outer;
        log.take();
        outer = Future<int>();
        CHECK(log.take() == "");
        copy = Future<int>();
        CHECK(log.take() == "~local ~inner ~local ~outer");
        CHECK(promise.getFutureReferenceCount() == 0);
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("coroutine: any other exception passes as itself, and its error is unknown_error with its text") {
    SimLoop loop;
    Future<int> future = throwsOther("disk on fire");
    loop.run();
    CHECK(future.getError() == unknown_error());
    CHECK(std::string(future.getError().what()) == "std::runtime_error: disk on fire");
    CHECK(std::string(lastUnknownError()) == "disk on fire");
    CHECK_THROWS_AS((void)future.get(), std::runtime_error);
    CHECK(throwsNothing().isError());
}

TEST_CASE("coroutine: an error of code 0 is an error, through coroutines and quorums") {
    Promise<int> promise;
    auto passes = [](Future<int> a, Propagate = {}) -> Future<int> { co_return co_await a; };
    auto throws = [](Future<int> a) -> Future<int> { co_return co_await a; };
    Future<int> passed = passes(promise.getFuture()), thrown = throws(promise.getFuture());
    Future<Void> both = success(passed) && success(thrown);
    promise.sendError(success());
    CHECK(passed.getError() == success());
    CHECK(thrown.getError() == success());
    CHECK(both.getError() == success());
}

TEST_CASE("coroutine: errors keep code and flags") {
    TraceLog log;
    Promise<int> promise;
    Future<int> future = plus(log, promise.getFuture(), 1);
    promise.sendError(Error(4711).asInjectedFault());
    CHECK(future.getError().code() == 4711);
    CHECK(future.getError().isInjectedFault());
}

TEST_CASE("coroutine: uncancellable and detached ones run on") {
    SimLoop loop;
    TraceLog log;
    Blocks blocks;
    {
        Promise<Void> promise;
        Future<Void> future = stubborn({}, log, Noisy(log, "parameter"), promise.getFuture());
        log.take();
        future.cancel();
        future = Future<Void>();
        CHECK(log.take() == "");
        promise.send(Void());
        CHECK(log.take() == "on");
        loop.run();
        CHECK(log.take() == "end ~parameter");
    }
    {
        Promise<Void> promise;
        Server server{log};
        (void)server.serve({}, promise.getFuture());
        promise.send(Void());
        CHECK(log.take() == "served");
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("coroutine: dropped errors are reported with the actor's name") {
    DroppedErrorHandler before = setDroppedErrorHandler(noteDropped);
    TraceLog log;
    Server server{log};
    Promise<Void> promise;
    server.failing(promise.getFuture());
    promise.send(Void());
    std::string said = dropped.take();
    CHECK_MESSAGE(said.find("Server::failing") != std::string::npos, said);
    CHECK(said.find(":timed_out") != std::string::npos);

    auto failsWhenCancelled = [](Future<Void> awaited) -> Future<Void> {
        try {
            co_await awaited;
        } catch (Error&) {
            throw end_of_stream();
        }
    };
    (void)failsWhenCancelled(Never());
    CHECK(dropped.take().find(":end_of_stream") != std::string::npos);
    (void)plus(log, Never(), 1); // actor_cancelled is silent
    {
        Promise<Void> broken;
        server.failing(broken.getFuture());
    }
    CHECK(dropped.take() == "");
    setDroppedErrorHandler(before);
}

TEST_CASE("coroutine: tryGet never throws") {
    TraceLog log;
    Future<Void> a = watch(log, "value", 3);
    Future<Void> b = watch(log, "error", timed_out());
    Future<Void> c;
    {
        Promise<int> promise;
        c = watch(log, "broken", promise.getFuture());
    }
    CHECK(log.take() == "value=3 error=timed_out broken=broken_promise");
    Future<Void> d = watch(log, "cancelled", Never());
    d.cancel();
    CHECK(log.take() == "cancelled=operation_cancelled");
    CHECK_FALSE(d.isError()); // it swallowed the cancel
    auto movable = []() -> Future<int> {
        ErrorOr<std::unique_ptr<int>> box = co_await tryGet(Future<std::unique_ptr<int>>(std::make_unique<int>(9)));
        co_return *std::move(box).get();
    };
    CHECK(movable().get() == 9);
}

TEST_CASE("coroutine: the awaiter owns the future") {
    TraceLog log;
    auto reassigned = [](Future<int>& future) -> Future<int> {
        int v = co_await future;
        co_return v;
    };
    Promise<int> promise;
    Future<int> awaited = promise.getFuture();
    Future<int> result = reassigned(awaited);
    awaited = 3;
    promise.send(4);
    CHECK(result.get() == 4);
    // A temporary future, held by nothing else, lives until it is ready.
    auto temporary = [](Promise<int>& from) -> Future<int> { co_return co_await from.getFuture() + 1; };
    Promise<int> other;
    result = temporary(other);
    CHECK(other.getFutureReferenceCount() == 1);
    other.send(1);
    CHECK(result.get() == 2);
}

TEST_CASE("coroutine: streams give every element, then the end") {
    auto sum = [](FutureStream<int> stream) -> Future<int> {
        int total = 0;
        try {
            for (;;)
                total += co_await stream;
        } catch (Error& error) {
            CHECK(error == end_of_stream());
        }
        co_return total;
    };
    PromiseStream<int> stream;
    stream.send(1);
    stream.send(2);
    Future<int> total = sum(stream.getFuture());
    stream.send(3);
    stream.sendError(end_of_stream());
    CHECK(total.get() == 6);
}

TEST_CASE("coroutine: never, fail and finish end it where it stands") {
    TraceLog log;
    Blocks blocks;
    {
        auto ends = [](TraceLog& said, int how, Noisy) -> Future<int> {
            Noisy local(said, "local");
            if (how == 0)
                co_await coro::never();
            if (how == 1)
                co_await coro::fail(timed_out());
            co_await coro::finish(7);
            co_return 0;
        };
        Future<int> nothing = ends(log, 0, Noisy(log, "parameter"));
        CHECK(log.take() == "~local ~parameter");
        Future<Void> watcher = watch(log, "watcher", nothing);
        nothing.cancel();
        CHECK_FALSE(nothing.isReady());
        CHECK(ends(log, 1, Noisy(log, "p")).getError() == timed_out());
        CHECK(ends(log, 2, Noisy(log, "p")).get() == 7);
        log.take();
        watcher.cancel();
        CHECK(log.take() == "watcher=operation_cancelled");
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("coroutine: two co_awaits of one expression come one after the other, or are refused") {
    static auto sum = [](Future<int> a, Future<int> b) -> Future<int> { co_return co_await a + co_await b; };
    static auto sumOfTwo = [] {
        Promise<int> a, b;
        Future<int> both = sum(a.getFuture(), b.getFuture());
        a.send(1);
        b.send(2);
        return both.get();
    };
#ifdef __clang__
    CHECK(sumOfTwo() == 3);
    CHECK(sum(1, 2).get() == 3);
#else
    CHECK(flow::test::abortMessage([] { (void)sumOfTwo(); }).find("a statement of its own") != std::string::npos);
    CHECK(flow::test::abortMessage([] { (void)sum(1, 2); }).find("a statement of its own") != std::string::npos);
#endif
}

namespace {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type"
Future<int> withoutReturn(Future<int> number) {
    int found = co_await number;
    if (found < 0)
        co_return found;
}
#pragma GCC diagnostic pop

} // namespace

TEST_CASE("coroutine: one that owes a value and ends without co_return ends the program, with its name") {
    CHECK(withoutReturn(-1).get() == -1);
    Promise<int> promise;
    Future<int> future = withoutReturn(promise.getFuture());
    test::Death child = test::runInChild([&] { promise.send(1); });
    CHECK(child.aborted());
    CHECK(child.says("a coroutine that returns a value ended without a co_return"));
    CHECK_MESSAGE(child.says("in actor withoutReturn"), child.text);
}

namespace {

struct ThrowsWhenDestroyed {
    ~ThrowsWhenDestroyed() noexcept(false) { throw timed_out(); }
};

Future<std::string> returnsTwice(Future<std::string> next) {
    try {
        ThrowsWhenDestroyed last;
        co_return "the first value, too long to be kept in place";
    } catch (Error& error) {
        CHECK(error == timed_out());
    }
    co_return co_await next;
}

} // namespace

TEST_CASE("coroutine: goes on, waits and returns after the error of a destructor has interrupted its co_return") {
    Blocks blocks;
    CHECK(returnsTwice(std::string("ready")).get() == "ready");
    CHECK(returnsTwice(io_error()).getError() == io_error());
    {
        Promise<std::string> promise, dropped;
        Future<std::string> later = returnsTwice(promise.getFuture()), cancelled = returnsTwice(dropped.getFuture());
        CHECK(!later.isReady());
        promise.send("later");
        CHECK(later.get() == "later");
    }
    CHECK(blocks.leaked() == 0);
}
