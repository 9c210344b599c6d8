#include "flow/fiber/fiber.h"

#include "flow/combine/race.h"
#include "flow/compat/flow_lock.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/source.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/sanitizers.h"
#include "tests/flow/support/tap.h"

#include <cstring>
#include <deque>
#include <doctest/doctest.h>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

using namespace flow;

namespace {

struct Note {
    std::vector<std::string>& log;
    std::string text;
    ~Note() { log.push_back(text); }
};

Future<int> addLater(int a, int b) {
    co_await delay(1.0);
    co_return a + b;
}

/// Uses at least 512 bytes of stack a level.
int depth(int levels) {
    int (*volatile next)(int) = depth; // so that the compiler makes no loop of it
    char room[512] = {1};
    asm volatile("" : : "r"(room) : "memory");
    return levels == 0 ? 0 : next(levels - 1) + room[0];
}

class Numbers {
public:
    struct Take {
        using Result = int;
        Numbers* numbers;
        bool isReady() const { return !numbers->items.empty(); }
        void park(WaiterNode& waiter) { numbers->source.park(waiter, *this); }
        int take() const {
            int item = numbers->items.front();
            numbers->items.pop_front();
            return item;
        }
    };
    Take take() { return {this}; }
    void put(int item) {
        items.push_back(item);
        source.wakeInTurn();
    }
    std::deque<int> items;
    Source<Take> source;
};

} // namespace

TEST_CASE("fiber: runs at once up to its first wait, and gives its result") {
    test::Balance balance;
    SimLoop loop;
    bool ran = false;
    Future<Void> nothing = fiber::spawn([&] { ran = true; });
    CHECK(ran);
    CHECK(nothing.isReady());
    Future<std::string> text = fiber::spawn([&] {
        int sum = fiber::wait(addLater(1, 2));
        return std::string(20, 'x') + std::to_string(fiber::wait(addLater(sum, 4)));
    });
    CHECK(!text.isReady());
    CHECK(!fiber::isFiber());
    CHECK(loop.run(text) == std::string(20, 'x') + "7");
    CHECK(loop.now() == 2.0);
    Future<int> failed = fiber::spawn([&]() -> int {
        fiber::sleep(1);
        throw io_error();
    });
    loop.run();
    CHECK(failed.getError().code() == error_code_io_error);
    std::string kept = "kept";
    Future<std::string> copied = fiber::spawn([&]() -> std::string& { return kept; });
    CHECK(copied.get() == "kept");
}

TEST_CASE("fiber: waits for futures, streams, delays, operations; coroutines wait for fibers") {
    test::Balance balance;
    SimLoop loop;
    Numbers numbers;
    PromiseStream<int> stream;
    Promise<int> promise;
    Future<int> total = fiber::spawn([&] {
        Future<int> given = promise.getFuture();
        int sum = fiber::wait(given);
        sum += fiber::wait(stream.getFuture());
        sum += fiber::wait(numbers.take());
        fiber::yield();
        fiber::wait(delay(0));
        try {
            fiber::wait(stream.getFuture());
        } catch (Error& e) {
            sum += e.code() == error_code_end_of_stream ? 1000 : 0;
        }
        return sum;
    });
    promise.send(1);
    stream.send(10);
    stream.sendError(end_of_stream());
    numbers.put(100);
    auto twice = [](Future<int> future) -> Future<int> { co_return 2 * co_await future; };
    CHECK(loop.run(twice(total)) == 2222);
}

TEST_CASE("fiber: a cancel unwinds the stack, and takes nothing") {
    test::Balance balance;
    SimLoop loop;
    Numbers numbers;
    std::vector<std::string> log;
    auto body = [&] {
        Note outer{log, "outer"};
        try {
            Note inner{log, "inner"};
            fiber::wait(numbers.take());
        } catch (Error& e) {
            log.push_back(e.name());
            try {
                fiber::wait(Future<int>(1)); // ready, but the fiber is cancelled
            } catch (Error& again) {
                log.push_back(again.name());
            }
            throw;
        }
    };
    Future<Void> fiber = fiber::spawn(body);
    SUBCASE("cancelled") {
        fiber.cancel();
        CHECK(fiber.isError());
    }
    SUBCASE("dropped") {
        fiber = {};
    }
    SUBCASE("cancelled when it was to be woken") {
        numbers.put(1);
        fiber = {};
        loop.run();
        CHECK(numbers.items.size() == 1);
    }
    std::string name = actor_cancelled().name();
    CHECK(log == std::vector<std::string>{"inner", name, name, "outer"});
}

