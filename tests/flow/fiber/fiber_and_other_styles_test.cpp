// Fibers beside actors, coroutines, handlers, sockets and simulated processes.
#include "flow/combine/race.h"
#include "flow/compat/flow_lock.h"
#include "flow/core/callback.h"
#include "flow/coro/coroutine.h"
#include "flow/fiber/fiber.h"
#include "flow/inspect/pending_report.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/sim/world.h"
#include "flow/tasks/context.h"
#include "flow/tasks/fork.h"
#include "flow/tasks/scope.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"
#include "flow/wait/long_steps.h"
#include "net/sim/sim_network.h"
#include "net/transport.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <exception>
#include <source_location>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;

namespace fiber_actors { // fiber_actors.actor.cpp
Future<int> twice(Future<int> const& number);
Future<int> firstOf(Future<int> const& a, Future<int> const& b);
} // namespace fiber_actors

namespace {

struct End {
    std::vector<std::string>& log;
    std::string name;
    ~End() { log.push_back(name); }
};

Future<int> addOne(Future<int> number) {
    int found = co_await number;
    co_return found + 1;
}

Future<int> later(int number, double seconds) {
    return fiber::spawn([=] {
        fiber::sleep(seconds);
        return number;
    });
}

/// Sends back each line, up to the end.
void echoLines(Reference<Connection> const& connection) {
    try {
        for (;;)
            fiber::wait(connection->write(fiber::wait(connection->readUntil("\n"_sr, 100))));
    } catch (Error& error) {
        if (error.code() != error_code_end_of_stream)
            throw;
    }
}

Task<int> slowly(Context, int number, std::vector<std::string>* log) {
    End end{*log, "task"};
    co_await delay(1);
    co_return number;
}

/// A child that waits for a fiber.
Fork<int> child(Context, int number) {
    co_return co_await later(number, 1) + 1;
}

/// A task that waits for a fiber; the fiber awaits the task's child.
Task<int> parent(Context) {
    Fork<int> forked = child(co_await context(), 3);
    Future<int> outside = fiber::spawn([result = forked.future()] { return 10 * fiber::wait(result); });
    int found = co_await outside;
    int own = co_await forked;
    co_return found + own;
}

Future<Void> serveLines(Reference<Listener> const& listener) {
    return fiber::spawn([listener] {
        std::vector<Future<Void>> all;
        for (;;)
            all.push_back(fiber::spawn([connection = fiber::wait(listener->accept())] { echoLines(connection); }));
    });
}

std::string askLines(Address server) {
    Reference<Connection> connection = fiber::wait(transport().connect(server));
    std::string answers;
    for (std::string word : {"one\n", "two\n", "three\n"}) {
        fiber::wait(connection->write(Bytes(StringRef(word))));
        auto first = fiber::wait(race(connection->readUntil("\n"_sr, 100), delay(60.0)));
        answers += std::get<0>(first).toString();
    }
    return answers;
}

} // namespace

TEST_CASE("fiber and other styles: a chain through fibers, actors and coroutines") {
    test::Balance balance;
    SimLoop loop;
    Future<int> chain = fiber::spawn([] { return fiber::wait(fiber_actors::twice(later(3, 1))) + 1; });
    CHECK(loop.run(addOne(fiber_actors::twice(addOne(chain)))) == 17);
    CHECK(loop.now() == 3);
    CHECK(loop.run(fiber_actors::firstOf(later(1, 2), later(5, 1))) == -5);
    struct Handler : Callback<int> {
        void fire(int const& number) override { handled = number; }
        int handled = 0;
    } handler;
    later(4, 1).addCallbackAndClear(&handler);
    loop.run(delay(2));
    CHECK(handler.handled == 4);
}

TEST_CASE("fiber and other styles: a fiber waits for tasks and forks, and these for fibers") {
    test::Balance balance;
    SimLoop loop;
    Environment environment;
    std::vector<std::string> log;
    Future<int> sum = fiber::spawn([&] {
        int first = fiber::wait(start(slowly(environment, 5, &log)));
        auto second = fiber::wait(race(delay(10), start(parent(environment))));
        return 100 * first + std::get<1>(second);
    });
    CHECK(loop.run(sum) == 544);
    CHECK(loop.now() == 2);
    log.clear();
    Future<Void> dropped = fiber::spawn([&] {
        End end{log, "fiber"};
        fiber::wait(start(slowly(environment, 5, &log)));
    });
    Future<int> inTheMiddle = start(parent(environment));
    loop.run(delay(0.5));
    dropped = {};
    inTheMiddle = {};
    CHECK(log == std::vector<std::string>{"task", "fiber"});
    loop.run();
}

