#include "flow/loop/detail/posted_call.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace flow;

TEST_CASE("post: calls run in order, by priority, after the task that posts them") {
    test::Balance balance;
    SimLoop loop;
    std::string trace;
    auto task = [&]() -> Future<Void> {
        co_await delay(0);
        loop.post([&] { trace += "a"; });
        loop.post([&] { trace += "b"; });
        loop.post([&] { trace += "low"; }, TaskPriority::Low);
        loop.post([&] { trace += "high "; }, TaskPriority::High);
        trace += "first ";
        co_await delay(1.0);
    };
    loop.run(task());
    CHECK(trace == "first high ablow");
}

TEST_CASE("post: a call is destroyed when it has run, and when its loop ends before") {
    test::Balance balance;
    auto owned = std::make_shared<int>(7);
    {
        SimLoop loop;
        loop.post([owned] { CHECK(*owned == 7); });
        loop.post([only = std::make_unique<int>(1)] { CHECK(*only == 1); });
        loop.run();
        CHECK(owned.use_count() == 1);
        loop.post([owned, &loop] { loop.post([] {}); });
        CHECK(owned.use_count() == 2);
    }
    CHECK(owned.use_count() == 1);
}

TEST_CASE("post: a destructor at the loop's end may post to it") {
    test::Balance balance;
    struct PostsAgain {
        Loop* loop;
        explicit PostsAgain(Loop* l) : loop(l) {}
        PostsAgain(PostsAgain&& other) : loop(std::exchange(other.loop, nullptr)) {}
        ~PostsAgain() {
            if (loop)
                loop->post([] {});
        }
        void operator()() {}
    };
    SimLoop loop;
    loop.post(PostsAgain(&loop));
}

TEST_CASE("post: a destructor at the loop's end may read its clock") {
    struct Looks {
        double* seen;
        explicit Looks(double* s) : seen(s) {}
        Looks(Looks&& other) : seen(std::exchange(other.seen, nullptr)) {}
        ~Looks() {
            if (seen)
                *seen = now() + timer();
        }
        void operator()() {}
    };
    double seen = 0;
    std::make_unique<RealLoop>()->post(Looks(&seen));
    CHECK(seen > 0);
}

TEST_CASE("post: a loop that is destroyed while it expects a post waits for that") {
    auto loop = std::make_unique<RealLoop>();
    std::atomic<bool> posts{false};
    loop->expectPost();
    std::thread other([&posts, loop = loop.get()] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        posts = true;
        loop->post([came = std::shared_ptr<void>(nullptr, [loop](void*) { loop->postCame(); })] {});
    });
    loop.reset();
    CHECK(posts);
    other.join();
}

TEST_CASE("post: an error that escapes a call is reported as dropped") {
    static std::vector<int> codes;
    codes.clear();
    DroppedErrorHandler before =
        setDroppedErrorHandler([](const char*, Error error) { codes.push_back(error.code()); });
    SimLoop loop;
    loop.post([] { throw timed_out(); });
    loop.post([] { throw std::runtime_error("no"); });
    loop.run();
    setDroppedErrorHandler(before);
    CHECK(codes == std::vector<int>{error_code_timed_out, error_code_unknown_error});
}

TEST_CASE("post: from many threads to a loop that sleeps or works") {
    constexpr int kThreads = 3, kCalls = 5000;
    RealLoop loop;
    WorkGuard guard(loop);
    int seen = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < kCalls; ++i)
                loop.post([&] {
                    if (++seen == kThreads * kCalls)
                        loop.stop();
                });
        });
    loop.run();
    CHECK(seen == kThreads * kCalls);
    for (std::thread& thread : threads)
        thread.join();
}

TEST_CASE("work guard: a loop waits for posts, and ends without it") {
    for (bool real : {true, false}) {
        std::optional<RealLoop> realLoop;
        std::optional<SimLoop> simLoop;
        Loop& loop = real ? static_cast<Loop&>(realLoop.emplace()) : simLoop.emplace();
        loop.run();
        auto guard = std::make_unique<WorkGuard>(loop);
        std::thread other([&] { loop.post([&] { guard.reset(); }); });
        loop.run();
        CHECK(!guard);
        other.join();
    }
}

TEST_CASE("work guard: a loop that is destroyed before the guard") {
    test::Death death = test::runInChild([] {
        auto loop = std::make_unique<SimLoop>();
        new WorkGuard(*loop); // its end would touch the loop
        loop.reset();
    });
    CHECK(death.aborted());
    CHECK(death.says("WorkGuard"));
}