TEST_CASE("fiber: race gives the first; losers have taken nothing") {
    test::Balance balance;
    SimLoop loop;
    Numbers numbers;
    PromiseStream<int> stream;
    Future<Void> all = fiber::spawn([&] {
        auto first = fiber::wait(race(numbers.take(), delay(1.0), stream.getFuture()));
        CHECK(first.index() == 1);
        numbers.put(4);
        stream.send(5);
        first = fiber::wait(race(numbers.take(), delay(1.0), stream.getFuture()));
        CHECK(std::get<0>(first) == 4);
        bool made = false;
        auto lazily = fiber::wait(race(stream.getFuture(), [&] {
            made = true;
            return addLater(1, 2);
        }));
        CHECK(std::get<0>(lazily) == 5);
        CHECK(!made);
        lazily = fiber::wait(race(stream.getFuture(), [&] { return addLater(1, 2); }));
        CHECK(std::get<1>(lazily) == 3);
        CHECK_THROWS_AS((void)fiber::wait(race(Future<int>(io_error()), delay(1.0))), Error);
        (void)fiber::wait(race(numbers.take(), Never()));
    });
    loop.run();
    REQUIRE(!all.isReady());
    numbers.put(1);
    all = {};
    CHECK(numbers.items.size() == 1);
}

TEST_CASE("fiber: an operation that is always ready lets others have their turns") {
    for (bool races : {false, true}) {
        CAPTURE(races);
        SimLoop loop;
        test::Tap tap;
        Future<Void> watching = tap.watch(20);
        Future<Void> drinking = fiber::spawn([&] {
            while (tap.isOpen())
                tap.got(races ? std::get<1>(fiber::wait(race(Future<Void>(Never()), tap.draw())))
                              : fiber::wait(tap.draw()));
        });
        loop.run(watching);
        loop.run(drinking);
        CHECK(tap.turns() == 20);
        CHECK(tap.mostInTurn() <= TurnBudget::kOperations + 64);
        CHECK(tap.isEven());
    }
}

TEST_CASE("fiber: fibers wake each other from their own stacks") {
    test::Balance balance;
    SimLoop loop;
    constexpr int kFibers = 200;
    std::vector<Promise<int>> promises(kFibers + 1);
    std::vector<Future<Void>> fibers;
    for (int i = 0; i < kFibers; ++i)
        fibers.push_back(fiber::spawn([&promises, i] {
            int value = fiber::wait(promises[static_cast<std::size_t>(i)].getFuture());
            promises[static_cast<std::size_t>(i) + 1].send(value + 1); // runs the next one from here
            fiber::sleep(i % 7);
        }));
    promises[0].send(0);
    CHECK(promises[kFibers].getFuture().get() == kFibers);
    loop.run();
    for (Future<Void>& each : fibers)
        CHECK(each.isReady());
}

TEST_CASE("fiber: an exception in flight stays with its stack") {
    test::Balance balance;
    SimLoop loop;
    std::vector<std::string> log;
    auto body = [&log](char const* name, double seconds) {
        try {
            throw std::string(name);
        } catch (std::string& mine) {
            for (int i = 0; i < 3; ++i) {
                fiber::sleep(seconds);
                try {
                    throw;
                } catch (std::string& again) {
                    log.push_back(again);
                }
            }
        }
        CHECK(std::uncaught_exceptions() == 0);
    };
    Future<Void> a = fiber::spawn([&] { body("a", 1.0); });
    Future<Void> b = fiber::spawn([&] { body("b", 1.5); });
    loop.run();
    CHECK(log == std::vector<std::string>{"a", "b", "a", "b", "a", "b"});
    struct Waits { // in the course of an unwinding
        ~Waits() { fiber::sleep(1); }
    };
    Future<Void> unwinding = fiber::spawn([&] {
        Waits waits;
        throw io_error();
    });
    CHECK(std::uncaught_exceptions() == 0);
    loop.run();
    CHECK(unwinding.getError().code() == error_code_io_error);
}

TEST_CASE("fiber: stacks have the requested size, are reused, and report how much was used") {
    test::Balance balance;
    SimLoop loop;
    fiber::Options large;
    large.stackBytes = 4 << 20;
    std::size_t used = 0;
    Future<int> deep = fiber::spawn(
        [&] {
            int levels = depth(4000);
            used = fiber::stackBytesUsed();
            return levels;
        },
        large);
    CHECK(deep.get() == 4000);
    CHECK(used >= 4000 * 512);
    CHECK(used <= 4 << 20);
    fiber::setPooledStacks(2);
    for (int round = 0; round < 3; ++round) {
        std::vector<Future<Void>> many;
        for (int i = 0; i < 50; ++i)
            many.push_back(fiber::spawn([] { fiber::sleep(1); }));
        loop.run();
        for (Future<Void>& each : many)
            CHECK(each.isReady());
    }
    fiber::setPooledStacks(64);
}

TEST_CASE("fiber: without memory for its stack nothing is left of it") {
    test::Balance balance;
    SimLoop loop;
    fiber::Options huge;
    huge.stackBytes = std::size_t{1} << 60;
    auto held = std::make_shared<int>(1);
    CHECK_THROWS_AS((void)fiber::spawn([held] {}, huge), std::bad_alloc);
    CHECK(held.use_count() == 1);
}

