// One program's own function for whatever can be awaited, and each kind of operand in a fiber and a coroutine.
#include "flow/wait/operand.h"

#include "flow/combine/all.h"
#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/fiber/fiber.h"
#include "flow/sim/sim_loop.h"
#include "flow/sync/channel.h"
#include "flow/tasks/task.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;

namespace {

template <CanBeAwaited X>
bool isOf(X const&, AwaitedValue<X> const&) {
    return true;
}
Task<int> operandTask(Context, double seconds) {
    co_await delay(seconds);
    co_return 5;
}

} // namespace

TEST_CASE("operands: what can be awaited, and the type of its result") {
    SimLoop loop;
    Channel<int> channel(1);
    CHECK(isOf(Future<int>(1), 1));
    CHECK(isOf(StrictFuture<std::string>(Future<std::string>("a")), "a"));
    CHECK(isOf(PromiseStream<int>().getFuture(), 1));
    CHECK(isOf(delay(1), Void()));
    CHECK(isOf(yield(), Void()));
    CHECK(isOf(Never(), Void()));
    CHECK(isOf(channel.receive(), 1));
    CHECK(isOf([] { return [] { return delay(1); }; }, Void()));
    CHECK(isOf(operandTask(Environment(), 1), 1));
    CHECK(isOf(race(Future<int>(1), delay(1)), RaceResult<int, Void>(std::in_place_index<1>)));
    static_assert(!CanBeAwaited<int>);
    static_assert(!CanBeAwaited<Promise<int>>);
    static_assert(!CanBeAwaited<Context>);
    static_assert(!CanBeAwaited<std::vector<Future<int>>>);
    auto number = [] { return 1; };
    static_assert(!CanBeAwaited<decltype(number)>);
}

TEST_CASE("operands: each kind in a fiber") {
    SimLoop loop;
    test::Balance balance;
    Channel<int> channel(2);
    PromiseStream<int> stream;
    FutureStream<int> numbers = stream.getFuture();
    Future<Void> ended = fiber::spawn([&] {
        CHECK(fiber::wait(operandTask(Environment(), 1)) == 5);
        CHECK(fiber::wait([&] { return channel.receive(); }) == 1);
        auto first = fiber::wait(race(numbers, channel.receive(), operandTask(Environment(), 1)));
        CHECK(first.index() == 2);
        auto [next, item] = fiber::wait(all(numbers, channel.receive()));
        CHECK(next * 10 + item == 34);
        CHECK_FALSE(fiber::wait(timeout(channel.receive(), 1)).present());
        std::vector<FutureStream<int>> streams{numbers};
        CHECK(fiber::wait(race(streams)).value() == 5);
        CHECK(fiber::wait(some(1, streams))[0].value() == 6);
        auto lazy = race(numbers, delay(1)); // refers to `numbers`; begins when it is waited for
        stream.send(7);
        CHECK(std::get<0>(fiber::wait(lazy)) == 7);
    });
    loop.run(delay(1));
    CHECK(keep(channel.send(1)).isReady());
    loop.run(delay(1.5));
    CHECK(keep(channel.send(4)).isReady());
    stream.send(3);
    loop.run(delay(1.5));
    stream.send(5);
    stream.send(6);
    loop.run(ended);
    CHECK(channel.size() == 0);
}

TEST_CASE("operands: a race in a fiber takes no block") {
    SimLoop loop;
    Channel<int> channel(1);
    PromiseStream<int> stream;
    FutureStream<int> numbers = stream.getFuture();
    std::int64_t parked = 0;
    Future<Void> ended = fiber::spawn([&] {
        parked = memory::totalStatistics().live();
        (void)fiber::wait(race(channel.receive(), numbers));
    });
    CHECK(memory::totalStatistics().live() == parked);
    stream.send(1);
    CHECK(ended.isReady());
}
