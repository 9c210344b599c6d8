#include "flow/sync/broadcast.h"

#include "flow/base/random.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {
using namespace flow;

using SharedText = std::shared_ptr<std::string>;

/// Writes down what comes: the values, and in front of them "(n)" for n that were missed.
Future<Void> listenTo(Broadcast<int>::Receiver receiver, std::string* heard, double pause) {
    try {
        for (;;) {
            auto [missed, value] = co_await receiver.receive();
            *heard += (missed != 0 ? "(" + std::to_string(missed) + ")" : "") + std::to_string(value) + " ";
            if (pause > 0)
                co_await delay(pause);
        }
    } catch (Error const& error) {
        *heard += error.name();
    }
}

TEST_CASE("broadcast: each receiver gets all values from its subscription on, in order") {
    test::Balance balance;
    SimLoop loop;
    Broadcast<int> numbers(2);
    std::string early, late, slow;
    numbers.send(0); // to none
    CHECK(!numbers.hasReceivers());
    {
        Future<Void> one = listenTo(numbers.subscribe(), &early, 0), two = listenTo(numbers.subscribe(), &slow, 2.5);
        numbers.send(1);
        loop.run(delay(0.1));
        CHECK(early == "1 ");
        Future<Void> three = listenTo(numbers.subscribe(), &late, 0);
        for (int i = 2; i <= 7; ++i) { // one each second
            numbers.send(i);
            loop.run(delay(1));
        }
        CHECK(early == "1 2 3 4 5 6 7 ");
        CHECK(late == "2 3 4 5 6 7 ");
        CHECK(slow == "1 (1)3 (1)5 ");
        numbers.close();
        for (Future<Void> const& each : {one, two, three})
            loop.run(each);
        CHECK(early == "1 2 3 4 5 6 7 end_of_stream");
        CHECK(slow == "1 (1)3 (1)5 6 7 end_of_stream");
    }
    CHECK(!numbers.hasReceivers());
    CHECK_THROWS_AS(numbers.send(8), Error);
    CHECK(numbers.isClosed());
}

TEST_CASE("broadcast: a value is held until it is overwritten, and what is lost has no copy") {
    SimLoop loop;
    SharedText value = std::make_shared<std::string>("a");
    {
        Broadcast<SharedText> texts(1);
        Broadcast<SharedText>::Receiver one = texts.subscribe(), two = texts.subscribe();
        texts.send(value);
        CHECK(value.use_count() == 2);
        CHECK(loop.run(keep(one.receive())).value == value);
        texts.send(std::make_shared<std::string>("b"));
        CHECK(value.use_count() == 1);
        auto received = loop.run(keep(two.receive()));
        CHECK(received.missed == 1);
        CHECK(*received.value == "b");
        texts.send(value);
    }
    CHECK(value.use_count() == 1);
}

TEST_CASE("broadcast: a value is destroyed when all is done: its destructor may send, and may end the Broadcast") {
    struct Last {
        std::optional<Broadcast<std::shared_ptr<Last>>>* where;
        explicit Last(std::optional<Broadcast<std::shared_ptr<Last>>>* w) : where(w) {}
        ~Last() {
            if (where)
                std::exchange(where, nullptr)->reset();
        }
    };
    SimLoop loop;
    std::optional<Broadcast<std::shared_ptr<Last>>> values(std::in_place, std::size_t{1});
    auto receiver = values->subscribe();
    auto waiting = keep(receiver.receive());
    values->send(std::make_shared<Last>(&values));
    values->send(nullptr);
    CHECK(!values);
    CHECK(waiting.getError() == broken_promise());
}

TEST_CASE("broadcast: what loses a race, or is cancelled, has received nothing") {
    test::Balance balance;
    SimLoop loop;
    Broadcast<int> numbers(4);
    auto lose = [](Broadcast<int>* from) -> Future<Void> {
        Broadcast<int>::Receiver mine = from->subscribe();
        auto first = co_await race(mine.receive(), delay(1));
        CHECK(first.index() == 1);
        from->send(1);
        from->send(2);
        auto second = co_await race(delay(0), mine.receive());
        CHECK(second.index() == 1);
        CHECK(std::get<1>(second).value == 1);
        auto kept = keep(mine.receive());
        CHECK(kept.isReady());
        auto waiting = keep(mine.receive());
        waiting.cancel();
        from->send(3);
        auto last = co_await mine.receive();
        CHECK(last.missed == 0);
        CHECK(last.value == 3);
    };
    loop.run(lose(&numbers));
}

