// Coroutines that propagate errors: what a failed co_await does without a C++ exception.
#include "flow/coro/coroutine.h"

#include "flow/combine/race.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/throws.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <vector>

using namespace flow;
using namespace flow::test;

namespace {

Future<int> propagatingLink(Future<int> next, Propagate = {}) {
    co_return co_await next + 1;
}
Future<int> caughtLink(Future<int> next) {
    Error error;
    try {
        co_return co_await next + 1;
    } catch (Error& caught) {
        error = caught;
    }
    co_await coro::fail(error);
    co_return 0;
}

enum class FailsBy { Wait, Race, Itself };

/// Resumes when `next` has ended, and then fails with a local to destroy.
Future<int> failingLink(Future<int> next, Future<int> failed, FailsBy by, Propagate = {}) {
    ErrorOr<int> before = co_await tryGet(std::move(next));
    std::vector<int> local(before.isError() ? 1 : 2);
    if (by == FailsBy::Race) {
        auto first = co_await race(failed, Never());
        co_return static_cast<int>(first.index());
    }
    if (by == FailsBy::Itself)
        co_await coro::fail(timed_out());
    local[0] = co_await failed;
    co_return local[0];
}

Future<int> noisy(TraceLog& log, Noisy, Future<int> first, Future<int> second, Propagate = {}) {
    Noisy outer(log, "outer");
    int sum = co_await std::move(first);
    Noisy inner(log, "inner");
    sum += co_await std::move(second);
    log.say("end");
    co_return sum;
}

Future<Void> watchNamed(TraceLog& log, std::string name, Future<int> future) {
    ErrorOr<int> result = co_await tryGet(std::move(future));
    log.say(name + "=" + (result.present() ? std::to_string(result.get()) : result.getError().name()));
}

constexpr int kKinds = 7;
/// The first kLosable of them can fail.
constexpr int kLosable = 4;
Future<Void> waitOf(TraceLog& log, int kind, Future<int> future, FutureStream<int> stream, Propagate = {}) {
    Noisy local(log, "local");
    if (kind == 0)
        (void)co_await future;
    else if (kind == 1)
        (void)co_await race(future, delay(1), stream, [] { return Never(); });
    else if (kind == 2)
        (void)co_await stream;
    else if (kind == 3)
        (void)co_await race([] { return delay(1); }, stream);
    else if (kind == 4)
        co_await Never();
    else if (kind == 5)
        co_await delay(1);
    else
        co_await delay(0);
    log.say("on");
}

Future<int> handlesOnce(TraceLog& log, Future<int> future, Propagate = {}) {
    ErrorOr<int> result = co_await tryGet(future);
    log.say(result.isError() ? result.getError().name() : "on");
    co_return co_await future;
}

/// Cancels itself while it runs, then waits for something.
Future<Void> dropsItself(TraceLog& log, Future<Void>& own, Future<Void> awaited, int next, Propagate = {}) {
    Noisy local(log, "local");
    co_await awaited;
    own = Future<Void>();
    log.say("running");
    if (next == 0)
        co_await awaited;
    else if (next == 1)
        co_await delay(0);
    else if (next == 2)
        co_await yield();
    else
        (void)co_await race(awaited, delay(1));
    log.say("not reached");
}

/// A test without a C++ exception, after which no block is left.
struct Quiet {
    ~Quiet() { CHECK(throws.count() == 0); }
    test::Balance balance;
    Throws throws;
    TraceLog log;
};

} // namespace

TEST_CASE_FIXTURE(
    Quiet, "propagate: values come as always; errors end the coroutine, locals first, then parameters, then waiters") {
    for (int how = 0; how < 7; ++how) {
        Promise<int> a, b;
        bool ready = how >= 4;
        if (ready)
            how == 4 ? a.sendError(io_error()) : a.send(1);
        if (how == 5)
            b.sendError(end_of_stream());
        if (how == 6)
            b.send(2);
        Future<int> sum = noisy(log, Noisy(log, "parameter"), a.getFuture(), b.getFuture());
        Future<Void> one = watchNamed(log, "one", sum);
        Future<Void> two = watchNamed(log, "two", sum);
        if (how == 0)
            a.sendError(timed_out());
        else if (!ready)
            a.send(3);
        if (how == 1)
            b.sendError(timed_out());
        else if (how == 2)
            sum.cancel();
        else if (how == 3)
            b.send(4);
        const char* expected[] = {"~outer ~parameter two=timed_out one=timed_out",
                                  "~inner ~outer ~parameter two=timed_out one=timed_out",
                                  "~inner ~outer ~parameter two=operation_cancelled one=operation_cancelled",
                                  "end ~inner ~outer ~parameter two=7 one=7",
                                  "~outer ~parameter one=io_error two=io_error",
                                  "~inner ~outer ~parameter one=end_of_stream two=end_of_stream",
                                  "end ~inner ~outer ~parameter one=3 two=3"};
        CHECK(log.take() == expected[how]);
        CHECK(a.getFutureReferenceCount() == 0);
        CHECK(b.getFutureReferenceCount() == 0);
    }
}