TEST_CASE("fiber and other styles: a cancel goes through fibers, actors and coroutines") {
    test::Balance balance;
    SimLoop loop;
    std::vector<std::string> log;
    auto inner = [&] {
        End end{log, "inner"};
        fiber::wait(Future<Void>(Never()));
        return 1;
    };
    Future<int> outer = fiber::spawn([&] {
        End end{log, "outer"};
        return fiber::wait(addOne(fiber_actors::twice(fiber::spawn(inner))));
    });
    outer = {};
    CHECK(log == std::vector<std::string>{"inner", "outer"});
}

TEST_CASE("fiber and other styles: a fiber that cancels itself runs to its next wait") {
    test::Balance balance;
    SimLoop loop;
    std::vector<std::string> log;
    Future<Void> self;
    self = fiber::spawn([&] {
        End end{log, "unwound"};
        fiber::sleep(1);
        self = {};
        log.push_back("still here");
        fiber::sleep(1);
        log.push_back("ran on");
    });
    loop.run();
    CHECK(log == std::vector<std::string>{"still here", "unwound"});
    CHECK(loop.now() == 1);
}

TEST_CASE("fiber and other styles: a fiber cancels another one from its stack, in the course of an exception") {
    test::Balance balance;
    SimLoop loop;
    std::vector<std::string> log;
    Future<Void> other = fiber::spawn([&] {
        End end{log, "other"};
        try {
            throw std::string("kept");
        } catch (std::string& mine) {
            try {
                fiber::sleep(10);
            } catch (Error& error) {
                log.push_back(error.name());
            }
            log.push_back(mine);
        }
    });
    Future<Void> cancels = fiber::spawn([&] {
        fiber::sleep(1);
        try {
            throw io_error();
        } catch (Error& error) {
            other.cancel();
            log.push_back(error.name());
        }
        CHECK(std::uncaught_exceptions() == 0);
    });
    loop.run();
    CHECK(log == std::vector<std::string>{actor_cancelled().name(), "kept", "other", io_error().name()});
    CHECK(cancels.isReady());
}

TEST_CASE("fiber and other styles: sockets on the simulated network, the same each time") {
    auto run = [] {
        World world(5);
        SimNetwork network(world);
        Process& server = world.start({.name = "server", .main = [] { return serveLines(transport().listen(7)); }});
        Address address(server.address(), 7);
        std::vector<std::string> answers;
        auto ask = [&]() -> Future<Void> {
            return fiber::spawn([&] {
                std::vector<Future<std::string>> all;
                for (int i = 0; i < 5; ++i)
                    all.push_back(fiber::spawn([address] { return askLines(address); }));
                for (Future<std::string>& each : all)
                    answers.push_back(fiber::wait(each));
            });
        };
        Process& client = world.start({.name = "client", .main = ask});
        world.run(client.onStop());
        CHECK(client.exit() == Error());
        CHECK(answers == std::vector<std::string>(5, "one\ntwo\nthree\n"));
        return world.digest();
    };
    std::uint64_t first = run();
    CHECK(run() == first);
}

TEST_CASE("fiber and other styles: sockets of the machine") {
    RealLoop loop;
    Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
    Future<Void> server = serveLines(listener);
    loop.run(fiber::spawn([address = listener->localAddress()] {
        std::vector<Future<std::string>> all;
        for (int i = 0; i < 20; ++i)
            all.push_back(fiber::spawn([address] { return askLines(address); }));
        for (Future<std::string>& each : all)
            CHECK(fiber::wait(each) == "one\ntwo\nthree\n");
    }));
}

TEST_CASE("fiber and other styles: a process that is killed unwinds its fibers") {
    std::vector<std::string> log;
    World world(1);
    auto main = [&]() -> Future<Void> {
        return fiber::spawn([&] {
            End end{log, "main"};
            Future<Void> child = fiber::spawn([&] {
                End inner{log, "child"};
                try {
                    fiber::wait(Future<Void>(Never()));
                } catch (Error& error) {
                    log.push_back(error.name());
                    fiber::sleep(5); // throws again
                    log.push_back("ran on");
                }
            });
            fiber::sleep(1000);
        });
    };
    Process& process = world.start({.name = "p", .main = main});
    world.run(delay(1));
    world.kill(process);
    CHECK(!process.isRunning());
    CHECK(std::count(log.begin(), log.end(), "main") == 1);
    CHECK(std::count(log.begin(), log.end(), "child") == 1);
    CHECK(std::count(log.begin(), log.end(), "ran on") == 0);
    CHECK(log.size() == 3);
    world.run(delay(2000));
    CHECK(log.size() == 3);
    CHECK(world.leakedCells() == 0);
}

