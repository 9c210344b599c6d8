// Cancellation of coroutines, and chains of them on a small stack.
#include "flow/coro/coroutine.h"

#include "flow/combine/all.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <vector>

using namespace flow;
using namespace flow::detail;
using namespace flow::test;

namespace {

Future<int> link(Future<int> next) {
    co_return co_await next + 1;
}

/// Holds the next one without waiting for it.
Future<Void> keeper(Future<Void> held, Future<Void> awaited) {
    Future<Void> local = std::move(held);
    co_await awaited;
}

Future<Void> keepsParameter(Future<Void>, Future<Void> awaited) {
    co_await awaited;
}

Future<Void> waits(TraceLog& log, std::string name, Future<Void> awaited) {
    try {
        co_await std::move(awaited);
        log.say(name + ":on");
    } catch (Error& error) {
        log.say(name + ":" + error.name());
        throw;
    }
}

Future<Void> operand(TraceLog& log, std::string name) {
    log.say(name);
    return Void();
}

Future<Void> dropsItself(TraceLog& log, Future<Void>& own, Future<Void> awaited, bool byCancel) {
    co_await awaited;
    if (byCancel)
        own.cancel();
    else
        own = Future<Void>();
    log.say("running");
    for (int i = 0; i < 2; ++i) {
        try {
            co_await operand(log, "operand");
            log.say("not reached");
        } catch (Error& error) {
            log.say(error.name());
        }
    }
    try {
        co_await delay(0);
        log.say("not reached");
    } catch (Error& error) {
        log.say(error.name());
    }
    ErrorOr<Void> last = co_await tryGet(operand(log, "try"));
    log.say(last.getError().name());
}

Future<Void> chainOf(int links, Future<Void> awaited, bool inParameters) {
    Future<Void> chain = keeper(Future<Void>(), awaited);
    for (int i = 0; i < links; ++i)
        chain = inParameters ? keepsParameter(std::move(chain), awaited) : keeper(std::move(chain), awaited);
    return chain;
}

} // namespace

TEST_CASE("cancel: a running coroutine is marked; every later wait raises after its operand") {
    for (bool byCancel : {false, true}) {
        SimLoop loop;
        TraceLog log;
        Promise<Void> promise;
        Future<Void> own;
        own = dropsItself(log, own, promise.getFuture(), byCancel);
        promise.send(Void());
        CHECK(log.take() == "running operand operation_cancelled operand operation_cancelled operation_cancelled try "
                            "operation_cancelled");
        CHECK(own.isValid() == byCancel);
        if (byCancel)
            CHECK_FALSE(own.isError());
    }
}

TEST_CASE("cancel: double, late and re-entrant cancels are harmless") {
    TraceLog log;
    Future<Void> future = waits(log, "a", Never());
    future.cancel();
    future.cancel();
    CHECK(log.take() == "a:operation_cancelled");
    CHECK(future.getError() == actor_cancelled());

    Future<Void> done = waits(log, "b", Void());
    done.cancel();
    CHECK(log.take() == "b:on");
    CHECK(done.canGet());

    Future<Void> self;
    auto again = [](TraceLog& said, Future<Void>& own) -> Future<Void> {
        try {
            co_await Never();
        } catch (Error&) {
            own.cancel();
            said.say("again");
        }
    };
    self = again(log, self);
    self.cancel();
    CHECK(log.take() == "again");
    CHECK(self.canGet());
}

TEST_CASE("cancel: what is awaited is released first, innermost handlers run first") {
    TraceLog log;
    Future<Void> chain = waits(log, "c", waits(log, "b", waits(log, "a", Never())));
    chain = Future<Void>();
    CHECK(log.take() == "a:operation_cancelled b:operation_cancelled c:operation_cancelled");
    Future<Void> shared = waits(log, "a", Never());
    Future<Void> one = waits(log, "one", shared);
    Future<Void> two = waits(log, "two", shared);
    one = Future<Void>();
    CHECK(log.take() == "one:operation_cancelled");
    shared.cancel();
    CHECK(log.take() == "a:operation_cancelled two:operation_cancelled");
}

