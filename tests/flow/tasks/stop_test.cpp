#include "flow/tasks/stop.h"

#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/scope.h"
#include "flow/threads/run_blocking.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>
#include <string>
#include <thread>

namespace {
using namespace flow;

Task<> sleeps(Context, std::string* trace) {
    struct End {
        std::string* trace;
        ~End() { *trace += "end "; }
    } end{trace};
    co_await delay(100);
}

TEST_CASE("a function is called at a cancel, before the task itself resumes") {
    SimLoop loop;
    test::Balance balance;
    std::string trace;
    auto body = [](Context, std::string* trace) -> Task<> {
        OnCancelCall call(co_await context(), [trace] { *trace += "called "; });
        Task<> inner = sleeps(co_await context(), trace);
        co_await inner;
    };
    Future<Void> running = start(body(Environment(), &trace));
    CHECK(trace.empty());
    running.cancel();
    CHECK(trace == "end called "); // children that are younger come first
}

TEST_CASE("it is not called after its registration ends, and at once in a cancelled task") {
    SimLoop loop;
    test::Balance balance;
    std::string trace;
    auto body = [](Context, std::string* trace) -> Task<> {
        {
            OnCancelCall gone(co_await context(), [trace] { *trace += "gone "; });
        }
        Context here = co_await context();
        try {
            co_await delay(100);
        } catch (Error const&) {
            OnCancelCall late(here, [trace] { *trace += "late "; });
            *trace += "caught ";
        }
    };
    Future<Void> running = start(body(Environment(), &trace));
    running.cancel();
    CHECK(trace == "late caught ");
}

TEST_CASE("a cancel requests a stop of what runs on a thread") {
    RealLoop loop;
    auto body = [](Context, std::atomic<bool>* hasBegun) -> Task<> {
        StopOnCancel stop(co_await context());
        auto block = [token = stop.token(), hasBegun] {
            hasBegun->store(true);
            while (!token.stop_requested())
                std::this_thread::yield();
        };
        co_await runBlocking(block);
    };
    std::atomic<bool> hasBegun{false};
    Future<Void> running = start(body(Environment(), &hasBegun));
    auto waitForBegin = [](std::atomic<bool>* hasBegun) -> Future<Void> {
        while (!hasBegun->load())
            co_await delay(0.001);
    };
    loop.run(waitForBegin(&hasBegun));
    CHECK(!running.isReady());
    running.cancel(); // the loop's end waits for the thread: without the stop, for ever
    CHECK(running.getError() == actor_cancelled());
}

TEST_CASE("a stop cancels the task, in a turn of its loop") {
    SimLoop loop;
    test::Balance balance;
    std::stop_source source;
    std::string trace;
    auto body = [](Context, std::stop_token token, std::string* trace) -> Task<> {
        CancelOnStop guard(co_await context(), token);
        Task<> inner = sleeps(co_await context(), trace);
        co_await inner;
    };
    auto request = [](std::stop_source* source, std::string* trace) -> Future<Void> {
        co_await delay(2);
        source->request_stop();
        *trace += "requested ";
    };
    Future<Void> running = start(body(Environment(), source.get_token(), &trace));
    Future<Void> requesting = request(&source, &trace);
    CHECK_THROWS_AS(loop.run(running), Error);
    CHECK(running.getError() == actor_cancelled());
    CHECK(trace == "requested end ");
    CHECK(loop.now() == 2);
    // One that was stopped before; and one that ends before its token is stopped.
    Future<Void> late = start(body(Environment(), source.get_token(), &trace));
    CHECK_THROWS_AS(loop.run(late), Error);
    CHECK(late.getError() == actor_cancelled());
}

TEST_CASE("a stop cancels the children of a scope, and only these") {
    SimLoop loop;
    test::Balance balance;
    std::string trace;
    auto body = [](Context, std::string* trace) -> Task<> {
        std::stop_source source;
        Scope scope(co_await context());
        CancelOnStop guard(scope.context(), source.get_token());
        scope.spawn(sleeps(scope.context(), trace));
        scope.spawn(sleeps(scope.context(), trace));
        co_await delay(1);
        source.request_stop();
        co_await scope.join();
        *trace += "joined";
    };
    loop.run(start(body(Environment(), &trace)));
    CHECK(trace == "end end joined");
    CHECK(loop.now() == 1);
}

TEST_CASE("a stop may be requested on another thread, at any time") {
    RealLoop loop;
    auto body = [](Context, std::stop_token token, bool waits) -> Task<> {
        CancelOnStop guard(co_await context(), token);
        if (waits)
            co_await Never();
        co_await delay(0);
    };
    for (int i = 0; i < 200; ++i) {
        std::stop_source source;
        Future<Void> running = start(body(Environment(), source.get_token(), i % 2 == 0));
        std::jthread thread([&source] { source.request_stop(); });
        try {
            loop.run(running);
            CHECK(i % 2 == 1);
        } catch (Error const& error) {
            CHECK(error == actor_cancelled());
        }
    }
}

} // namespace
