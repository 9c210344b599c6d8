#include "flow/wait/signals.h"

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/pending_text.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace flow;

namespace {

Future<int> next(SignalSet numbers) {
    return keep(signals(numbers));
}

Future<Void> collect(std::vector<int>& all, int count) {
    while (count-- > 0)
        all.push_back(co_await signals({SIGUSR1, SIGUSR2}));
}

} // namespace

TEST_CASE("signals: a report names them") {
    RealLoop loop;
    Future<int> one = next({SIGTERM}), several = next({SIGHUP, SIGUSR1, SIGRTMAX});
    std::string text = test::pendingText();
    INFO(text);
    CHECK(test::has(text, "waits for signal SIGTERM\n"));
    CHECK(test::has(text, "waits for the first of the signals SIGHUP, SIGUSR1, 64\n"));
}

TEST_CASE("signals: end a sleep, from any sender") {
    RealLoop loop;
    Future<int> waiting = next({SIGUSR1, SIGUSR2});
    std::thread other([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ::kill(::getpid(), SIGUSR2);
    });
    CHECK(loop.run(waiting) == SIGUSR2);
    other.join();
}

TEST_CASE("signals: all waiters get one, and later waiters do not") {
    RealLoop loop;
    Future<int> a = next({SIGUSR1}), b = next({SIGUSR1, SIGUSR2}), c = next({SIGUSR1}), d = next({SIGUSR2});
    ::raise(SIGUSR1);
    CHECK(loop.run(a) == SIGUSR1);
    CHECK(loop.run(b) == SIGUSR1);
    CHECK(loop.run(c) == SIGUSR1);
    CHECK_FALSE(d.isReady());
    Future<int> later = next({SIGUSR1});
    loop.run(delay(0.005));
    CHECK_FALSE(later.isReady());
}

TEST_CASE("signals: one without a waiter is kept, and several of a kind are one") {
    RealLoop loop;
    (void)signals({SIGUSR1, SIGUSR2});
    std::vector<int> all;
    ::raise(SIGUSR2);
    loop.run(delay(0.001));
    ::raise(SIGUSR1);
    ::raise(SIGUSR1);
    loop.run(delay(0.001));
    Future<Void> collecting = collect(all, 3);
    loop.run(delay(0.005));
    CHECK(all == std::vector<int>{SIGUSR2, SIGUSR1});
    ::raise(SIGUSR1);
    loop.run(collecting);
    CHECK(all.back() == SIGUSR1);
}

TEST_CASE("signals: what loses a race, or is cancelled, leaves them to the next") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Future<int> dropped = next({SIGUSR1});
        dropped = Future<int>();
        ::raise(SIGUSR1);
        co_await delay(0.001);
        auto first = co_await race(Future<Void>(Void()), signals({SIGUSR1}));
        CHECK(first.index() == 0);
        int number = co_await signals({SIGUSR1});
        CHECK(number == SIGUSR1);
    };
    loop.run(test());
}

TEST_CASE("signals: two loops in two threads both get one; afterwards the process has what it had before") {
    struct sigaction before = {}, mine = {}, after = {};
    mine.sa_handler = SIG_IGN;
    ::sigaction(SIGUSR1, &mine, &before);
    {
        std::atomic<int> ready{0};
        auto wait = [&ready] {
            RealLoop loop;
            Future<int> waiting = next({SIGUSR1});
            ++ready;
            CHECK(loop.run(waiting) == SIGUSR1);
        };
        std::thread one(wait), two(wait);
        while (ready != 2)
            std::this_thread::yield();
        ::kill(::getpid(), SIGUSR1);
        one.join();
        two.join();
    }
    ::sigaction(SIGUSR1, nullptr, &after);
    CHECK((after.sa_handler == SIG_IGN));
    ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("signals: a flood of them while the loop starts and ends") {
    struct sigaction mine = {}, before = {};
    mine.sa_handler = SIG_IGN;
    ::sigaction(SIGUSR1, &mine, &before);
    std::atomic<bool> stop{false};
    std::thread flood([&] {
        while (!stop) {
            ::kill(::getpid(), SIGUSR1);
            std::this_thread::yield();
        }
    });
    for (int i = 0; i < 200; ++i) {
        RealLoop loop;
        Future<int> first = next({SIGUSR1});
        CHECK(loop.run(first) == SIGUSR1);
        Future<int> unheard = next({SIGUSR1});
    }
    stop = true;
    flood.join();
    ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("signals: one that cannot be caught is an error") {
    RealLoop loop;
    CHECK_THROWS_AS((void)signals({SIGKILL}), Error);
    CHECK_THROWS_AS((void)signals({1000}), Error);
    CHECK_THROWS_AS((void)signals({}), Error);
}
