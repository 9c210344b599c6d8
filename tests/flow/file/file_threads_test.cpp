#include "flow/file/file_threads.h"

#include "flow/coro/coroutine.h"
#include "flow/lib/all.h"
#include "flow/lib/errors.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"

#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <latch>
#include <memory>
#include <string>

using namespace flow;
using detail::FileThreads;

namespace {

struct Machine {
    RealLoop loop;
    Reference<FileThreads> threads = makeReference<FileThreads>(loop);
    ~Machine() {
        if (!threads->hasEnded())
            threads->end();
    }
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

/// Keeps every thread busy until it is destroyed.
class Blockade {
public:
    explicit Blockade(Machine& machine) {
        for (std::size_t i = 0; i < FileThreads::kMostThreads; ++i)
            calls_.push_back(machine.threads->call([this] {
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
    std::latch begun_{FileThreads::kMostThreads};
    std::latch over_{1};
    std::vector<Future<Void>> calls_;
};

} // namespace

TEST_CASE("file threads: calls run elsewhere, and die here before their result is there") {
    Machine machine;
    auto died = std::make_shared<std::thread::id>();
    auto task = [&]() -> Future<Void> {
        auto call = [dies = Dies(died)] { return std::this_thread::get_id(); };
        Future<std::thread::id> where = machine.threads->call(std::move(call));
        std::thread::id there = co_await where;
        CHECK(there != std::this_thread::get_id());
        CHECK(*died == std::this_thread::get_id());
        co_await machine.threads->call([] {});
        auto moved = co_await machine.threads->call([] { return std::make_unique<int>(3); });
        CHECK(*moved == 3);
    };
    machine.loop.run(task());
}

TEST_CASE("file threads: errors come back") {
    Machine machine;
    Future<int> failed = machine.threads->call([]() -> int { throw io_error(); });
    Future<Void> unknown = machine.threads->call([] { throw std::string("not an Error"); });
    machine.loop.run();
    CHECK(failed.getError() == io_error());
    CHECK(unknown.getError() == unknown_error());
}

TEST_CASE("file threads: so many calls block at a time, and the others wait") {
    Machine machine;
    Blockade blockade(machine); // returns, so they all run
    std::atomic<bool> ran = false;
    Future<Void> next = machine.threads->call([&] { ran = true; });
    machine.loop.run(delay(0.01));
    CHECK_FALSE(ran);
    blockade.lift();
    machine.loop.run(waitForAll(blockade.calls()) && next);
    CHECK(ran);
}

TEST_CASE("file threads: signals are for others") {
    Machine machine;
    auto blocked = [] {
        sigset_t mask;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        return ::sigismember(&mask, SIGINT) == 1 && ::sigismember(&mask, SIGTERM) == 1;
    };
    CHECK(machine.loop.run(machine.threads->call(blocked)));
    CHECK_FALSE(blocked());
}

TEST_CASE("file threads: a call keeps its loop at work, whether or not somebody waits") {
    Machine machine;
    std::atomic<int> ran = 0;
    for (int i = 0; i < 100; ++i)
        (void)machine.threads->call([&] { ++ran; });
    machine.loop.run();
    CHECK(ran == 100);
}

TEST_CASE("file threads: a simulated loop waits for them as well") {
    SimLoop loop;
    auto threads = makeReference<FileThreads>(loop);
    CHECK(loop.run(threads->call([] { return 7; })) == 7);
    threads->end();
}

TEST_CASE("file threads: the end, with calls that run, that wait and that have come back") {
    auto died = std::make_shared<std::thread::id>();
    std::vector<Future<Void>> running;
    Future<Void> waiting, late;
    Future<int> back;
    bool waitingRan = false;
    {
        Machine machine;
        back = machine.threads->call([] { return 1; }); // its result comes into the inbox, and is never taken out
        Blockade blockade(machine);
        running = blockade.calls();
        waiting = machine.threads->call([&, dies = Dies(died)] { waitingRan = true; });
        std::thread lifter([&] {
            while (!machine.threads->hasEnded())
                std::this_thread::yield();
            blockade.lift();
        });
        machine.threads->end();
        lifter.join();
        late = machine.threads->call([&] { waitingRan = true; });
    }
    for (Future<Void> const& each : running)
        CHECK_FALSE(each.isReady());
    CHECK_FALSE(back.isReady());
    CHECK_FALSE(waiting.isReady());
    CHECK_FALSE(late.isReady());
    CHECK(waitingRan == false);
    CHECK(*died == std::this_thread::get_id());
}
