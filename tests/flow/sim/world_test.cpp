#include "flow/sim/world.h"

#include "flow/base/buggify.h"
#include "flow/base/format.h"
#include "flow/combine/all.h"
#include "flow/combine/race.h"
#include "flow/compat/collection.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <new>
#include <set>
#include <string>
#include <vector>

using namespace flow;

namespace {

/// What the processes of a test have done. Plain data: no future may pass from one to another.
std::vector<std::string> done;

struct Log {
    Log() { done.clear(); }
};

void say(std::string what) {
    done.push_back(std::move(what));
}

Future<Void> tick(std::string name, int times) {
    for (int i = 0; i < times; ++i) {
        say(name + " " + std::to_string(i) + " at " + format("%g", now()));
        co_await delay(1);
    }
}

/// Logs its destruction, and what it would do if it ran on.
struct Life {
    explicit Life(std::string n) : name(std::move(n)) {}
    Life(Life&& other) noexcept : name(std::exchange(other.name, "")) {}
    ~Life() {
        if (!name.empty())
            say(name + " ends");
    }
    std::string name;
};

Future<Void> catches(Life) {
    try {
        co_await Future<Void>(Never());
    } catch (Error&) {
        say("a handler ran");
    }
}
Future<Void> background(Uncancellable, Life) {
    co_await delay(100);
    say("the background ran");
}

/// What a cluster of three with random work does, by seed.
std::uint64_t digestOf(std::uint64_t seed, Faults const& faults, Record* record = nullptr,
                       FaultCounts* counts = nullptr) {
    World world(seed, faults, record);
    for (int i = 0; i < 3; ++i)
        world.start({.name = "p" + std::to_string(i), .main = []() -> Future<Void> {
                         for (;;) {
                             co_await delay(deterministicRandom()->random01());
                             if (buggify())
                                 co_await delay(1);
                             ActorCollection collection(false);
                             for (int k = deterministicRandom()->randomInt(0, 4); k > 0; --k)
                                 collection.add(delay(deterministicRandom()->random01()));
                             co_await delay(0.1);
                         }
                     }});
    world.run(delay(50));
    if (counts)
        *counts = world.faultCounts();
    return world.digest();
}

} // namespace

TEST_CASE("world: processes run by themselves, each on its own loop, in the order of time") {
    Log log;
    World world(1);
    world.start({.name = "a", .main = [] { return tick("a", 2); }});
    world.start({.name = "b", .main = [] { return tick("b", 3); }, .clockOffset = 100});
    world.run(delay(0.5));
    CHECK(done.size() == 2);
    world.run(delay(10));
    CHECK(done.size() == 5);
    CHECK(done[4] == "b 2 at 102");
    CHECK(now() == 10.5);
    CHECK(!world.processes()[0]->isRunning());
    CHECK(world.processes()[0]->exit() == Error());
    CHECK(world.leakedCells() == 0);
}

TEST_CASE("world: a process that is killed runs no further, whatever it has started") {
    Log log;
    World world(1);
    auto main = []() -> Future<Void> {
        (void)background(Uncancellable(), Life("background"));
        Future<Void> child = catches(Life("child"));
        Loop::current().post([] { say("posted"); });
        co_await catches(Life("main"));
    };
    Process& process = world.start({.name = "p", .main = main});
    world.run(delay(1));
    CHECK(done == std::vector<std::string>{"posted"});
    done.clear();
    Future<Void> stopped = process.onStop();
    world.kill(process);
    CHECK(stopped.isReady());
    CHECK(!process.isRunning());
    CHECK(done == std::vector<std::string>{"background ends", "main ends", "child ends"});
    world.run(delay(200));
    CHECK(done.size() == 3);
    CHECK(world.leakedCells() == 0);
    CHECK(!process.exit());
}

TEST_CASE("world: a process that kills itself finishes its turn, and then ends") {
    Log log;
    World world(1);
    auto main = [&]() -> Future<Void> {
        world.kill(*world.current());
        say("still there");
        co_await delay(0);
        say("ran on");
    };
    world.start({.name = "p", .main = main});
    world.run(delay(5));
    CHECK(done.front() == "still there");
    CHECK(!world.processes()[0]->isRunning());
}

