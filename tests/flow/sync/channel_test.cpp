#include "flow/sync/channel.h"

#include "flow/base/random.h"
#include "flow/combine/race.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/combine.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <vector>

namespace {
using namespace flow;

Fork<> sendAll(Context, Channel<int>* channel, int first, int count) {
    for (int i = 0; i < count; ++i)
        co_await channel->send(first + i);
}
Fork<> receiveAll(Context, Channel<int>* channel, std::vector<int>* got) {
    try {
        for (;;)
            got->push_back(co_await channel->receive());
    } catch (Error const& error) {
        CHECK(error == end_of_stream());
    }
}
Task<> through(Context, std::size_t capacity, int senders, int receivers, std::vector<std::vector<int>>* got) {
    Context here = co_await context();
    Channel<int> channel(capacity, here.memory());
    std::vector<Fork<>> sending;
    for (int i = 0; i < senders; ++i)
        sending.push_back(sendAll(here, &channel, 100 * i, 50));
    for (int i = 0; i < receivers; ++i)
        (void)receiveAll(here, &channel, &(*got)[static_cast<std::size_t>(i)]);
    for (Fork<>& each : sending)
        co_await each;
    channel.close();
    co_await destroyForks();
}

TEST_CASE("each value of a channel comes out once, those of one sender in order") {
    for (std::size_t capacity : {0u, 1u, 3u, 1000u})
        for (int senders : {1, 3})
            for (int receivers : {1, 4}) {
                CAPTURE(capacity);
                CAPTURE(senders);
                CAPTURE(receivers);
                SimLoop loop;
                test::Balance balance;
                std::vector<std::vector<int>> got(static_cast<std::size_t>(receivers));
                loop.run(start(through(Environment(), capacity, senders, receivers, &got)));
                std::vector<int> all;
                for (std::vector<int> const& each : got) {
                    for (int sender = 0; sender < senders; ++sender) {
                        std::vector<int> of;
                        std::ranges::copy_if(each, std::back_inserter(of), [&](int n) { return n / 100 == sender; });
                        CHECK(std::ranges::is_sorted(of));
                    }
                    all.insert(all.end(), each.begin(), each.end());
                }
                std::ranges::sort(all);
                CHECK(std::ranges::adjacent_find(all) == all.end());
                CHECK(all.size() == static_cast<std::size_t>(50 * senders));
            }
}

Task<int> passOn(Context, Channel<std::vector<std::unique_ptr<int>>>* channel) {
    std::vector<std::unique_ptr<int>> numbers;
    numbers.push_back(std::make_unique<int>(6));
    co_await channel->send(std::move(numbers));
    std::vector<std::unique_ptr<int>> got = co_await channel->receive();
    co_return *got.at(0);
}

template <class T>
concept TakesConst = requires(Channel<T> channel, T const& value) { channel.send(value); };

TEST_CASE("what cannot be copied is moved through a channel, and sent only as what can be moved") {
    static_assert(TakesConst<int> && !TakesConst<std::unique_ptr<int>>);
    SimLoop loop;
    Channel<std::vector<std::unique_ptr<int>>> channel(1);
    CHECK(loop.run(start(passOn(Environment(), &channel))) == 6);
}

TEST_CASE("a send of a small trivial value holds a copy of it") {
    SimLoop loop;
    Channel<int> channel(1);
    std::optional<int> value = 1;
    Future<Void> sent = keep(channel.send(*value));
    value = 2;
    Future<Void> waits = keep(channel.send(*value));
    value = 3; // a temporary of an actor would be gone here
    CHECK(loop.run(keep(channel.receive())) == 1);
    CHECK(loop.run(keep(channel.receive())) == 2);
}

TEST_CASE("a full channel suspends its senders") {
    SimLoop loop;
    Channel<int> channel(2);
    int sent = 0;
    Future<Void> sending = [](Channel<int>* c, int* n) -> Future<Void> {
        for (int i = 0; i < 5; ++i) {
            co_await c->send(i);
            ++*n;
        }
    }(&channel, &sent);
    CHECK(sent == 2);
    CHECK(channel.size() == 2);
    CHECK(loop.run(keep(channel.receive())) == 0);
    loop.run(delay(0.01));
    CHECK(sent == 3);
}

TEST_CASE("what loses a race at a channel has sent nothing and received nothing") {
    for (std::size_t capacity : {0u, 1u}) {
        CAPTURE(capacity);
        SimLoop loop;
        Channel<int> channel(capacity);
        auto lose = [](Channel<int>* c, std::size_t full) -> Future<Void> {
            int first = 1;
            if (full != 0)
                co_await c->send(first);
            int second = 2;
            auto sent = co_await race(c->send(second), delay(1));
            CHECK(sent.index() == 1);
            if (full != 0) {
                int got = co_await c->receive();
                CHECK(got == 1);
            }
            auto received = co_await race(c->receive(), delay(1));
            CHECK(received.index() == 1);
        };
        loop.run(lose(&channel, capacity));
        CHECK(channel.size() == 0);
    }
}

TEST_CASE("a rendezvous decides two races at once") {
    SimLoop loop;
    Channel<std::unique_ptr<int>> channel(0);
    auto send = [](Channel<std::unique_ptr<int>>* c) -> Future<std::size_t> {
        auto value = std::make_unique<int>(5);
        auto first = co_await race(c->send(std::move(value)), delay(2));
        CHECK((value == nullptr) == (first.index() == 0));
        co_return first.index();
    };
    auto receive = [](Channel<std::unique_ptr<int>>* c) -> Future<std::size_t> {
        auto first = co_await race(c->receive(), delay(2));
        if (first.index() == 0)
            CHECK(*std::get<0>(first) == 5);
        co_return first.index();
    };
    for (bool sendsFirst : {true, false}) {
        Future<std::size_t> one = sendsFirst ? send(&channel) : receive(&channel);
        loop.run(delay(1));
        CHECK(!one.isReady());
        Future<std::size_t> other = sendsFirst ? receive(&channel) : send(&channel);
        CHECK(other.get() == 0);
        CHECK(one.get() == 0);
    }
    Future<std::size_t> alone = send(&channel);
    CHECK(loop.run(alone) == 1);
    Future<std::size_t> later = receive(&channel);
    CHECK(loop.run(later) == 1);
}

TEST_CASE("a closed channel refuses senders, and gives what it has") {
    SimLoop loop;
    Channel<int> channel(1);
    int value = 1;
    loop.run(keep(channel.send(value)));
    Future<Void> waits = keep(channel.send(value));
    CHECK(!waits.isReady());
    channel.close();
    loop.run(delay(0.01));
    CHECK(waits.getError() == broken_promise());
    CHECK(loop.run(keep(channel.receive())) == 1);
    Future<int> end = keep(channel.receive());
    CHECK(end.getError() == end_of_stream());
    Future<Void> late = keep(channel.send(value));
    CHECK(late.getError() == broken_promise());
}

TEST_CASE("a channel that is destroyed fails its waiters, and destroys its elements") {
    SimLoop loop;
    auto value = std::make_shared<int>(1);
    Future<Void> waits;
    {
        Channel<std::shared_ptr<int>> channel(1);
        loop.run(keep(channel.send(value)));
        waits = keep(channel.send(value));
        CHECK(value.use_count() == 2);
    }
    CHECK(value.use_count() == 1);
    CHECK(waits.getError() == broken_promise());
}

TEST_CASE("a channel can be cancelled at each step") {
    flow::test::cancelEverywhere(
        "channel",
        [](flow::test::Inputs& in) {
            auto run = [](Channel<int>* c, Future<int> n, flow::test::Sentinel) -> Future<int> {
                auto child = [](Context, Channel<int>* to, Future<int> number) -> Fork<> {
                    int value = co_await number;
                    co_await to->send(value);
                    co_await to->send(std::move(value));
                };
                auto root = [](Context, auto make, Channel<int>* from, Future<int> number) -> Task<int> {
                    Fork<> sender = make(co_await context(), from, number);
                    int sum = co_await from->receive();
                    sum += co_await from->receive();
                    co_return sum;
                };
                co_return co_await start(root(Environment(), child, c, n));
            };
            return run(&in.keep<Channel<int>>(std::size_t{0}), in.number(0), in.sentinel());
        },
        {.hasHandlers = true});
}

} // namespace