TEST_CASE("fiber: one that is parked when its loop ends can be cancelled later") {
    test::Balance balance;
    Future<Void> fiber;
    bool unwound = false;
    {
        SimLoop loop;
        fiber = fiber::spawn([&] {
            struct Flag {
                bool& flag;
                ~Flag() { flag = true; }
            } flag{unwound};
            fiber::sleep(1);
        });
    }
    CHECK(!unwound);
    fiber = {};
    CHECK(unwound);
}

TEST_CASE("fiber: runs on the real loop") {
    test::Balance balance;
    RealLoop loop;
    Future<int> fiber = fiber::spawn([] {
        fiber::sleep(0.001);
        return fiber::wait(Future<int>(3));
    });
    CHECK(loop.run(fiber) == 3);
}

TEST_CASE("fiber: a wait outside of a fiber is an assertion") {
    test::Death death = test::runInChild([] { fiber::wait(Future<int>(1)); });
    CHECK(death.aborted());
    CHECK(death.says("fiber::wait() outside of a fiber"));
}

TEST_CASE("fiber: one that catches its cancel gets it again from each wait, and takes nothing") {
    test::Balance balance;
    SimLoop loop;
    Numbers numbers;
    numbers.put(1);
    PromiseStream<int> stream;
    stream.send(2);
    std::vector<int> codes;
    auto attempt = [&](auto wait) {
        try {
            wait();
            codes.push_back(0);
        } catch (Error& error) {
            codes.push_back(error.code());
        }
    };
    Future<int> stubborn = fiber::spawn([&] {
        attempt([] { fiber::wait(Future<Void>(Never())); });
        attempt([] { fiber::sleep(1); });
        attempt([] { fiber::yield(); });
        attempt([&] { fiber::wait(numbers.take()); });
        attempt([&] { fiber::wait(stream.getFuture()); });
        attempt([&] { (void)fiber::wait(race(numbers.take(), stream.getFuture())); });
        attempt([] { fiber::wait(fiber::spawn([] { return 3; })); });
        return 4;
    });
    stubborn = {};
    CHECK(codes == std::vector<int>(7, error_code_actor_cancelled));
    CHECK(numbers.items.size() == 1);
    CHECK(stream.getFuture().isReady());
    Future<Void> cancelsItself;
    cancelsItself = fiber::spawn([&] {
        fiber::sleep(1);
        attempt([&] {
            (void)fiber::wait(race(Never(), [&] {
                cancelsItself = {};
                return numbers.take();
            }));
        });
    });
    loop.run();
    CHECK(codes == std::vector<int>(8, error_code_actor_cancelled));
    CHECK(numbers.items.size() == 1);
}

TEST_CASE("fiber: stacks are as many as the system allows, and then spawn() throws") {
    test::Balance balance;
    SimLoop loop;
    std::vector<Future<Void>> all;
    fiber::setPooledStacks(0);
    fiber::Options large;
    large.stackBytes = std::size_t{1} << 45; // an eighth of what a process can address
    CHECK_THROWS_AS(while (all.size() < 100) all.push_back(fiber::spawn([] { fiber::sleep(1); }, large)),
                    std::bad_alloc);
    CHECK(all.size() < 8);
    loop.run();
    for (Future<Void>& each : all)
        CHECK(each.isReady());
    fiber::setPooledStacks(64);
    CHECK(fiber::spawn([] { return 1; }).get() == 1);
}

TEST_CASE("fiber: a chain of any length completes, fails and is cancelled") {
    constexpr int kLength = 1000;
    test::Balance balance;
    SimLoop loop;
    Promise<int> first;
    auto chain = [&first] {
        Future<int> last = first.getFuture();
        for (int i = 0; i < kLength; ++i)
            last = fiber::spawn([from = std::move(last)] { return fiber::wait(from) + 1; });
        return last;
    };
    Future<int> cancelled = chain();
    cancelled.cancel();
    CHECK(cancelled.getError().code() == error_code_actor_cancelled);
    Future<int> succeeds = chain();
    first.send(0);
    CHECK(succeeds.get() == kLength);
    first = {};
    Future<int> fails = chain();
    first.sendError(io_error());
    CHECK(fails.getError().code() == error_code_io_error);
}

TEST_CASE("fiber: on a small stack it may drop a chain of any length") {
    test::Balance balance;
    SimLoop loop;
    auto hold = [](std::shared_ptr<Future<Void>> inner) -> Future<Void> {
        co_await Future<Void>(Never());
        inner->cancel();
    };
    Future<Void> chain = Future<Void>(Never());
    for (int i = 0; i < 10000; ++i)
        chain = hold(std::make_shared<Future<Void>>(std::move(chain)));
    fiber::Options small;
#ifdef __OPTIMIZE__
    small.stackBytes = MILLRACE_UNDER_ASAN || MILLRACE_UNDER_TSAN ? 256 << 10 : 64 << 10;
#else
    small.stackBytes = 256 << 10; // functions take more of it
#endif
    CHECK(fiber::spawn([&] { chain = {}; }, small).isReady());
    CHECK(!chain.isValid());
}
