#include "flow/threads/on_loop.h"

#include "flow/combine/errors.h"
#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace flow;

namespace {

/// A loop that runs on a thread of its own until this is destroyed.
class LoopThread {
public:
    LoopThread() : thread_([this] { main(); }) { loop_ = ready_.get_future().get(); }
    ~LoopThread() {
        loop_->post([loop = loop_] { loop->stop(); }, TaskPriority::Zero);
        thread_.join();
    }
    Loop& loop() { return *loop_; }
    std::thread::id id() const { return thread_.get_id(); }

private:
    void main() {
        RealLoop loop;
        WorkGuard guard(loop);
        ready_.set_value(&loop);
        loop.run();
    }

    std::promise<Loop*> ready_;
    Loop* loop_ = nullptr;
    std::thread thread_;
};

/// Logs the thread of its destruction.
struct DyingCall {
    std::shared_ptr<std::thread::id> where;
    explicit DyingCall(std::shared_ptr<std::thread::id> w) : where(std::move(w)) {}
    DyingCall(DyingCall&&) = default;
    ~DyingCall() {
        if (where)
            *where = std::this_thread::get_id();
    }
};

Future<int> later(int value) {
    co_await delay(0.001);
    co_return value;
}

/// For the caller's thread, with the loop `caller`: the call is made for that loop.
template <class F>
auto callFrom(Loop& caller, Loop& target, F call) {
    Loop* current = std::exchange(detail::currentLoop, &caller);
    auto future = onLoop(target, std::move(call));
    detail::currentLoop = current;
    return future;
}

} // namespace

TEST_CASE("onLoop: runs there, gives the result here") {
    LoopThread other;
    RealLoop loop;
    auto there = std::make_shared<std::thread::id>();
    auto task = [&]() -> Future<Void> {
        std::thread::id ran;
        // A name of its own, since gcc 12 destroys what a temporary captures twice if it stands in a co_await.
        auto call = [&ran, dies = DyingCall(there)] {
            ran = std::this_thread::get_id();
            return 42;
        };
        int value = co_await onLoop(other.loop(), std::move(call));
        CHECK(value == 42);
        CHECK(ran == other.id());
        CHECK(*there == other.id());
        co_await onLoop(other.loop(), [] {});
        auto moved = co_await onLoop(other.loop(), [] { return std::make_unique<int>(3); });
        CHECK(*moved == 3);
    };
    loop.run(task());
}

TEST_CASE("onLoop: waits there for a future, and returns its errors") {
    LoopThread other;
    RealLoop loop;
    auto task = [&]() -> Future<Void> {
        CHECK(co_await onLoop(other.loop(), [] { return later(5); }) == 5);
        int base = 10; // lives in the lambda until its coroutine has ended
        CHECK(co_await onLoop(other.loop(), [base]() -> Future<int> { co_return base + co_await later(1); }) == 11);
        auto error = co_await tryGet(onLoop(other.loop(), []() -> int { throw timed_out(); }));
        CHECK(error.isError(error_code_timed_out));
        auto failed = co_await tryGet(onLoop(other.loop(), []() -> Future<int> { return io_error(); }));
        CHECK(failed.isError(error_code_io_error));
        auto thrown = co_await tryGet(onLoop(other.loop(), []() -> Future<int> { throw io_error(); }));
        CHECK(thrown.isError(error_code_io_error));
    };
    loop.run(task());
}

TEST_CASE("onLoop: many calls from several loops, which may wait for each other") {
    constexpr int kCalls = 2000;
    LoopThread a, b;
    RealLoop loop;
    int sum = 0;
    auto ask = [&](Loop& first, Loop& second, int i) -> Future<Void> {
        sum += co_await onLoop(first, [&second, i] { return onLoop(second, [i] { return i; }); });
    };
    std::vector<Future<Void>> all;
    for (int i = 0; i < kCalls; ++i)
        all.push_back(i % 2 ? ask(a.loop(), b.loop(), i) : ask(b.loop(), a.loop(), i));
    for (Future<Void> const& each : all)
        loop.run(each);
    CHECK(sum == kCalls * (kCalls - 1) / 2);
}

TEST_CASE("onLoop: on the caller's own loop") {
    test::Balance balance;
    RealLoop loop;
    CHECK(loop.run(onLoop(loop, [] { return 1; })) == 1);
}

TEST_CASE("onLoop: dropping the future drops only the result") {
    test::Balance balance;
    RealLoop loop;
    bool called = false;
    {
        auto dropped = onLoop(loop, [&] {
            called = true;
            return std::string("nobody sees this");
        });
    }
    loop.run();
    CHECK(called);
}

