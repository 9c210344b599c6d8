#include "flow/loop/loop.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <limits>
#include <memory>
#include <optional>

using namespace flow;
using flow::test::abortMessage;
using flow::test::Blocks;
using flow::test::Noisy;
using flow::test::TraceLog;

namespace {

Future<std::unique_ptr<int>> boxed(int value) {
    co_await delay(1);
    co_return std::make_unique<int>(value);
}

Future<Void> failLater() {
    co_await delay(1);
    throw timed_out();
}

Future<Void> sayAfter(TraceLog& log, std::string word, double seconds, TaskPriority priority) {
    co_await delay(seconds, priority);
    log.say(word);
}

Future<Void> parkedForEver(Noisy, Future<Void> awaited) {
    co_await awaited;
}

int errorOf(Future<Void> const& future) {
    return future.isError() ? future.getError().code() : 0;
}

struct Clerk {
    virtual ~Clerk() = default;
    virtual int number() = 0;
};
struct Other {
    int unused = 0;
};
/// Its Clerk does not stand at its beginning.
struct Office : Other, Clerk {
    explicit Office(int n) : n_(n) {}
    int number() override { return n_; }
    int n_;
};

} // namespace

TEST_CASE("loop: run gives the value of a future") {
    SimLoop loop;
    CHECK(loop.run(Future<int>(7)) == 7);
    CHECK(*loop.run(boxed(5)) == 5);
    loop.run(Future<Void>(Void()));
    Future<std::unique_ptr<int>> kept = boxed(6);
    CHECK(*loop.run(std::move(kept)) == 6);
    Future<std::string> shared = std::string("shared");
    CHECK(loop.run(shared) == "shared");
    CHECK(shared.get() == "shared");
}

TEST_CASE("loop: run throws the error of a future") {
    SimLoop loop;
    CHECK_THROWS_AS(loop.run(Future<Void>(timed_out())), Error);
    try {
        loop.run(failLater());
        FAIL("an error must be thrown");
    } catch (Error& error) {
        CHECK(error == timed_out());
    }
}

