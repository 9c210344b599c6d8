// shield() without a Scope: what waits for the child, and what ends it.
#include "flow/base/detail/dropped_error.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/fiber/fiber.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/sim/world.h"
#include "flow/tasks/scope.h"
#include "flow/threads/loop_pool.h"
#include "flow/threads/on_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>
#include <optional>
#include <string>

namespace shield_test { // its helpers have the names of those of other tests
namespace {
using namespace flow;

using Log = std::string;

/// Adds the word to the log at its end, and "!" before that if it was not cancelled.
Future<Void> later(Log* log, char const* word, double seconds) {
    struct End {
        Log* log;
        char const* word;
        ~End() { *log += word; }
    } end{log, word};
    co_await delay(seconds);
    *log += "!";
}

/// Its destructor begins work.
struct Session {
    Log* log;
    char const* word;
    double seconds = 0.01;
    ~Session() { shield(later(log, word, seconds), 5); }
};
Future<Void> use(Log* log, char const* word) {
    Session session{log, word};
    co_await delay(100);
}
Task<> useInTask(Context, Log* log) {
    Session session{log, "t"};
    co_await delay(100);
}

Future<Void> cancelSome(Log* log) {
    {
        Future<Void> coroutine = use(log, "c");
        Future<Void> task = start(useInTask(Environment(), log));
        Future<Void> fiber = fiber::spawn([log] {
            Session session{log, "f"};
            fiber::wait(delay(100));
        });
        co_await delay(0.001);
    }
    CHECK(log->empty());
}

template <class L>
void endsAfterIt() {
    test::Balance balance;
    Log log;
    {
        L loop;
        loop.run(cancelSome(&log));
        CHECK(log == "!f!t!c");
        log.clear();
        {
            Future<Void> left = use(&log, "l");
        }
        CHECK(log.empty());
    }
    CHECK(log == "!l");
}

TEST_CASE("shield: run(future) and the end of a loop wait for what is shielded, in each style") {
    endsAfterIt<SimLoop>();
    endsAfterIt<RealLoop>();
}

std::vector<std::string> reports;

TEST_CASE("shield: the child has its time; its errors are reported") {
    reports.clear();
    auto report = [](char const* where, Error error) { reports.push_back(std::string(error.name()) + " of " + where); };
    DroppedErrorHandler before = setDroppedErrorHandler(report);
    {
        test::Balance balance;
        SimLoop loop;
        Log log;
        shield(later(&log, "a", 9), 2);
        shield([&log] { return later(&log, "b", 1); }, 5); // the loop holds the function
        shield(Future<Void>(operation_failed()), 1);
        shield(Future<Void>(Void()), 1);
        shield(delay(3), 4);
        CHECK(!joinShielded().isReady());
        loop.run(delay(1.5));
        CHECK(loop.now() == 3);
        CHECK(log == "!ba");
        CHECK(joinShielded().isReady());
    }
    setDroppedErrorHandler(before);
    CHECK(reports == std::vector<std::string>{"operation_failed of a Scope", "timed_out of a Scope"});
}

TEST_CASE("shield: the error of a run comes after what is shielded; what is shielded meanwhile belongs to it") {
    SimLoop loop;
    Log log;
    auto fails = [](Log* to) -> Future<Void> {
        Session session{to, "a", 1};
        co_await delay(1);
        throw operation_failed();
    };
    auto nested = [](Log* to) -> Future<Void> {
        co_await later(to, "b", 1);
        shield(later(to, "c", 1), 5);
    };
    shield(nested(&log), 5);
    CHECK_THROWS_AS(loop.run(fails(&log)), Error);
    CHECK(log == "!b!c!a");
    CHECK(loop.now() == 2);
}

TEST_CASE("shield: any number of computations wait for what is shielded") {
    test::Balance balance;
    SimLoop loop;
    Log log;
    auto waits = [](Log* to, char const* word) -> Future<Void> {
        co_await joinShielded();
        *to += word;
    };
    auto run = [waits](Log* to) -> Future<Void> {
        shield(later(to, "a", 2), 5);
        Future<Void> one = waits(to, "1"), two = waits(to, "2"), given = waits(to, "3");
        co_await delay(1);
        given = Future<Void>();
        co_await one;
        co_await two;
        shield(later(to, "b", 2), 5);
        co_await joinShielded();
    };
    loop.run(run(&log));
    CHECK(log == "!a21!b");
    CHECK(loop.now() == 4);
}

TEST_CASE("shield: a run inside of a step does not wait, and a stopped loop ends what is shielded") {
    test::Balance balance;
    Log log;
    {
        SimLoop loop;
        auto run = [](Loop* inner, Log* to) -> Future<Void> {
            shield(later(to, "a", 5), 9);
            inner->run(delay(1)); // its other steps run meanwhile
            CHECK(to->empty());
            co_return;
        };
        auto begin = [run](Loop* inner, Log* to) -> Future<Void> {
            co_await delay(0);
            co_await run(inner, to);
        };
        loop.run(begin(&loop, &log));
        CHECK(log == "!a");
        log.clear();
        shield(use(&log, "c"), 1000); // its destructor shields, too: that is dropped
        loop.stop();
    }
    CHECK(log == "c");
}

TEST_CASE("shield: a LoopPool ends after what its loops shield") {
    Log log;
    {
        RealLoop loop;
        LoopPool loops(1);
        loop.run(onLoop(loops[0], [&log] { shield(later(&log, "a", 0.01), 5); }));
    }
    CHECK(log == "!a");
}

struct Machine {
    World world{1, Faults()};
    Log log;
    Process& process = world.add({.name = "p", .main = [this] { return main(); }});

    Future<Void> main() {
        Session session{&log, "a", 2};
        co_await delay(1);
    }
};

TEST_CASE("shield: the main of a simulated process ends after what its loop shields") {
    Machine machine;
    machine.world.start(machine.process);
    machine.world.run(delay(2.5));
    CHECK(machine.process.isRunning());
    machine.world.run(delay(1));
    CHECK(!machine.process.isRunning());
    CHECK(machine.process.exit().has_value());
    CHECK(machine.log == "!a");
}

TEST_CASE("shield: a machine that is killed drops what is shielded") {
    for (double at : {0.5, 2.0}) {
        Machine machine;
        machine.world.start(machine.process);
        machine.world.run(delay(at));
        machine.world.kill(machine.process);
        machine.world.run(delay(5));
        CHECK(machine.log == "a"); // destroyed, without "!"
        CHECK(!machine.world.failure());
        CHECK(machine.world.leakedCells() == 0);
    }
}

} // namespace
} // namespace shield_test