TEST_CASE("world: reboots call main again, with new random numbers") {
    Log log;
    World world(3);
    auto main = []() -> Future<Void> {
        say(std::to_string(deterministicRandom()->randomUInt32()));
        co_await Future<Void>(Never());
    };
    Process& process = world.start({.name = "p", .main = main});
    world.run(delay(1));
    world.reboot(process, 2);
    CHECK(!process.isRunning());
    world.run(delay(1.5));
    CHECK(!process.isRunning());
    world.run(delay(1));
    CHECK(process.isRunning());
    CHECK(process.lives() == 2);
    REQUIRE(done.size() == 2);
    CHECK(done[0] != done[1]);
}

TEST_CASE("world: main that fails is started again if that is wished") {
    Log log;
    World world(3);
    auto main = []() -> Future<Void> {
        say("started");
        co_await delay(1);
        throw io_error();
    };
    Process& again = world.start({.name = "again", .main = main, .restartAfter = 2});
    world.run(delay(1.5));
    CHECK(again.exit() == io_error());
    world.run(delay(5));
    CHECK(again.lives() == 3);
    Process& once = world.start({.name = "once", .main = main});
    world.run(delay(20));
    CHECK(once.lives() == 1);
}

TEST_CASE("world: a paused process does nothing, and then what it has missed") {
    Log log;
    World world(1);
    Process& process = world.start({.name = "p", .main = [] { return tick("p", 100); }});
    world.run(delay(2.5));
    CHECK(done.size() == 3);
    world.pause(process, 5);
    world.run(delay(4.9));
    CHECK(done.size() == 3);
    world.run(delay(0.2));
    CHECK(done.back() == "p 3 at 7.5");
    world.slowDown(process, 10, 3);
    world.run(delay(3));
    CHECK(done.size() == 5);
    world.run(delay(0.5));
    CHECK(done.size() <= 6);
    world.pause(process, 100);
    world.resume(process);
    std::size_t before = done.size();
    world.run(delay(10.5));
    CHECK(done.size() >= before + 10); // nor is it slow any more
}

TEST_CASE("world: clocks that jump and drift") {
    Log log;
    World world(1);
    Process& process = world.start({.name = "p", .main = [] { return tick("p", 1000); }, .clockOffset = 10});
    world.run(delay(0.5));
    world.jumpClock(process, 7.25);
    world.run(delay(0.1));
    CHECK(done.back() == "p 1 at 17.75");
    done.clear();
    world.setClockRate(process, 2);
    world.run(delay(50));
    CHECK(done.size() == 100);
    done.clear();
    world.setClockRate(process, 0.001);
    world.run(delay(999));
    CHECK(done.size() == 1);
    double before = process.clock().systemAt(now());
    process.clock().jumpSystem(-3600);
    CHECK(process.clock().systemAt(now()) == before - 3600);
}

TEST_CASE("world: wallTime() of each process begins with the world's, whatever its clock shows") {
    World world(1);
    double first = 0, second = 0;
    auto reads = [](double* date) -> Future<Void> {
        co_await delay(2);
        *date = wallTime();
    };
    world.start({.name = "a", .main = [&] { return reads(&first); }});
    world.start({.name = "b", .main = [&] { return reads(&second); }, .clockOffset = 1000});
    CHECK(wallTime() == Loop::kVirtualDate);
    world.run(delay(3));
    CHECK(first == Loop::kVirtualDate + 2);
    CHECK(second == doctest::Approx(Loop::kVirtualDate + 2).epsilon(1e-12));
}