TEST_CASE("loop: run throws loop_drained when nothing can make the future ready") {
    Blocks blocks;
    {
        SimLoop loop;
        Promise<Void> promise;
        auto drained = [&](Future<Void> future) {
            try {
                loop.run(std::move(future));
            } catch (Error& error) {
                return error == loop_drained();
            }
            return false;
        };
        CHECK(drained(promise.getFuture()));
        CHECK(drained(Never()));
        CHECK(promise.getFutureReferenceCount() == 0);
        promise.send(Void());
        CHECK_FALSE(drained(promise.getFuture()));
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("loop: stop ends a run after the current step, and a later run continues") {
    SimLoop loop;
    TraceLog log;
    auto stopper = [](TraceLog& said) -> Future<Void> {
        co_await delay(0, TaskPriority::High);
        flow::Loop::current().stop();
        said.say("stop");
    };
    Future<Void> late = sayAfter(log, "low", 0, TaskPriority::Low);
    Future<Void> stop = stopper(log);
    loop.run();
    CHECK(log.take() == "stop");
    loop.run();
    CHECK(log.take() == "low");
}

TEST_CASE("loop: stop outside run ends the next run at once, and only that") {
    SimLoop loop;
    TraceLog log;
    Future<Void> step = sayAfter(log, "step", 0, TaskPriority::Low);
    loop.stop();
    loop.run();
    CHECK(log.take() == "");
    loop.run();
    CHECK(log.take() == "step");
}

TEST_CASE("loop: a run inside a step that has stopped the outer run is not stopped, and the outer one is") {
    SimLoop loop;
    bool later = false;
    auto nest = []() -> Future<Void> {
        co_await delay(0, TaskPriority::High);
        flow::Loop::current().stop();
        flow::Loop::current().run(delay(1)); // would throw loop_drained
        CHECK(now() == 1);
    };
    auto after = [](bool& flag) -> Future<Void> {
        co_await delay(2);
        flag = true;
    };
    Future<Void> stop = nest();
    Future<Void> other = after(later);
    loop.run();
    CHECK(stop.isReady());
    CHECK_FALSE(later);
    loop.run();
    CHECK(later);
}

TEST_CASE("loop: one at a time; destroying one brings back the one before") {
    CHECK_FALSE(hasLoop());
    SimLoop outer;
    CHECK(&flow::Loop::current() == &outer);
    {
        RealLoop inner;
        CHECK(&flow::Loop::current() == &inner);
        inner.run(delay(0));
        {
            SimLoop innermost;
            CHECK(&flow::Loop::current() == &innermost);
            innermost.run(delay(5));
            CHECK(innermost.now() == 5);
        }
        CHECK(&flow::Loop::current() == &inner);
    }
    CHECK(&flow::Loop::current() == &outer);
    CHECK(now() == 0);
    outer.run(delay(1));
    CHECK(now() == 1);
    CHECK(timer() == 1);
}

TEST_CASE("loop: counts steps and has the priority of the running one") {
    SimLoop loop;
    auto step = [](TaskPriority priority) -> Future<Void> {
        co_await delay(0, priority);
        CHECK(flow::Loop::current().currentPriority() == priority);
        co_await delay(1, TaskPriority::Min);
        CHECK(flow::Loop::current().currentPriority() == TaskPriority::Min);
    };
    loop.run(step(TaskPriority::High));
    CHECK(loop.stepsRun() == 2);
}

TEST_CASE("loop: what is parked when it is destroyed stays parked, and can be dropped later") {
    TraceLog log;
    Blocks blocks;
    {
        std::optional<SimLoop> loop(std::in_place);
        Future<Void> inTimer = parkedForEver(Noisy(log, "timer"), delay(5));
        Future<Void> inReady = parkedForEver(Noisy(log, "ready"), delay(0));
        Future<Void> alarm = delay(3);
        Future<Void> soon = delay(0);
        Future<Void> said = sayAfter(log, "never", 0, TaskPriority::Default);
        Future<Void> saidLater = sayAfter(log, "never", 7, TaskPriority::Default);
        log.take();
        loop.reset();
        CHECK_FALSE(inTimer.isReady());
        inTimer = Future<Void>();
        CHECK(log.take() == "~timer");
        inReady.cancel();
        CHECK(log.take() == "~ready");
        CHECK(errorOf(inReady) == error_code_actor_cancelled);
        said.cancel();
        CHECK(errorOf(said) == error_code_actor_cancelled);
        saidLater = said;
        alarm.cancel();
        CHECK(errorOf(alarm) == error_code_actor_cancelled);
    }
    CHECK(log.take() == "");
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("loop: a step that destroys its loop") {
    std::string words = abortMessage([] {
        auto loop = std::make_unique<SimLoop>();
        auto step = [](std::unique_ptr<SimLoop>& mine) -> Future<Void> {
            co_await delay(1);
            mine.reset();
        };
        loop->run(step(loop));
    });
    CHECK(words.find("a loop is destroyed by a step that it runs") != std::string::npos);
}

TEST_CASE("loop: a delay needs a loop") {
    std::string words = abortMessage([] { (void)delay(1); });
    CHECK(words.find("no loop on this thread") != std::string::npos);
    words = abortMessage([] { Future<Void> alarm = yield(); });
    CHECK(words.find("no loop on this thread") != std::string::npos);
    words = abortMessage([] {
        SimLoop a;
        SimLoop b;
        a.run();
    });
    CHECK(words.find("not the current one") != std::string::npos);
}

TEST_CASE("loop: run of an invalid future aborts") {
    std::string words = abortMessage([] {
        SimLoop loop;
        loop.run(Future<Void>());
    });
    CHECK(words.find("the Future is invalid") != std::string::npos);
}

TEST_CASE("loop: a step may run its own loop until something else is ready") {
    SimLoop loop;
    TraceLog log;
    auto nested = [](TraceLog& said) -> Future<Void> {
        co_await delay(1);
        flow::Loop::current().run(sayAfter(said, "inner", 1, TaskPriority::Default));
        said.say("back");
    };
    auto outer = [](TraceLog& said, Future<Void> first) -> Future<Void> {
        co_await first;
        co_await delay(1);
        said.say("outer");
    };
    loop.run(outer(log, nested(log)));
    CHECK(log.take() == "inner back outer");
    CHECK(loop.now() == 3);
}

TEST_CASE("loop: loops destroyed out of order leave a living one current, or none") {
    auto first = std::make_unique<SimLoop>();
    auto second = std::make_unique<SimLoop>();
    auto third = std::make_unique<SimLoop>();
    second.reset();
    CHECK(&Loop::current() == third.get());
    third.reset();
    CHECK(&Loop::current() == first.get());
    third = std::make_unique<SimLoop>();
    first.reset();
    CHECK(&Loop::current() == third.get());
    third.reset();
    CHECK_FALSE(hasLoop());
}

TEST_CASE("loop: hasWork while a step is ready or a timer is set") {
    SimLoop loop;
    CHECK_FALSE(loop.hasWork());
    Future<Void> soon = delay(0);
    CHECK(loop.hasWork());
    loop.run();
    CHECK_FALSE(loop.hasWork());
    Future<Void> later = delay(5);
    CHECK(loop.hasWork());
    later = Future<Void>();
    CHECK_FALSE(loop.hasWork());
}

TEST_CASE("loop: what is provided as an interface is what code on this loop finds") {
    SimLoop outer;
    Office first(1), second(2);
    CHECK(Loop::current().service<Clerk>() == nullptr);
    outer.provide<Clerk>(&first);
    CHECK(Loop::current().service<Clerk>()->number() == 1);
    CHECK(Loop::current().service<Office>() == nullptr);
    outer.provide<Office>(&second);
    CHECK(Loop::current().service<Clerk>()->number() == 1);
    {
        SimLoop inner;
        CHECK(Loop::current().service<Clerk>() == nullptr);
        inner.provide<Clerk>(&second);
        CHECK(Loop::current().service<Clerk>()->number() == 2);
    }
    outer.provide<Clerk>(nullptr);
    CHECK(Loop::current().service<Clerk>() == nullptr);
    CHECK(Loop::current().service<Office>() == &second);
}

TEST_CASE("loop: an object that comes while its loop ends is ended as well") {
    struct LateOwned : LoopOwned {
        bool ended = false;
        LateOwned() {
            end = [](LoopOwned* owned) { static_cast<LateOwned*>(owned)->ended = true; };
        }
    } owned;
    {
        SimLoop loop;
        std::shared_ptr<void> comes(nullptr, [&](void*) { loop.add(owned); });
        loop.post([comes = std::move(comes)] {});
    }
    CHECK(owned.ended);
}
