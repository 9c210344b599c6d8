#include "flow/coro/from_awaitable.h"

#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace flow;

namespace {

/// An event of another library: resumes its waiters when it is set. An awaiter unlinks itself when it is destroyed.
class Event {
public:
    struct Waiter {
        explicit Waiter(Event& e) : event(&e) {}
        Waiter(Waiter&& other) noexcept : event(other.event) {}
        ~Waiter() { std::erase(event->waiters_, this); }
        bool await_ready() const { return event->isSet_; }
        void await_suspend(std::coroutine_handle<> h) {
            handle = h;
            event->waiters_.push_back(this);
        }
        std::string await_resume() const {
            if (event->fails_)
                throw io_error();
            return "set";
        }
        Event* event;
        std::coroutine_handle<> handle;
    };
    Waiter wait() { return Waiter(*this); }
    void set(bool fails = false) {
        isSet_ = true;
        fails_ = fails;
        while (!waiters_.empty()) {
            Waiter* first = waiters_.front();
            waiters_.erase(waiters_.begin());
            first->handle.resume();
        }
    }
    std::size_t waiters() const { return waiters_.size(); }

private:
    bool isSet_ = false;
    bool fails_ = false;
    std::vector<Waiter*> waiters_;
};

/// Resumes on another thread; cannot be moved.
struct OnThread {
    explicit OnThread(std::thread& t) : thread(t) {}
    OnThread(OnThread const&) = delete;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> handle) {
        thread = std::thread([handle] { handle.resume(); });
    }
    std::thread::id await_resume() const { return std::this_thread::get_id(); }
    std::thread& thread;
};

/// By operator co_await, with a result that is a reference, or none.
struct Now {
    int& number;
    struct Awaiter {
        int& number;
        bool await_ready() const { return true; }
        void await_suspend(std::coroutine_handle<>) const {}
        int& await_resume() const { return number; }
    };
    Awaiter operator co_await() const { return {number}; }
};

Future<std::string> waits(Event& event) {
    std::string text = co_await fromAwaitable(event.wait());
    co_return text + "!";
}

} // namespace

TEST_CASE("from awaitable: values, references, nothing and errors") {
    test::Balance balance;
    SimLoop loop;
    Event event;
    Future<std::string> waiting = waits(event);
    CHECK(!waiting.isReady());
    CHECK(event.waiters() == 1);
    event.set();
    CHECK(waiting.get() == "set!");
    CHECK(waits(event).get() == "set!");
    event.set(true);
    CHECK(waits(event).getError() == io_error());
    int number = 3;
    Future<int> copied = fromAwaitable(Now{number});
    CHECK(copied.get() == 3);
    Future<Void> nothing = fromAwaitable(std::suspend_never());
    CHECK(nothing.canGet());
}

TEST_CASE("from awaitable: a cancel takes effect at once, and the awaitable runs on") {
    test::Balance balance;
    SimLoop loop;
    Event event;
    Future<std::string> waiting = waits(event);
    waiting.cancel();
    CHECK(waiting.getError() == actor_cancelled());
    CHECK(event.waiters() == 1);
    waiting = waits(event);
    waiting = {};
    CHECK(event.waiters() == 2);
    auto loses = [&]() -> Future<int> {
        auto first = co_await race(fromAwaitable(event.wait()), delay(1.0));
        co_return static_cast<int>(first.index());
    };
    CHECK(loop.run(loses()) == 1);
    CHECK(event.waiters() == 3);
    event.set();
    CHECK(event.waiters() == 0);
    CHECK(loop.run(loses()) == 0);
}

TEST_CASE("from awaitable: a function asks it to end, or it is destroyed") {
    test::Balance balance;
    SimLoop loop;
    Event event;
    int asked = 0;
    Future<std::string> waiting = fromAwaitable(event.wait(), [&] {
        ++asked;
        event.set(true);
    });
    waiting.cancel();
    CHECK(asked == 1);
    CHECK(event.waiters() == 0);
    waiting = fromAwaitable(event.wait(), [&] { ++asked; });
    CHECK(waiting.getError() == io_error());
    CHECK(asked == 1);
    Event other;
    waiting = fromAwaitable(other.wait(), DestroyOnCancel());
    CHECK(other.waiters() == 1);
    waiting = {};
    CHECK(other.waiters() == 0);
    waiting = fromAwaitable(other.wait(), DestroyOnCancel());
    other.set();
    CHECK(waiting.get() == "set");
}

TEST_CASE("from awaitable: one that resumes on another thread comes back to the loop") {
    RealLoop loop;
    std::thread thread;
    auto task = [&]() -> Future<Void> {
        std::thread::id there = co_await fromAwaitable([&] { return OnThread(thread); });
        CHECK(there != std::this_thread::get_id());
        CHECK(&flow::Loop::current() == &loop);
    };
    loop.run(task());
    thread.join();
    for (int i = 0; i < 50; ++i) { // cancelled before, while or after the other thread answers
        Future<std::thread::id> dropped = fromAwaitable([&] { return OnThread(thread); });
        if (i % 3 == 0)
            loop.run(delay(0));
        dropped = {};
        thread.join();
    }
    loop.run();
}