TEST_CASE_FIXTURE(Quiet, "propagate: an error or a cancel at every kind of wait destroys, at once or later") {
    for (int kind = 0; kind < kKinds; ++kind) {
        for (int how = 0; how < 4; ++how) { // value, error, error at the start, cancel
            bool fails = how == 1 || how == 2;
            if ((fails && kind >= kLosable) || (how == 0 && kind == 4))
                continue;
            SimLoop loop;
            Promise<int> promise;
            PromiseStream<int> stream;
            auto fail = [&] {
                promise.sendError(timed_out());
                stream.sendError(timed_out());
            };
            if (how == 2)
                fail();
            Future<Void> future = waitOf(log, kind, promise.getFuture(), stream.getFuture());
            if (how == 0 && kind < kLosable) {
                promise.send(1);
                stream.send(1);
            } else if (how == 0) {
                loop.run();
            } else if (how == 1) {
                fail();
            } else if (how == 3) {
                future.cancel();
                future.cancel();
            }
            CHECK(log.take() == (how == 0 ? "on ~local" : "~local"));
            if (how != 0)
                CHECK(future.getError() == (how == 3 ? actor_cancelled() : timed_out()));
            CHECK(promise.getFutureReferenceCount() == 0);
        }
    }
}

TEST_CASE_FIXTURE(Quiet,
                  "propagate: a coroutine that is cancelled while it runs ends at its next wait, whatever that is") {
    {
        SimLoop loop;
        for (int next = 0; next < 4; ++next) {
            Promise<Void> promise;
            Future<Void> own;
            own = dropsItself(log, own, promise.getFuture(), next);
            promise.send(Void());
            CHECK(log.take() == "running ~local");
        }
    }
}

TEST_CASE_FIXTURE(Quiet, "propagate: tryGet sees errors and cancels; the next wait does not come back") {
    for (int how = 0; how < 4; ++how) {
        Promise<int> promise;
        if (how == 3)
            promise.sendError(timed_out());
        Future<int> future = handlesOnce(log, promise.getFuture());
        if (how == 0)
            promise.send(1);
        else if (how == 1)
            promise.sendError(timed_out());
        else if (how == 2)
            future.cancel();
        CHECK(log.take() == (how == 0 ? "on" : how == 2 ? "operation_cancelled" : "timed_out"));
        CHECK(future.canGet() == (how == 0));
    }
}

TEST_CASE("propagate: waiters in between run in order, handlers included") {
    Throws throws;
    TraceLog log;
    Blocks blocks;
    {
        Promise<int> promise;
        Future<int> first = propagatingLink(promise.getFuture());
        std::vector<Future<Void>> watchers;
        Future<int> chain = first;
        for (const char* name : {"a", "b", "c"}) {
            watchers.push_back(watchNamed(log, name, chain));
            chain = propagatingLink(chain);
        }
        Future<int> caught = caughtLink(chain);
        watchers.push_back(watchNamed(log, "d", propagatingLink(caught)));
        promise.sendError(timed_out());
        CHECK(log.take() == "d=timed_out c=timed_out b=timed_out a=timed_out");
        CHECK(throws.count() == 1); // of the handler
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE_FIXTURE(Quiet, "propagate: a failure that cancels its siblings, and itself again") {
    static Future<int> own, sibling;
    struct Canceller {
        ~Canceller() {
            own.cancel();
            sibling = Future<int>();
        }
    };
    auto canceller = [](Future<int> awaited, Propagate = {}) -> Future<int> {
        Canceller local;
        co_return co_await awaited;
    };
    for (bool byCancel : {false, true})
        for (bool waitsForIt : {false, true}) {
            Promise<int> promise;
            if (!waitsForIt)
                sibling = propagatingLink(promise.getFuture()); // would run after the other
            own = canceller(promise.getFuture());
            if (waitsForIt)
                sibling = propagatingLink(own);
            byCancel ? own.cancel() : promise.sendError(timed_out());
            CHECK(own.getError() == (byCancel ? actor_cancelled() : timed_out()));
            CHECK_FALSE(sibling.isValid());
            own = Future<int>();
        }
}

TEST_CASE("propagate: long chains fail and are cancelled in constant stack, also mixed with handlers") {
    onSmallStack(kSmallStack, [] {
        Blocks blocks;
        for (int how = 0; how < 6; ++how) {
            Promise<int> promise;
            Future<int> chain = promise.getFuture();
            int links = kManyLinks;
            for (int i = 0; i < links; ++i)
                chain = how >= 3 && i % 2 ? caughtLink(std::move(chain)) : propagatingLink(std::move(chain));
            if (how % 3 == 0)
                promise.send(0);
            else if (how % 3 == 1)
                promise.sendError(timed_out());
            else
                chain.cancel();
            CHECK(chain.isReady());
            if (how % 3 == 0)
                CHECK(chain.get() == links);
            CHECK(promise.getFutureReferenceCount() == 0);
        }
        CHECK(blocks.leaked() == 0);
    });
}

TEST_CASE("propagate: links that fail as soon as they resume hand over in constant stack") {
    onSmallStack(kSmallStack, [] {
        Blocks blocks;
        for (FailsBy by : {FailsBy::Wait, FailsBy::Race, FailsBy::Itself}) {
            Promise<int> promise;
            Future<int> chain = promise.getFuture();
            for (int i = 0; i < kManyLinks; ++i)
                chain = failingLink(std::move(chain), timed_out(), by);
            promise.send(0);
            CHECK(chain.getError() == timed_out());
        }
        CHECK(blocks.leaked() == 0);
    });
}
