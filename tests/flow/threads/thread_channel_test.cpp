#include "flow/threads/thread_channel.h"

#include "flow/combine/errors.h"
#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/threads/loop_pool.h"
#include "flow/threads/on_loop.h"
#include "flow/threads/thread_promise.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"
#include "tests/flow/support/death.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <memory>
#include <thread>
#include <vector>

using namespace flow;

namespace {

using IntChannel = ThreadChannel<int>;

Future<Void> sendRange(IntChannel* channel, int first, int count) {
    for (int i = first; i < first + count; ++i) {
        int value = i;
        co_await channel->send(std::move(value));
    }
}
Future<std::vector<int>> receiveToEnd(IntChannel* channel) {
    std::vector<int> got;
    for (;;) {
        auto next = co_await tryGet(keep(channel->receive()));
        if (next.isError(error_code_end_of_stream))
            co_return got;
        got.push_back(next.get());
    }
}
std::vector<int> drainOnThread(IntChannel& channel) {
    std::vector<int> got;
    while (std::optional<int> next = channel.receiveBlocking())
        got.push_back(*next);
    return got;
}
/// Calls f on a thread without a loop, and waits for its end.
template <class F>
void onOtherThread(F f) {
    std::thread(std::move(f)).join();
}

} // namespace

TEST_CASE("thread channel: on one loop it is a channel") {
    test::Balance balance;
    SimLoop loop;
    IntChannel channel(2);
    Future<Void> sending = sendRange(&channel, 0, 10);
    Future<std::vector<int>> got = receiveToEnd(&channel);
    loop.run(sending);
    CHECK(channel.capacity() == 2);
    channel.close();
    CHECK(channel.isClosed());
    CHECK(loop.run(got) == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("thread channel: between loops and threads, each value comes out once, those of one sender in order") {
    constexpr int kEach = 200;
    for (std::size_t capacity : {1u, 3u}) {
        RealLoop home;
        IntChannel channel(capacity);
        LoopPool loops(2);
        std::vector<std::vector<int>> got(4);
        std::thread receiver([&] { got[3] = drainOnThread(channel); });
        ThreadPromise<Void> sent; // a join() would block the loop, with the value that is on its way to it
        Future<Void> allSent = sent.getFuture();
        std::thread sender([&, sent = std::move(sent)]() mutable {
            for (int i = 0; i < kEach; ++i)
                channel.sendBlocking(int(i));
            sent.send(Void());
        });
        auto onBoth = [&]() -> Future<Void> {
            std::vector<Future<std::vector<int>>> receiving;
            std::vector<Future<Void>> sending;
            for (int i = 0; i < 2; ++i)
                receiving.push_back(onLoop(loops[i], [&channel] { return receiveToEnd(&channel); }));
            receiving.push_back(receiveToEnd(&channel));
            for (int i = 0; i < 2; ++i)
                sending.push_back(
                    onLoop(loops[i], [&channel, i] { return sendRange(&channel, 1000 * (i + 1), kEach); }));
            sending.push_back(sendRange(&channel, 3000, kEach));
            for (Future<Void>& each : sending)
                co_await each;
            co_await allSent;
            channel.close();
            for (std::size_t i = 0; i < 3; ++i)
                got[i] = co_await receiving[i];
        };
        home.run(onBoth());
        sender.join();
        receiver.join();
        std::vector<int> all;
        for (std::vector<int> const& each : got) {
            for (int sender = 0; sender < 4; ++sender) {
                std::vector<int> of;
                std::ranges::copy_if(each, std::back_inserter(of), [&](int n) { return n / 1000 == sender; });
                CHECK(std::ranges::is_sorted(of));
            }
            all.insert(all.end(), each.begin(), each.end());
        }
        std::ranges::sort(all);
        CHECK(std::ranges::adjacent_find(all) == all.end());
        CHECK(all.size() == 4 * kEach);
    }
}

TEST_CASE("thread channel: trySend refuses, and leaves the value where it was") {
    ThreadChannel<std::unique_ptr<int>> channel(1);
    auto first = std::make_unique<int>(1), second = std::make_unique<int>(2);
    CHECK_FALSE(channel.tryReceive());
    CHECK(channel.trySend(std::move(first)));
    CHECK_FALSE(channel.trySend(std::move(second)));
    CHECK(*second == 2);
    CHECK(channel.size() == 1);
    channel.close();
    CHECK(**channel.tryReceive() == 1);
    CHECK_FALSE(channel.trySend(std::move(second)));
    CHECK(second);
    CHECK_FALSE(channel.tryReceive());
    CHECK_FALSE(channel.receiveBlocking());
    CHECK_THROWS_AS(channel.sendBlocking(nullptr), Error);
}

TEST_CASE("thread channel: a wait that loses a race has taken nothing, and does not keep the loop") {
    test::Balance balance;
    SimLoop loop;
    IntChannel channel(1);
    auto task = [](IntChannel* numbers) -> Future<Void> {
        auto receive = numbers->receive(); // may be used again
        for (int i = 0; i < 2; ++i) {
            auto late = co_await race(receive, delay(1.0));
            CHECK(late.index() == 1);
        }
        int value = 5;
        co_await numbers->send(std::move(value));
        auto sent = co_await race(delay(0), numbers->send(std::move(value)));
        CHECK(sent.index() == 0);
        CHECK(numbers->size() == 1);
        auto ready = co_await race(Future<Void>(Void()), numbers->receive());
        CHECK(ready.index() == 0);
        auto got = co_await race(receive, delay(1.0));
        REQUIRE(got.index() == 0);
        CHECK(std::get<0>(got) == 5);
    };
    loop.run(task(&channel));
    loop.run(); // returns: nothing waits
    CHECK(channel.size() == 0);
}

TEST_CASE("thread channel: what was on its way to a cancelled wait goes to the next one") {
    test::Balance balance;
    SimLoop loop;
    IntChannel channel(1);
    Future<int> first = keep(channel.receive()), second = keep(channel.receive());
    CHECK(channel.trySend(7)); // the first receiver is called
    CHECK_FALSE(channel.tryReceive());
    first = Future<int>();
    CHECK(loop.run(second) == 7);
    int value = 8, other = 9;
    Future<Void> send = keep(channel.send(std::move(value)));
    send = Future<Void>();
    CHECK(channel.size() == 0);
    CHECK(channel.trySend(std::move(other))); // the place is free again
}

TEST_CASE("thread channel: a loop that stands still, or ends, keeps nothing from others") {
    RealLoop home;
    IntChannel channel(1);
    Future<int> first;
    {
        RealLoop other;
        first = keep(channel.receive());
        CHECK(channel.trySend(1)); // on its way to `other`
        Future<int> second = keep(channel.receive());
        second = Future<int>();
    }
    CHECK_FALSE(first.isReady());
    onOtherThread([&] { CHECK(channel.receiveBlocking() == 1); });
    Future<int> left = keep(channel.receive());
    left = Future<int>(); // home does not run
    onOtherThread([&] {
        channel.sendBlocking(2);
        CHECK(channel.receiveBlocking() == 2);
    });
    home.run(); // what was left of the messages
}

TEST_CASE("thread channel: close() wakes all") {
    RealLoop loop;
    IntChannel full(1), empty(1);
    CHECK(full.trySend(1));
    std::thread sender([&] { CHECK_THROWS_AS(full.sendBlocking(2), Error); });
    std::thread receiver([&] { CHECK_FALSE(empty.receiveBlocking()); });
    int value = 3;
    auto send = keep(full.send(std::move(value)));
    auto receive = keep(empty.receive());
    full.close();
    empty.close();
    CHECK_THROWS_AS(loop.run(send), Error);
    CHECK(send.getError() == broken_promise());
    CHECK_THROWS_AS(loop.run(receive), Error);
    CHECK(receive.getError() == end_of_stream());
    sender.join();
    receiver.join();
    CHECK(full.tryReceive() == 1);
    CHECK(value == 3);
}

TEST_CASE("thread channel: after close() a waiting receiver ends only when no value is left") {
    SimLoop loop;
    IntChannel channel(1);
    Future<int> first = keep(channel.receive()), second = keep(channel.receive());
    CHECK(channel.trySend(1));
    channel.close();
    first = Future<int>();
    CHECK(loop.run(second) == 1);
}

TEST_CASE("thread channel: waits that are cancelled while another thread calls them") {
    IntChannel channel(1);
    std::thread sender([&] {
        for (int i = 0; i < 500; ++i)
            channel.sendBlocking(int(i));
        channel.close();
    });
    RealLoop loop;
    auto task = [](IntChannel* numbers) -> Future<Void> {
        for (int expected = 0;;) {
            auto next = co_await tryGet(Future<std::variant<int, Void>>(race(numbers->receive(), delay(0))));
            if (next.isError(error_code_end_of_stream))
                break;
            if (next.get().index() == 0)
                CHECK(std::get<0>(next.get()) == expected++);
        }
    };
    loop.run(task(&channel));
    sender.join();
}

TEST_CASE("thread channel: cancelled everywhere") {
    test::Traits throws{.hasHandlers = true};
    auto send = [](test::Inputs& inputs) {
        IntChannel& channel = inputs.keep<IntChannel>(1u);
        inputs.onStep([&] { (void)channel.tryReceive(); });
        return test::AnyFuture(sendRange(&channel, 0, 3));
    };
    auto receive = [](test::Inputs& inputs) {
        IntChannel& channel = inputs.keep<IntChannel>(2u);
        for (int i = 0; i < 3; ++i)
            inputs.onStep([&, i] { (void)channel.trySend(int(i)); });
        auto two = [](IntChannel* numbers) -> Future<int> {
            int first = co_await numbers->receive();
            int second = co_await numbers->receive();
            co_return first + second;
        };
        return test::AnyFuture(two(&channel));
    };
    test::cancelEverywhere("ThreadChannel::send", send, throws);
    test::cancelEverywhere("ThreadChannel::receive", receive, throws);
}

TEST_CASE("thread channel: misuse") {
    RealLoop loop;
    IntChannel channel(1);
    CHECK_NAMES_CALLER(IntChannel none(0));
    CHECK_NAMES_CALLER(channel.sendBlocking(1));
    CHECK_NAMES_CALLER(channel.receiveBlocking());
    CHECK_DIES(
        {
            auto* dies = new IntChannel(1);
            Future<int> waits = keep(dies->receive());
            delete dies;
        },
        "a ThreadChannel is destroyed while");
}
