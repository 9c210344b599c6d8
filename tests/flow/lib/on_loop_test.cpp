#include "flow/lib/on_loop.h"

#include "flow/loop/delay.h"
#include "flow/loop/real_loop.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

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

/// Says on which thread it dies.
struct Dies {
    std::shared_ptr<std::thread::id> where;
    explicit Dies(std::shared_ptr<std::thread::id> w) : where(std::move(w)) {}
    Dies(Dies&&) = default;
    ~Dies() {
        if (where)
            *where = std::this_thread::get_id();
    }
};

Future<int> later(int value) {
    co_await delay(0.001);
    co_return value;
}

} // namespace

TEST_CASE("onLoop: runs there, gives the result here") {
    LoopThread other;
    RealLoop loop;
    auto there = std::make_shared<std::thread::id>();
    auto task = [&]() -> Future<Void> {
        std::thread::id ran;
        // A name of its own, since gcc 12 destroys what a temporary captures twice if it stands in a co_await.
        auto call = [&ran, dies = Dies(there)] {
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

TEST_CASE("onLoop: waits there for a future, whose errors come back") {
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
        // Made current by its construction; the call is made for the outer loop.
        detail::currentLoop = &loop;
        future = onLoop(other, [] { return 1; });
        detail::currentLoop = &other;
    }
    loop.run();
    CHECK(future.isReady());
    CHECK(future.getError().code() == error_code_broken_promise);
}
