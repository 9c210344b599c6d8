#include "tests/flow/sync/channel_actors.h"

#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

namespace flow::test {

flow::Task<int> doubleLater(flow::Context, int n) {
    co_await flow::delay(1);
    co_return 2 * n;
}

} // namespace flow::test

namespace {
using namespace flow;
using namespace flow::test;

Task<int> waitsForAnActor(Context, int n) {
    int value = co_await waitsForATask(n);
    co_return value + 1;
}

TEST_CASE("actors send into a channel and receive from it, with every bound") {
    for (std::size_t capacity : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
        SimLoop loop;
        test::Balance balance;
        Channel<int> channel(capacity);
        Future<Void> sender = sends(&channel, 10, true);
        Future<int> one = receives(&channel);
        Future<int> other = receives(&channel); // several readers
        int sum = loop.run(one);
        sum += loop.run(other);
        CHECK(sum == 45);
        CHECK(sender.isReady());
    }
}

TEST_CASE("a branch of an actor's choose that loses has received nothing") {
    for (std::size_t capacity : {std::size_t{0}, std::size_t{1}}) {
        SimLoop loop;
        test::Balance balance;
        Channel<int> first(capacity);
        Channel<int> second(capacity);
        Future<Void> sender = sends(&first, 2, false);
        Future<Void> other = sends(&second, 1, false);
        Future<std::string> trace = chooses(&first, &second, 1);
        std::string order = loop.run(trace);
        CHECK((order == "a0a1b0" || order == "a0b0a1"));
        CHECK(first.size() + second.size() == 0);
    }
}

TEST_CASE("an actor that is dropped while it sends or receives has done neither") {
    SimLoop loop;
    test::Balance balance;
    Channel<int> channel(0);
    Future<Void> dropped = sends(&channel, 1, false);
    dropped = Future<Void>();
    Future<std::string> nothing = chooses(&channel, &channel, 1);
    CHECK(loop.run(nothing) == "...");
    Future<int> reader = receives(&channel);
    reader = Future<int>();
    Future<Void> sender = sends(&channel, 1, false);
    loop.run(delay(1));
    CHECK(!sender.isReady());
}

TEST_CASE("an actor waits for a task, and a task for an actor") {
    SimLoop loop;
    test::Balance balance;
    CHECK(loop.run(start(waitsForAnActor(Environment(), 4))) == 9);
    CHECK(loop.now() == 1);
    Future<int> cancelled = start(waitsForAnActor(Environment(), 4));
    cancelled.cancel();
    CHECK(cancelled.getError() == actor_cancelled());
}

} // namespace
