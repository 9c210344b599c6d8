#include "flow/tasks/executor.h"

#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/threads/loop_pool.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <vector>

namespace {
using namespace flow;

Task<int> doubled(Context, int n) {
    co_await delay(0.001);
    co_return 2 * n;
}
Task<int> sleeps(Context, std::atomic<int>* running) {
    struct End {
        std::atomic<int>* running;
        ~End() { --*running; }
    } end{running};
    ++*running;
    co_await delay(1000);
    co_return 0;
}

TEST_CASE("after() resumes at once, in a turn, or later") {
    SimLoop loop;
    test::Balance balance;
    auto body = [](Context, std::string* trace) -> Task<> {
        co_await after(NoopExecutor());
        *trace += "noop ";
        co_await after(CurrentLoop());
        *trace += "turn ";
        co_await after(Timer(2));
        *trace += "timer ";
    };
    std::string trace;
    Future<Void> running = start(body(Environment(), &trace));
    CHECK(trace == "noop ");
    loop.run(running);
    CHECK(trace == "noop turn timer ");
    CHECK(loop.now() == 2);
}

TEST_CASE("children run on the loops of other threads, and their results come back") {
    RealLoop loop;
    LoopPool pool(2);
    auto body = [](Context, LoopPool* pool) -> Task<int> {
        Context here = co_await context();
        std::thread::id mine = std::this_thread::get_id();
        std::vector<Fork<int>> children;
        for (int i = 0; i < 20; ++i)
            children.push_back(runOn(here, pool->next(), [i](Context there) { return doubled(there, i); }));
        Fork<bool> elsewhere =
            runOn(here, pool->next(), [mine](Context) { return std::this_thread::get_id() != mine; });
        int sum = 0;
        for (Fork<int>& child : children)
            sum += co_await child;
        CHECK(std::this_thread::get_id() == mine);
        CHECK(co_await elsewhere);
        co_return sum;
    };
    CHECK(loop.run(start(body(Environment(), &pool))) == 380);
}

TEST_CASE("a tree finds its executors in its context") {
    struct Executors {
        Loop& storage;
        std::thread::id here;
    };
    auto read = [](ContextWith<Executors>, int key) -> Fork<int> {
        auto here = co_await context();
        Fork<int> row = runOn(here, here->storage, [key](Context there) { return doubled(there, key); });
        int found = co_await row;
        CHECK(std::this_thread::get_id() == here->here);
        co_return found;
    };
    auto body = [](ContextWith<Executors>, decltype(read) reads) -> Task<int> {
        auto here = co_await context();
        Fork<int> first = reads(here, 1);
        Fork<int> second = reads(here, 2);
        int sum = co_await first;
        sum += co_await second;
        co_return sum;
    };
    RealLoop loop;
    LoopPool pool(1);
    Executors executors{pool.next(), std::this_thread::get_id()};
    CHECK(loop.run(start(body(Environment().with(executors), read))) == 6);
}

TEST_CASE("an error comes back, and cancels the other children") {
    RealLoop loop;
    LoopPool pool(2);
    std::atomic<int> running{0};
    auto body = [](Context, LoopPool* pool, std::atomic<int>* running) -> Task<> {
        Context here = co_await context();
        Fork<int> sleeper = runOn(here, (*pool)[0], [running](Context there) { return sleeps(there, running); });
        Fork<> failed = runOn(here, (*pool)[1], [](Context) { throw timed_out(); });
        co_await failed;
    };
    Future<Void> done = start(body(Environment(), &pool, &running));
    CHECK_THROWS_AS(loop.run(done), Error);
    CHECK(done.getError() == timed_out());
    CHECK(running.load() == 0);
}

TEST_CASE("a cancel crosses to the other loop, and the fork ends after its tree there") {
    RealLoop loop;
    LoopPool pool(1);
    std::atomic<int> running{0};
    auto body = [](Context, LoopPool* pool, std::atomic<int>* running, bool waits) -> Task<> {
        Context here = co_await context();
        Fork<int> sleeper = runOn(here, (*pool)[0], [running](Context there) { return sleeps(there, running); });
        while (waits && running->load() == 0)
            co_await delay(0.001);
        sleeper.cancel();
        CHECK(!sleeper.isReady());
        Error error;
        try {
            co_await sleeper;
        } catch (...) {
            error = currentError();
        }
        CHECK(error == actor_cancelled());
        CHECK(running->load() == 0);
    };
    for (int i = 0; i < 50; ++i) // before it has arrived there, and after
        loop.run(start(body(Environment(), &pool, &running, i % 2 == 0)));
}

TEST_CASE("when the future of start() is cancelled, the tree ends when all of it has come back") {
    RealLoop loop;
    LoopPool pool(1);
    std::atomic<int> running{0};
    std::string trace;
    struct Says {
        explicit Says(std::string* t) : trace(t) {}
        Says(Says&& other) noexcept : trace(std::exchange(other.trace, nullptr)) {}
        ~Says() {
            if (trace)
                *trace += "parameters of the parent";
        }
        std::string* trace;
    };
    auto body = [](Context, LoopPool* pool, std::atomic<int>* running, Says) -> Task<> {
        Fork<int> sleeper =
            runOn(co_await context(), (*pool)[0], [running](Context there) { return sleeps(there, running); });
        co_await sleeper;
    };
    auto waitFor = [](std::atomic<int>* running) -> Future<Void> {
        while (running->load() == 0)
            co_await delay(0.001);
    };
    Future<Void> done = start(body(Environment(), &pool, &running, Says(&trace)));
    loop.run(waitFor(&running));
    done.cancel();
    CHECK(done.getError() == actor_cancelled());
    CHECK(trace.empty());
    loop.run(); // until nothing is left to do
    CHECK(trace == "parameters of the parent");
    CHECK(running.load() == 0);
}

TEST_CASE("a tree fails with broken_promise when its loop ends") {
    RealLoop loop;
    std::atomic<int> running{0};
    auto pool = std::make_unique<LoopPool>(1);
    auto body = [](Context, LoopPool* pool, std::atomic<int>* running) -> Task<> {
        Fork<int> sleeper =
            runOn(co_await context(), (*pool)[0], [running](Context there) { return sleeps(there, running); });
        co_await sleeper;
    };
    Future<Void> done = start(body(Environment(), pool.get(), &running));
    auto waitFor = [](std::atomic<int>* running) -> Future<Void> {
        while (running->load() == 0)
            co_await delay(0.001);
    };
    loop.run(waitFor(&running));
    pool.reset();
    CHECK_THROWS_AS(loop.run(done), Error);
    CHECK(done.getError() == broken_promise());
    CHECK(running.load() == 0);
}

TEST_CASE("on the simulated loop itself it runs in turns, and the same each time") {
    auto run = [] {
        SimLoop loop;
        test::Balance balance;
        auto body = [](Context, std::string* trace) -> Task<> {
            Context here = co_await context();
            std::vector<Fork<int>> children;
            for (int i = 0; i < 3; ++i)
                children.push_back(
                    runOn(here, flow::Loop::current(), [i](Context there) { return doubled(there, i); }));
            for (Fork<int>& child : children)
                *trace += std::to_string(co_await child) + " ";
        };
        std::string trace;
        loop.run(start(body(Environment(), &trace)));
        return trace + std::to_string(loop.stepsRun()) + " " + std::to_string(loop.now());
    };
    std::string first = run();
    CHECK(first.starts_with("0 2 4 "));
    CHECK(run() == first);
}

} // namespace