TEST_CASE("cancel: long chains complete, fail and are cancelled in constant stack") {
    onSmallStack(kSmallStack, [] {
        Blocks blocks;
        for (int how = 0; how < 3; ++how) {
            Promise<int> promise;
            Future<int> chain = promise.getFuture();
            for (int i = 0; i < kManyLinks; ++i)
                chain = link(std::move(chain));
            if (how == 0) {
                promise.send(0);
                CHECK(chain.get() == kManyLinks);
            } else if (how == 1) {
                promise.sendError(timed_out());
                CHECK(chain.getError() == timed_out());
            } else {
                chain.cancel();
                CHECK(chain.getError() == actor_cancelled());
                CHECK(promise.getFutureReferenceCount() == 0);
            }
        }
        CHECK(blocks.leaked() == 0);
    });
}

TEST_CASE("cancel: a long list of actors that hold each other is destroyed in constant stack") {
    onSmallStack(kSmallStack, [] {
        Blocks blocks;
        for (bool inParameters : {false, true}) {
            Promise<Void> never;
            Future<Void> list = chainOf(kManyLinks, never.getFuture(), inParameters);
            list = Future<Void>();
            CHECK(never.getFutureReferenceCount() == 0);
        }
        {
            Promise<Void> first; // the first one ends by itself, which drops the others
            Promise<Void> never;
            Future<Void> list = keeper(chainOf(kManyLinks, never.getFuture(), false), first.getFuture());
            first.send(Void());
            CHECK(list.isReady());
            CHECK(never.getFutureReferenceCount() == 0);
        }
        CHECK(blocks.leaked() == 0);
    });
}

TEST_CASE("cancel: a long chain of quorums completes in constant stack") {
    onSmallStack(kSmallStack, [] {
        Promise<Void> promise;
        Future<Void> chain = promise.getFuture();
        for (int i = 0; i < kManyLinks; ++i)
            chain = success(chain);
        Future<Void> other = success(chain);
        promise.send(Void());
        CHECK(other.isReady());
    });
}

namespace {

Future<Void> swallowsSome(Future<Void> awaited, int times) {
    for (int i = 0; i < times; ++i)
        (void)co_await tryGet(awaited);
}

Future<Void> swallowsForEver(Future<Void> awaited) {
    for (;;) {
        try {
            co_await awaited;
        } catch (Error&) {
        }
    }
}

Future<Void> retriesForEver(Future<Void> awaited, Propagate = {}) {
    for (;;)
        (void)co_await tryGet(swallowsSome(awaited, 1));
}

Future<Void> cancelsItself(Future<Void>* own, Future<Void> go) {
    co_await go;
    *own = Future<Void>();
    (void)co_await tryGet(Future<Void>(Never()));
}

} // namespace

TEST_CASE("cancel: waits after a cancel are counted for each coroutine, also if several have had one address") {
    for (int i = 0; i < 60'000; ++i) {
        (void)swallowsSome(Never(), 2);
        Promise<Void> go;
        Future<Void> own = cancelsItself(&own, go.getFuture());
        go.send(Void());
        REQUIRE(!own.isValid());
    }
}

TEST_CASE("cancel: a coroutine that swallows actor_cancelled in a loop ends the program, with its name") {
    test::Death child = test::runInChild([] { (void)swallowsForEver(Never()); });
    CHECK(child.aborted());
    CHECK(child.says("a handler in a loop swallows actor_cancelled"));
    CHECK_MESSAGE(child.says("in actor swallowsForEver"), child.text);
    child = test::runInChild([] { (void)retriesForEver(Never()); });
    CHECK_MESSAGE(child.says("in actor retriesForEver"), child.text);
}

TEST_CASE("cancel: a coroutine may swallow actor_cancelled often") {
    Promise<Void> promise;
    Future<Void> future = swallowsSome(promise.getFuture(), 10'000);
    future.cancel();
    CHECK(future.isReady());
    CHECK(!future.isError());
}
