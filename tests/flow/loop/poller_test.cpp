#include "flow/loop/poller.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <limits>
#include <pthread.h>
#include <thread>

using namespace flow;

namespace {

double realTime() {
    timespec time;
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Counts the calls, and makes a waiter ready when it is polled.
struct CountingPoller final : Poller {
    EventPoller events;
    RealLoop& loop;
    detail::Waiter* waiter = nullptr;
    int looks = 0, sleeps = 0, newsAfter = 0;
    bool awaited = false;

    explicit CountingPoller(RealLoop& l) : loop(l) {}
    void prepare() override { events.prepare(); }
    void wait(double seconds) noexcept override {
        ++(seconds > 0 ? sleeps : looks);
        if (waiter && --newsAfter <= 0) {
            loop.makeReady(std::exchange(waiter, nullptr), TaskPriority::ReadSocket);
            awaited = false;
            seconds = 0;
        }
        events.wait(seconds);
    }
    void wake() noexcept override { events.wake(); }
    void takeWake() noexcept override { events.takeWake(); }
    bool isWaitedFor() override { return awaited; }
    bool isUsed() const override { return true; }
};

struct Flag : detail::Waiter {
    bool resumed = false;
    Flag()
        : Waiter{[](Waiter* self) { static_cast<Flag*>(self)->resumed = true; }, {nullptr}, {nullptr, nullptr}, {}} {}
};

/// A handler that stops a loop, for as long as it exists.
struct StopOnSignal {
    static inline std::atomic<Loop*> target{nullptr};
    struct sigaction before;

    explicit StopOnSignal(Loop& loop) {
        target = &loop;
        struct sigaction action = {};
        action.sa_handler = [](int) { target.load()->stop(); };
        ::sigaction(SIGUSR1, &action, &before);
    }
    ~StopOnSignal() { ::sigaction(SIGUSR1, &before, nullptr); }
};

Future<Void> busy(int& rounds) {
    for (;; ++rounds)
        co_await delay(0);
}

} // namespace

TEST_CASE("poller: wake ends a wait and the next one only until it is taken") {
    EventPoller poller;
    poller.prepare();
    poller.wake();
    poller.wait(std::numeric_limits<double>::infinity());
    poller.takeWake();
    double start = realTime();
    poller.wait(0.01);
    CHECK(realTime() - start >= 0.009);
}

TEST_CASE("poller: wake leaves errno alone") {
    EventPoller poller;
    errno = ENOTTY;
    poller.wake(); // the write fails, since there is no descriptor yet
    CHECK(errno == ENOTTY);
}

TEST_CASE("poller: a loop that is busy looks for news each 64 tasks and never sleeps") {
    RealLoop loop;
    CountingPoller poller(loop);
    loop.usePoller(&poller);
    Flag flag;
    poller.waiter = &flag;
    poller.newsAfter = 3;
    int rounds = 0;
    Future<Void> work = busy(rounds);
    std::uint64_t before = loop.stepsRun();
    while (!flag.resumed)
        loop.run(delay(0));
    CHECK(loop.stepsRun() - before <= 4 * 64);
    int looks = poller.looks;
    rounds = 0;
    loop.run(delay(0.002));
    CHECK(poller.looks > looks);
    CHECK(rounds / (poller.looks - looks) <= 64);
    CHECK(poller.sleeps == 0);
    loop.usePoller(nullptr);
}

TEST_CASE("poller: what it finds in its sleep is resumed after it, and keeps the loop alive until then") {
    RealLoop loop;
    CountingPoller poller(loop);
    loop.usePoller(&poller);
    Flag flag;
    poller.waiter = &flag;
    poller.newsAfter = 2;
    poller.awaited = true;
    loop.run();
    CHECK(flag.resumed);
    CHECK(poller.sleeps >= 1);
    loop.usePoller(nullptr);
}

TEST_CASE("poller: a loop that has slept does not poll a second time before its tasks") {
    RealLoop loop;
    CountingPoller poller(loop);
    loop.usePoller(&poller);
    loop.run(delay(0.001));
    loop.run(delay(0.001));
    CHECK(poller.sleeps >= 2);
    CHECK(poller.looks <= 4); // once a run, and where a sleep was too short
    loop.usePoller(nullptr);
}

TEST_CASE("poller: a stop from a signal handler is never lost, whenever it comes") {
    RealLoop loop;
    StopOnSignal handler(loop);
    pthread_t self = ::pthread_self();
    std::atomic<int> round{0};
    constexpr int kRounds = 2000;
    std::thread sender([&] {
        for (int i = 1; i <= kRounds; ++i) {
            while (round.load() != i)
                std::this_thread::yield();
            for (int spin = 0; spin < i % 200 * 10; ++spin) { // hits another instruction each time
                asm volatile("");
            }
            ::pthread_kill(self, SIGUSR1);
        }
    });
    for (int i = 1; i <= kRounds; ++i) {
        WorkGuard guard(loop);
        round = i;
        loop.run(); // hangs if the signal is lost
    }
    sender.join();
    CHECK(round == kRounds);
}

TEST_CASE("poller: another thread may stop a loop that sleeps") {
    RealLoop loop;
    WorkGuard guard(loop);
    for (int i = 0; i < 50; ++i) {
        std::thread other([&] {
            std::this_thread::sleep_for(std::chrono::microseconds(i * 20));
            loop.stop();
        });
        loop.run();
        other.join();
    }
    CHECK(loop.stepsRun() == 0);
}
