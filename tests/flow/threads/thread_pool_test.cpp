#include "flow/threads/thread_pool.h"

#include "flow/combine/errors.h"
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/pending_text.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <latch>
#include <memory>
#include <string>
#include <unistd.h>

using namespace flow;

namespace {

struct Machine {
    RealLoop loop;
    Reference<ThreadPool> threads = makeReference<ThreadPool>(loop);
};

/// Logs the thread of its destruction.
struct Dies {
    std::shared_ptr<std::thread::id> where;
    explicit Dies(std::shared_ptr<std::thread::id> w) : where(std::move(w)) {}
    Dies(Dies&&) = default;
    ~Dies() {
        if (where)
            *where = std::this_thread::get_id();
    }
};

/// Keeps every thread busy until it is destroyed.
class Blockade {
public:
    explicit Blockade(Machine& machine) {
        for (std::size_t i = 0; i < ThreadPool::kMostThreads; ++i)
            calls_.push_back(machine.threads->runToEnd([this] {
                begun_.count_down();
                over_.wait();
            }));
        begun_.wait();
    }
    ~Blockade() { lift(); }
    void lift() {
        if (!over_.try_wait())
            over_.count_down();
    }
    std::vector<Future<Void>> const& calls() const { return calls_; }

private:
    std::latch begun_{ThreadPool::kMostThreads};
    std::latch over_{1};
    std::vector<Future<Void>> calls_;
};

} // namespace