TEST_CASE("world: impossible faults and clocks are refused") {
    World world(1);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    for (double value : {nan, -0.1, 1.1}) {
        Faults faults;
        faults.clog = value;
        CHECK_DIES(world.setFaults(faults), "the probability of clog is not between 0 and 1");
    }
    Process& process = world.start({.name = "p", .main = [] { return tick("p", 1000); }});
    for (double value : {nan, infinity, 0.0, -1.0})
        CHECK_DIES(world.setClockRate(process, value), "its rate must be more than 0");
    for (double value : {nan, infinity, -1.0})
        CHECK_DIES(world.jumpClock(process, value), "never goes back");
}

TEST_CASE("world: swapped addresses, knobs, failing allocations") {
    Log log;
    World world(1);
    auto main = []() -> Future<Void> {
        say(format("%g %g", knob("batch", 5), knob("other", 6)));
        for (;;) {
            co_await delay(1);
            try {
                Promise<int> promise;
            } catch (std::bad_alloc&) {
                say("no memory");
            }
        }
    };
    Process& a = world.start({.name = "a", .main = main, .knobs = {{"batch", 7}}});
    Process& b = world.start({.name = "b", .main = main});
    CHECK(knob("batch", 5) == 5);
    std::uint32_t address = a.address();
    world.run(delay(0.5));
    CHECK(std::set<std::string>(done.begin(), done.end()) == std::set<std::string>{"7 6", "5 6"});
    world.swapAddresses(a, b);
    CHECK(b.address() == address);
    world.run(delay(0.1));
    CHECK(a.lives() == 2);
    done.clear();
    world.failAllocation(a, 4);
    world.run(delay(20));
    CHECK(world.faultCounts()[FaultKind::allocationFailure] == 1);
}

TEST_CASE("world: one seed, one digest; another seed, another") {
    Faults none;
    CHECK(digestOf(1, none) == digestOf(1, none));
    CHECK(digestOf(1, none) != digestOf(2, none));
    FaultCounts total;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Faults faults = Faults::swarm(seed);
        Record first;
        FaultCounts counts;
        std::uint64_t digest = digestOf(seed, faults, &first, &counts);
        Record second(first);
        CHECK(digestOf(seed, faults, &second) == digest);
        second.finish();
        CHECK(second.difference().value_or("") == "");
        for (std::size_t kind = 0; kind < kFaultKinds; ++kind)
            total[FaultKind(kind)] += counts[FaultKind(kind)];
    }
    for (FaultKind kind : {FaultKind::processKill, FaultKind::processReboot, FaultKind::powerLoss,
                           FaultKind::processPause, FaultKind::processSlow, FaultKind::addressSwap,
                           FaultKind::clockJump, FaultKind::systemClockJump, FaultKind::clockDrift, FaultKind::buggify})
        CHECK_MESSAGE(total[kind] > 0, faultName(kind));
}

TEST_CASE("world: the digest is the same on every machine and compiler") {
    CHECK(digestOf(7, Faults::swarm(7)) == 5904621697624371049u);
}

TEST_CASE("world: a fault that is left out changes nothing of the others, of its kind and of other kinds") {
    using Injections = std::vector<std::pair<FaultKind, std::string>>;
    auto injects = [](FaultFilter filter) {
        constexpr FaultKind kKinds[] = {FaultKind::clog, FaultKind::diskError, FaultKind::datagramLoss};
        Faults faults{.clog = 0.1, .datagramLoss = 0.3, .diskError = 0.02, .buggify = 0.25};
        World world(1, faults);
        world.setFilter(std::move(filter));
        Injections found;
        for (int round = 0; round < 1000; ++round) {
            for (FaultKind kind : kKinds)
                if (world.injects(kind)) {
                    std::string how = format("%d %u", round, world.random(kind).randomUInt32());
                    if (world.random(kind).coinflip()) // some draw more
                        how += format(" %u", world.random(kind).randomUInt32());
                    found.emplace_back(kind, how);
                }
            BuggifySource& source = *detail::buggifySource;
            for (unsigned line = 1; line <= 10; ++line)
                if (source.buggify("file.cpp", line))
                    found.emplace_back(FaultKind::buggify, format("%d %u", round, line));
        }
        found.emplace_back(FaultKind::clog, format("%u", deterministicRandom()->randomUInt32()));
        return found;
    };
    Injections all = injects({});
    REQUIRE(all.size() > 400);
    for (FaultKind kind : {FaultKind::clog, FaultKind::diskError, FaultKind::buggify}) {
        Injections rest = all;
        auto isKind = [&](auto const& each) { return each.first == kind; };
        rest.erase(std::find_if(std::find_if(rest.begin(), rest.end(), isKind) + 1, rest.end(), isKind));
        CHECK(injects({.without = SomeFaults::parse(faultName(kind) + std::string(":1"))}) == rest);
    }
    for (FaultKind kind : {FaultKind::diskError, FaultKind::datagramLoss, FaultKind::buggify}) {
        Injections rest = all;
        CHECK(std::erase_if(rest, [&](auto const& each) { return each.first == kind; }) > 0);
        CHECK(injects({.without = SomeFaults::parse(faultName(kind))}) == rest);
    }
}