TEST_CASE("onLoop: a loop that ends before it has called") {
    RealLoop loop;
    Future<int> future;
    {
        RealLoop other;
        future = callFrom(loop, other, [] { return 1; });
    }
    loop.run();
    CHECK(future.isReady());
    CHECK(future.getError().code() == error_code_broken_promise);
}

TEST_CASE("onLoop: a loop that ends while what it was called for is under way") {
    RealLoop loop;
    auto there = std::make_shared<std::thread::id>();
    std::thread::id other;
    Future<int> direct, nested;
    LoopThread third;
    {
        LoopThread second;
        other = second.id();
        direct = onLoop(second.loop(), [dies = DyingCall(there)] { return Future<int>(Never()); });
        nested = onLoop(second.loop(), [&] { return onLoop(third.loop(), [] { return Future<int>(Never()); }); });
        loop.run(onLoop(second.loop(), [] {})); // by now the others have been called
    }
    for (Future<int> const& each : {direct, nested}) {
        loop.run(errorOr(timeoutError(each, 60)));
        REQUIRE(each.isReady());
        CHECK(each.getError().code() == error_code_broken_promise);
    }
    CHECK(*there == other);
}

TEST_CASE("onLoop: a call that ends with its loop is cancelled there first, and may look at the clock") {
    test::Balance balance;
    RealLoop loop;
    double diedAt = -1;
    Future<int> future;
    {
        RealLoop other;
        future = callFrom(loop, other, [&diedAt] {
            return [](double& at) -> Future<int> {
                try {
                    co_return co_await Future<int>(Never());
                } catch (Error&) {
                    at = timer() + now();
                    throw;
                }
            }(diedAt);
        });
        other.run();
    }
    CHECK(diedAt > 0);
    CHECK_FALSE(future.isReady());
    loop.run();
    CHECK(future.getError().code() == error_code_broken_promise);
}

TEST_CASE("onLoop: with a timeout, as the last thing that a loop runs") {
    LoopThread other;
    std::atomic<bool> cameToAnEnd{false};
    {
        RealLoop loop;
        auto slow = [&cameToAnEnd]() -> Future<int> {
            co_await delay(0.05);
            cameToAnEnd = true;
            co_return 42;
        };
        Future<int> late = timeoutError(onLoop(other.loop(), slow), 0.001);
        CHECK_THROWS_AS(loop.run(late), Error);
        CHECK(late.getError().code() == error_code_timed_out);
    }
    RealLoop loop;
    auto awaitEnd = [&]() -> Future<Void> {
        while (!cameToAnEnd)
            co_await delay(0.001);
    };
    loop.run(awaitEnd());
    loop.run(onLoop(other.loop(), [] {})); // behind the end of the call
}

TEST_CASE("onLoop: a caller that cancels before the call, during it, and with the answer on its way") {
    for (int step = 0; step < 3; ++step) {
        test::Balance balance;
        RealLoop other;
        bool called = false;
        Promise<std::string> answer;
        {
            RealLoop loop;
            auto future = callFrom(loop, other, [&] {
                called = true;
                return answer.getFuture();
            });
            detail::currentLoop = &other;
            if (step >= 1)
                other.run();
            CHECK(called == (step >= 1));
            if (step == 2)
                answer.send("nobody sees this, and it needs memory of its own");
            detail::currentLoop = &loop;
            future.cancel();
            CHECK(future.isReady());
            CHECK(future.getError().code() == error_code_actor_cancelled);
            loop.run(); // nothing keeps it
        }
        other.run();
        CHECK(called);
    }
}

TEST_CASE("onLoop: answers arrive while callers cancel and end") {
    constexpr int kCalls = 3000;
    LoopThread other;
    std::atomic<int> called{0};
    for (int i = 0; i < kCalls; ++i) {
        RealLoop loop;
        auto call = [&called] { return std::to_string(++called) + " needs memory of its own"; };
        auto future = onLoop(other.loop(), call);
        for (std::atomic<int> spin{(i * 37) % 2000}; spin > 0; --spin) {
        }
        if (i % 3 == 0)
            loop.run(errorOr(timeoutError(std::move(future), 1e-5)));
    }
    RealLoop loop;
    loop.run(onLoop(other.loop(), [] {}));
    CHECK(called == kCalls);
}

TEST_CASE("onLoop: a caller's loop that is destroyed while it waits") {
    CHECK_DIES(
        {
            RealLoop other;
            Future<int> future;
            RealLoop loop;
            future = onLoop(other, [] { return 1; });
        },
        "a call with onLoop");
}