TEST_CASE("thread pool: one that comes back at once does not overtake a call that waits") {
    RealLoop loop;
    Reference<ThreadPool> threads = makeReference<ThreadPool>(loop, 1);
    int rounds = 0;
    bool isOver = false;
    auto comeBack = [](Reference<ThreadPool> pool, int* count, bool const* end) -> Future<Void> {
        for (; !*end && *count < 10'000; ++*count)
            co_await pool->run([] {});
    };
    auto comeOnce = [](Reference<ThreadPool> pool, int const* count, bool* end) -> Future<Void> {
        int before = *count;
        co_await pool->run([] {});
        CHECK(*count - before <= 3);
        *end = true;
    };
    Future<Void> greedy = comeBack(threads, &rounds, &isOver), other = comeBack(threads, &rounds, &isOver);
    loop.run([](int const* count) -> Future<Void> {
        while (*count < 10)
            co_await delay(0.001);
    }(&rounds));
    loop.run(comeOnce(threads, &rounds, &isOver));
    loop.run(greedy);
    loop.run(other);
}

TEST_CASE("thread pool: calls run elsewhere, and are destroyed here before their result is ready") {
    Machine machine;
    auto died = std::make_shared<std::thread::id>();
    auto task = [&]() -> Future<Void> {
        auto call = [dies = Dies(died)] { return std::this_thread::get_id(); };
        Future<std::thread::id> where = machine.threads->runToEnd(std::move(call));
        std::thread::id there = co_await where;
        CHECK(there != std::this_thread::get_id());
        CHECK(*died == std::this_thread::get_id());
        co_await machine.threads->runToEnd([] {});
        auto moved = co_await machine.threads->runToEnd([] { return std::make_unique<int>(3); });
        CHECK(*moved == 3);
    };
    machine.loop.run(task());
}

TEST_CASE("thread pool: errors come back") {
    Machine machine;
    Future<int> failed = machine.threads->runToEnd([]() -> int { throw io_error(); });
    Future<Void> unknown = machine.threads->runToEnd([] { throw std::string("not an Error"); });
    machine.loop.run();
    CHECK(failed.getError() == io_error());
    CHECK(unknown.getError() == unknown_error());
}

TEST_CASE("thread pool: so many calls block at a time, and the others wait") {
    Machine machine;
    Blockade blockade(machine); // returns, so they all run
    std::atomic<bool> ran = false;
    Future<Void> next = machine.threads->runToEnd([&] { ran = true; });
    machine.loop.run(delay(0.01));
    CHECK_FALSE(ran);
    std::string text = flow::test::pendingText();
    INFO(text);
    CHECK(flow::test::count(text, " waits for a blocking call that runs on a thread\n") == ThreadPool::kMostThreads);
    CHECK(flow::test::count(text, " waits for a blocking call that is queued: 1 wait for 8 threads\n") == 1);
    blockade.lift();
    machine.loop.run(waitForAll(blockade.calls()) && next);
    CHECK(ran);
}

TEST_CASE("thread pool: signals are for others") {
    Machine machine;
    auto blocked = [] {
        sigset_t mask;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        return ::sigismember(&mask, SIGINT) == 1 && ::sigismember(&mask, SIGTERM) == 1;
    };
    CHECK(machine.loop.run(machine.threads->runToEnd(blocked)));
    CHECK_FALSE(blocked());
}

TEST_CASE("thread pool: a call keeps its loop running, with or without a waiter") {
    Machine machine;
    std::atomic<int> ran = 0;
    for (int i = 0; i < 100; ++i)
        (void)machine.threads->runToEnd([&] { ++ran; });
    machine.loop.run();
    CHECK(ran == 100);
}

TEST_CASE("thread pool: the end, with calls that run, that wait and that have come back") {
    auto died = std::make_shared<std::thread::id>();
    std::vector<Future<Void>> running;
    Future<Void> waiting, late;
    Future<int> back;
    bool waitingRan = false;
    {
        Machine machine;
        back = machine.threads->runToEnd([] { return 1; }); // its result comes into the inbox, and is never taken out
        Blockade blockade(machine);
        running = blockade.calls();
        waiting = machine.threads->runToEnd([&, dies = Dies(died)] { waitingRan = true; });
        // stop() waits for the calls that run; what has not begun can begin only after one of them has ended.
        std::thread lifter([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            blockade.lift();
        });
        machine.threads->stop();
        lifter.join();
        late = machine.threads->runToEnd([&] { waitingRan = true; });
    }
    for (Future<Void> const& each : running)
        CHECK_FALSE(each.isReady());
    CHECK_FALSE(back.isReady());
    CHECK_FALSE(waiting.isReady());
    CHECK_FALSE(late.isReady());
    CHECK(waitingRan == false);
    CHECK(*died == std::this_thread::get_id());
}

TEST_CASE("thread pool: cancelling a call that has not begun destroys its function here and never calls it") {
    Machine machine;
    Blockade blockade(machine);
    auto died = std::make_shared<std::thread::id>();
    bool ran = false;
    Future<Void> first = machine.threads->run([&, dies = Dies(died)] { ran = true; });
    Future<int> second = machine.threads->run([] { return 2; });
    CHECK(machine.threads->queued() == 2);
    first.cancel();
    CHECK(first.getError() == actor_cancelled());
    CHECK(*died == std::this_thread::get_id());
    CHECK(machine.threads->queued() == 1);
    blockade.lift();
    CHECK(machine.loop.run(second) == 2);
    machine.loop.run(waitForAll(blockade.calls()));
    CHECK_FALSE(ran);
}

TEST_CASE("thread pool: cancelling a call that runs drops its result, and the loop does not wait for it") {
    std::atomic<bool> ended = false;
    auto died = std::make_shared<std::thread::id>();
    {
        std::latch begun{1}, over{1}; // outlive the machine, which waits for the call that uses them
        Machine machine;
        Future<int> result = machine.threads->run([&, dies = Dies(died)] {
            begun.count_down();
            over.wait();
            ended = true;
            return 1;
        });
        begun.wait();
        result = Future<int>();
        machine.loop.run(); // nothing is left to do
        CHECK_FALSE(ended);
        over.count_down();
    } // the end of the loop waits for the call
    CHECK(ended);
    CHECK(*died == std::this_thread::get_id());
}

TEST_CASE("thread pool: a call that runs to its end does so without its future") {
    Machine machine;
    Blockade blockade(machine);
    std::atomic<bool> ran = false;
    (void)machine.threads->runToEnd([&] { ran = true; });
    CHECK(machine.threads->queued() == 1);
    blockade.lift();
    machine.loop.run();
    CHECK(ran);
}

TEST_CASE("thread pool: a function may hold the future of its own call") {
    Machine machine;
    struct Shared {
        Future<int> future;
    };
    auto shared = std::make_shared<Shared>();
    std::weak_ptr<Shared> watched = shared;
    shared->future = machine.threads->run([shared] { return shared.use_count() != 0 ? 1 : 0; });
    shared.reset();
    machine.loop.run();
    CHECK(watched.expired());
}

TEST_CASE("thread pool: many calls that are dropped at any moment run once or never") {
    Machine machine;
    std::atomic<int> ran = 0;
    int cancelled = 0;
    auto task = [&]() -> Future<Void> {
        for (int i = 0; i < 2000; ++i) {
            Future<Void> call = machine.threads->run([&] { ++ran; });
            Future<Void> other = machine.threads->run([&] { ++ran; });
            if (i % 3 == 0)
                co_await call;
            else if (i % 3 == 1)
                co_await delay(0);
            cancelled += !call.isReady() + !other.isReady();
        }
    };
    machine.loop.run(task());
    machine.threads->stop();
    CHECK(ran <= 4000);
    CHECK(ran >= 4000 - cancelled);
}

TEST_CASE("thread pool: a pool of one thread runs one call after the other, in order") {
    Machine machine;
    auto pool = makeReference<ThreadPool>(machine.loop, 1);
    std::vector<int> order; // no lock: there is one thread
    std::vector<Future<Void>> calls;
    for (int i = 0; i < 100; ++i)
        calls.push_back(pool->run([&, i] { order.push_back(i); }));
    machine.loop.run(waitForAll(calls));
    CHECK(order.size() == 100);
    CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("thread pool: calls keep their pool") {
    RealLoop loop;
    Future<int> call = makeReference<ThreadPool>(loop)->run([] { return 4; });
    CHECK(loop.run(call) == 4);
}

TEST_CASE("thread pool: on a simulated loop calls are tasks, in order, on the loop's thread") {
    SimLoop loop;
    auto pool = makeReference<ThreadPool>(loop, 2);
    std::vector<int> order;
    auto call = [&](int i) {
        return pool->run([&order, i, here = std::this_thread::get_id()] {
            CHECK(std::this_thread::get_id() == here);
            order.push_back(i);
            return i;
        });
    };
    std::vector<Future<int>> calls;
    for (int i = 0; i < 10; ++i)
        calls.push_back(call(i));
    CHECK(order.empty());
    CHECK(pool->queued() == 10);
    calls[3].cancel();
    CHECK(calls[3].getError() == actor_cancelled());
    Future<Void> failed = pool->run([] { throw io_error(); });
    CHECK(loop.run(calls[9]) == 9);
    loop.run();
    CHECK(order == std::vector<int>{0, 1, 2, 4, 5, 6, 7, 8, 9});
    CHECK(failed.getError() == io_error());
    CHECK(pool->queued() == 0);
}

TEST_CASE("thread pool: what a simulated loop, or a pool on it, leaves undone is destroyed") {
    auto watched = std::make_shared<int>();
    Future<int> first, second;
    {
        SimLoop loop;
        auto pool = makeReference<ThreadPool>(loop);
        first = pool->run([watched] { return *watched; });
        pool->stop();
        loop.run();
        CHECK(watched.use_count() == 1);
        pool = makeReference<ThreadPool>(loop);
        second = pool->run([watched] { return *watched; });
    }
    CHECK(watched.use_count() == 1);
    CHECK_FALSE(first.isReady());
    CHECK_FALSE(second.isReady());
}

TEST_CASE("thread pool: a call in a child of fork() ends the program with a message, and does not wait forever") {
    static Machine* machine;
    Machine parent;
    machine = &parent;
    auto call = [] { return machine->loop.run(machine->threads->run([] { return 1; })); };
    CHECK(call() == 1);
    std::string message = test::abortMessage([] {
        ::alarm(20);
        machine->loop.run(machine->threads->run([] { return 2; }));
    });
    CHECK(message.find("a child of fork() has none of the threads of this pool") != std::string::npos);
    CHECK(call() == 1);
}