TEST_CASE("world: the first event that differs is reported") {
    auto run = [](std::uint64_t extra, Record* record) {
        World world(1, {}, record);
        world.start({.name = "liar", .main = [extra]() -> Future<Void> {
                         co_await delay(1);
                         if (extra)
                             deterministicRandom()->randomUInt64();
                         co_await delay(1);
                     }});
        world.run(delay(5));
    };
    Record first;
    run(0, &first);
    Record second(first);
    run(1, &second);
    REQUIRE(second.difference());
    CHECK(second.difference()->find("at 2.000000000 s in process 1") != std::string::npos);
    CHECK(second.difference()->find("of liar") != std::string::npos);
}

TEST_CASE("world: when nothing can happen any more, it prints the wait graph") {
    World world(1);
    auto main = []() -> Future<Void> {
        Promise<Void> forgotten;
        co_await race(forgotten.getFuture(), Future<Void>(Never()));
    };
    world.start({.name = "stuck", .main = main});
    Promise<int> answer;
    CHECK_THROWS_AS((void)world.run(answer.getFuture()), Error);
    std::string report = world.waitGraph();
    INFO(report);
    CHECK(report.find("stuck:") != std::string::npos);
    CHECK(report.find("waits for one of: a promise, what will never be set") != std::string::npos);
}

TEST_CASE("world: when nothing can happen any more, it names what waits for each other") {
    World world(1);
    auto main = []() -> Future<Void> {
        auto after = [](Future<Void> other, Promise<Void> own) -> Future<Void> {
            co_await other;
            own.send(Void());
        };
        Promise<Void> first, second;
        Future<Void> one = after(first.getFuture(), second), other = after(second.getFuture(), first);
        co_await (one && other);
    };
    world.start({.name = "stuck", .main = main});
    Promise<int> answer;
    CHECK_THROWS_AS((void)world.run(answer.getFuture()), Error);
    std::string report = world.waitGraph();
    INFO(report);
    CHECK(report.find("\ncycle: coroutine ") != std::string::npos);
}

TEST_CASE("world: leaked cells are counted") {
    static std::vector<Future<Void>> kept;
    World world(1);
    Process& process = world.start({.name = "p", .main = []() -> Future<Void> {
                                        kept.push_back(delay(5));
                                        co_await delay(1);
                                    }});
    world.run(delay(2));
    CHECK(!process.isRunning());
    CHECK(world.leakedCells() == 1);
#if FLOW_CHECKED
    CHECK_DIES(kept.clear(), "in another simulated process");
    setOwnerOfCells(&process);
    kept.clear();
    setOwnerOfCells(&world);
#else
    kept.clear();
#endif
    CHECK(world.leakedCells() == 0);
}

TEST_CASE("world: a process must not run its own loop") {
    auto wrong = [] {
        World world(1);
        world.start({.name = "p", .main = []() -> Future<Void> {
                         Loop::current().run(delay(1));
                         co_return;
                     }});
        world.run(delay(2));
    };
    CHECK_DIES(wrong(), "calls run() of its own loop");
}