TEST_CASE("broadcast: two that wait for one receiver get a value each, and stop no other receiver") {
    SimLoop loop;
    Broadcast<int> numbers(4);
    Broadcast<int>::Receiver shared = numbers.subscribe(), other = numbers.subscribe();
    auto one = keep(shared.receive()), two = keep(shared.receive()), three = keep(other.receive());
    numbers.send(1);
    CHECK(!one.isReady()); // it resumes in a turn of its own
    loop.run(delay(0.1));
    CHECK(one.get().value == 1);
    CHECK(!two.isReady());
    CHECK(three.get().value == 1);
    numbers.send(2);
    CHECK(loop.run(two).value == 2);
}

TEST_CASE("broadcast: the end of the Broadcast, or of a receiver, fails what waits") {
    SimLoop loop;
    std::optional<Broadcast<int>> numbers(std::in_place, std::size_t{4});
    std::optional<Broadcast<int>::Receiver> one(numbers->subscribe());
    Broadcast<int>::Receiver two = numbers->subscribe(), three = numbers->subscribe();
    auto first = keep(one->receive()), second = keep(two.receive());
    one.reset();
    CHECK(first.getError() == broken_promise());
    Broadcast<int>::Receiver moved(std::move(three));
    CHECK(keep(three.receive()).getError() == broken_promise());
    numbers->send(1);
    numbers.reset();
    CHECK(second.getError() == broken_promise());
    CHECK(keep(moved.receive()).getError() == broken_promise());
    Broadcast<int>::Receiver again(std::move(moved));
    CHECK(keep(again.receive()).getError() == broken_promise());
}

TEST_CASE("broadcast: misuse ends the program") {
    SimLoop loop;
    CHECK_DIES(Broadcast<int>(0), "broadcast_test.cpp");
    Broadcast<bool> flags(1);
    Broadcast<bool>::Receiver receiver = flags.subscribe();
    auto waiting = keep(receiver.receive());
    CHECK_DIES(Broadcast<bool>::Receiver(std::move(receiver)), "moved while something waits for it");
}

TEST_CASE("broadcast: with random receivers, each value is received or counted as missed") {
    test::Balance balance;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        SimLoop loop;
        DeterministicRandom random(seed);
        Broadcast<int> numbers(static_cast<std::size_t>(random.randomInt(1, 5)));
        auto count = [](Broadcast<int>::Receiver receiver, int begin, double most, DeterministicRandom* dice,
                        int* end) -> Future<Void> {
            int next = begin;
            for (;;) {
                auto first = co_await race(receiver.receive(), delay(1e6));
                CHECK(first.index() == 0);
                next += static_cast<int>(std::get<0>(first).missed);
                CHECK(std::get<0>(first).value == next++);
                *end = next;
                co_await delay(most * dice->random01());
            }
        };
        std::vector<Future<Void>> receivers;
        std::vector<int> ends(10);
        for (int i = 0; i < 100; ++i) {
            if (i % 10 == 0)
                receivers.push_back(count(numbers.subscribe(), i, random.randomInt(0, 4), &random, &ends[i / 10]));
            numbers.send(i);
            loop.run(delay(random.random01()));
        }
        loop.run(delay(100));
        for (int end : ends)
            CHECK(end == 100);
    }
}

Future<Void> sendTwice(Broadcast<int>* numbers, Future<int> number) {
    int value = co_await number;
    numbers->send(value);
    co_await delay(0);
    numbers->send(value);
}

Future<int> receiveTwo(Broadcast<int>* numbers, Future<int> number, test::Sentinel) {
    Broadcast<int>::Receiver mine = numbers->subscribe();
    Future<Void> sending = sendTwice(numbers, number);
    auto one = co_await mine.receive();
    auto two = co_await race(mine.receive(), sending);
    co_return one.value + static_cast<int>(two.index());
}

TEST_CASE("broadcast: it can be cancelled at each step") {
    auto make = [](test::Inputs& in) {
        return receiveTwo(&in.keep<Broadcast<int>>(std::size_t{2}), in.number(0), in.sentinel());
    };
    test::cancelEverywhere("broadcast", make, {.hasHandlers = true});
}

} // namespace
