#include "flow/loop/detail/inbox.h"

#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

using namespace flow;
using namespace flow::detail;

namespace {

/// As a loop sleeps.
struct Sleeper {
    Inbox inbox;
    EventPoller poller;

    void sleep(double seconds) {
        poller.prepare();
        if (!inbox.fallAsleep())
            return;
        poller.wait(seconds);
        if (!inbox.wakeUp())
            poller.takeWake();
    }
};

struct Letter : Waiter {
    int sender = 0;
    int number = 0;
};

} // namespace

TEST_CASE("inbox: gives in order what was put in") {
    Inbox inbox;
    CHECK(inbox.isEmpty());
    Letter letters[5] = {};
    for (int i = 0; i < 5; ++i) {
        letters[i].number = i;
        CHECK_FALSE(inbox.put(&letters[i]));
    }
    CHECK_FALSE(inbox.isEmpty());
    int next = 0;
    inbox.takeAll([&](Waiter* waiter) { CHECK(static_cast<Letter*>(waiter)->number == next++); });
    CHECK(next == 5);
    CHECK(inbox.isEmpty());
    inbox.takeAll([](Waiter*) { CHECK(false); });
}

TEST_CASE("inbox: sleep returns at once if something is there, and after its time if nothing comes") {
    Sleeper sleeper;
    Inbox& inbox = sleeper.inbox;
    sleeper.sleep(0.001);
    sleeper.sleep(0);
    Letter letter = {};
    inbox.put(&letter);
    sleeper.sleep(std::numeric_limits<double>::infinity());
    CHECK_FALSE(inbox.isEmpty());
}

TEST_CASE("inbox: a sleep in which something is put in does not end before the write that is to end it") {
    Sleeper sleeper;
    Inbox& inbox = sleeper.inbox;
    std::deque<Letter> letters;
    std::atomic<bool> writes{false};
    std::thread sender([&] {
        do { // until it finds the owner asleep
            std::this_thread::yield();
        } while (!inbox.put(&letters.emplace_back()));
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        writes = true;
        sleeper.poller.wake();
    });
    Waiter *taken = nullptr, *takenBeforeWrite = nullptr;
    while (!writes) {
        sleeper.sleep(0.01); // its time is over before the write
        bool written = writes;
        inbox.takeAll([&](Waiter* waiter) { taken = waiter; });
        if (!written)
            takenBeforeWrite = taken;
    }
    sender.join();
    CHECK(takenBeforeWrite != &letters.back());
}

TEST_CASE("inbox: many threads, one owner that sleeps whenever nothing is there") {
    constexpr int kThreads = 3, kLetters = 20000;
    Sleeper sleeper;
    Inbox& inbox = sleeper.inbox;
    std::vector<std::thread> senders;
    std::vector<std::unique_ptr<Letter[]>> letters;
    for (int t = 0; t < kThreads; ++t)
        letters.push_back(std::make_unique<Letter[]>(kLetters));
    for (int t = 0; t < kThreads; ++t)
        senders.emplace_back([&sleeper, &inbox, t, mine = letters[t].get()] {
            for (int i = 0; i < kLetters; ++i) {
                mine[i].sender = t;
                mine[i].number = i;
                if (inbox.put(&mine[i]))
                    sleeper.poller.wake();
                if (i % 97 == 0)
                    std::this_thread::yield();
            }
        });
    int next[kThreads] = {};
    int received = 0;
    while (received < kThreads * kLetters) {
        sleeper.sleep(std::numeric_limits<double>::infinity());
        inbox.takeAll([&](Waiter* waiter) {
            auto* letter = static_cast<Letter*>(waiter);
            REQUIRE(letter->number == next[letter->sender]++);
            ++received;
        });
    }
    for (std::thread& sender : senders)
        sender.join();
    CHECK(inbox.isEmpty());
}

TEST_CASE("inbox: a loop that has slept before fork() does not take its child's wake-ups, nor the child its own") {
    RealLoop loop;
    auto woken = [&] {
        WorkGuard guard(loop);
        std::thread other([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20)); // the loop sleeps by then
            loop.post([&] { loop.stop(); });
        });
        loop.run();
        other.join();
    };
    woken();
    // With one eventfd for both, the bytes that the children write end each sleep of the parent, and the other way
    // round.
    test::Death child = test::runInChild([&] {
        ::alarm(20);
        woken();
        woken();
    });
    CHECK(child.status == 0);
    woken();
}