TEST_CASE("fiber and other styles: a fiber that is cancelled at each of its waits leaves nothing") {
    using flow::test::cancelEverywhere;
    using flow::test::Inputs;
    constexpr flow::test::Traits kUnwinds{.hasHandlers = true};
    cancelEverywhere(
        "a fiber that waits and races",
        [](Inputs& in) {
            return fiber::spawn(
                [numbers = in.numbers(), number = in.number(0), event = in.event(1), held = in.sentinel()] {
                    int sum = fiber::wait(addOne(number));
                    auto first = fiber::wait(race(numbers, event, delay(0.5)));
                    fiber::yield();
                    sum += first.index() == 0 ? std::get<0>(first) : 0;
                    fiber::wait(event);
                    return sum;
                });
        },
        kUnwinds);
    cancelEverywhere(
        "a fiber that catches",
        [](Inputs& in) {
            return fiber::spawn([a = in.number(0), b = in.number(1), held = in.sentinel()] {
                try {
                    return fiber::wait(a);
                } catch (Error&) {
                    return fiber::wait(b);
                }
            });
        },
        kUnwinds);
    cancelEverywhere(
        "an actor that waits for a fiber",
        [](Inputs& in) {
            return fiber_actors::twice(
                fiber::spawn([a = in.number(0), held = in.sentinel()] { return fiber::wait(a); }));
        },
        kUnwinds);
}

TEST_CASE("fiber: a report of what is pending has the lines of its waits, and the locks that it holds") {
    SimLoop loop;
    FlowLock lock;
    Promise<Void> go;
    unsigned line = 0;
    Future<Void> holds = fiber::spawn(
        [&] {
            fiber::wait(lock.take());
            FlowLock::Releaser releaser(lock);
            asm volatile("" : : "r"(&releaser) : "memory");
            line = __LINE__ + 1;
            fiber::wait(go.getFuture());
            fiber::wait(race(delay(5), Future<Void>(Never())));
            fiber::wait(race(delay(6), Future<Void>(Never()), delay(7), Future<Void>(Never())));
            fiber::wait(race(delay(1), delay(2), delay(3), delay(4), delay(5), delay(6), delay(7)));
        },
        {.name = "holder"});
    Future<Void> waits = lock.take();
    std::string text;
    dumpPending(text);
    INFO(text);
    std::string title = "fiber \"holder\" at fiber_and_other_styles_test.cpp:";
    CHECK(text.find(title + std::to_string(line) + " waits for a promise\n") != std::string::npos);
    CHECK(text.find("a permit of a FlowLock, held by " + title) != std::string::npos);
    go.send(Void());
    text.clear();
    dumpPending(text);
    CHECK(text.find(title + std::to_string(line + 1) + " waits for one of: a delay until 5") != std::string::npos);
    loop.run(delay(5.5));
    text.clear();
    dumpPending(text);
    CHECK(text.find(title + std::to_string(line + 2) +
                    " waits for one of: a delay until 11 (5.5 s from now); "
                    "what is never ready; a delay until 12 (6.5 s from now); what is never ready") !=
          std::string::npos);
    loop.run(delay(6));
    text.clear();
    dumpPending(text);
    CHECK(text.find(title + std::to_string(line + 3) + " waits for one of: a delay until ") != std::string::npos);
}

namespace {
std::string longStep;
void worksLong() {
    fiber::sleep(0.001);
    double since = timer();
    while (timer() < since + 0.02) {
    }
}
Future<Void> spawnsLong() {
    return fiber::spawn([] { worksLong(); });
}
} // namespace

TEST_CASE("fiber: a long task of one is reported by the name of its function") {
    RealLoop loop;
    LongSteps report(loop, 0.02, [](LongStep const& task) { longStep = task.actor; });
    loop.run(spawnsLong());
    loop.run(delay(0));
    INFO(longStep);
    CHECK(longStep.find("spawnsLong()") == 0);
}

TEST_CASE("fiber: a scope holds futures and fibers, and is waited for") {
    SimLoop loop;
    std::vector<std::string> log;
    loop.run(fiber::spawn([&log] {
        Scope scope;
        scope.spawn(later(1, 1));
        scope.spawn(fiber::spawn([&log] {
            End end{log, "cancelled"};
            fiber::sleep(9);
        }));
        CHECK(!fiber::wait(scope.drain(2)));
        CHECK(now() == 2);
        scope.spawn(addOne(later(1, 1)));
        fiber::wait(scope.join());
        CHECK(now() == 3);
        scope.spawn(Future<int>(timed_out()));
        CHECK_THROWS_AS(fiber::wait(scope.join()), Error);
        CHECK(scope.errors().size() == 1);
        scope.spawn(fiber::spawn([&log] {
            End end{log, "with the scope"};
            fiber::sleep(9);
        }));
    }));
    CHECK(log == std::vector<std::string>{"cancelled", "with the scope"});
    CHECK(!loop.hasWork());
    Future<Void> cancelled = fiber::spawn([&log] {
        Scope scope;
        scope.spawn(fiber::spawn([&log] {
            End end{log, "with the fiber"};
            fiber::sleep(9);
        }));
        fiber::wait(scope.join());
    });
    cancelled.cancel();
    CHECK(log.back() == "with the fiber");
    CHECK(!loop.hasWork());
}
