#include "flow/sim/simulation.h"

#include "flow/base/buggify.h"
#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

using namespace flow;

namespace {

Future<Void> forever() {
    for (;;) {
        co_await delay(deterministicRandom()->random01());
        (void)buggify();
    }
}
void startThree(World& world) {
    for (int i = 0; i < 3; ++i)
        world.start({.name = "p", .main = forever});
}

Future<Void> good(World& world) {
    startThree(world);
    co_await delay(20);
}
Future<Void> failing(World& world) {
    startThree(world);
    co_await delay(1);
    throw io_error();
}
Future<Void> telling(World& world) {
    world.start({.name = "p", .main = [&world]() -> Future<Void> {
                     co_await delay(2);
                     world.fail("found 17 of 20\nand more");
                     world.fail("second");
                     co_await delay(1);
                 }});
    co_await delay(100);
}
Future<Void> stuck(World& world) {
    world.disableFaults(); // faults would be injected for ever
    co_await Future<Void>(Never());
}
Future<Void> slow(World& world) {
    startThree(world);
    co_await Future<Void>(Never());
}
Future<Void> unsound(World& world) {
    startThree(world);
    world.addInvariant([&world]() -> std::optional<std::string> {
        if (world.now() > 3)
            return "later than 3";
        return {};
    });
    co_await delay(100);
}
std::vector<Future<Void>> kept;
Future<Void> leaking(World& world) {
    auto main = []() -> Future<Void> {
        kept.push_back(delay(5));
        co_return;
    };
    world.start({.name = "p", .main = main});
    co_await delay(1);
}
Future<Void> leakingItself(World&) {
    kept.push_back(delay(5));
    co_await delay(1);
}
int runs = 0;
Future<Void> unlike(World& world) {
    bool first = ++runs % 2 != 0;
    world.start({.name = "p", .main = [first]() -> Future<Void> { co_await delay(first ? 1 : 2); }});
    co_await delay(5);
}
Future<Void> unlikeAtEnd(World& world) {
    world.disableFaults();
    world.start({.name = "p", .main = []() -> Future<Void> {
                     co_await delay(1);
                     if (++runs % 2 == 0)
                         deterministicRandom()->randomUInt64();
                 }});
    co_await delay(5);
}
Future<Void> secondFails(World& world) {
    co_await delay(1);
    if (++runs % 2 == 0)
        world.fail("only the second run sees it");
}
Future<Void> unlikeFailures(World& world) {
    co_await delay(1);
    world.fail(format("found %d", ++runs));
}

Future<Void> failingWithOneDown(World& world) {
    world.disableFaults();
    startThree(world);
    Process& process = world.start({.name = "q", .main = forever});
    co_await delay(1);
    world.kill(process);
    world.fail("too few");
}

Simulation const kGood("test good", good), kFailing("test failing", failing), kTelling("test telling", telling),
    kStuck("test stuck", stuck), kSlow("test slow", slow, 50), kUnsound("test unsound", unsound),
    kLeaking("test leaking", leaking), kLeakingItself("test leaking itself", leakingItself),
    kUnlike("test unlike", unlike), kUnlikeAtEnd("test unlike at end", unlikeAtEnd),
    kSecondFails("test unlike second", secondFails), kUnlikeFailures("test unlike failures", unlikeFailures),
    kOneDown("test with one down", failingWithOneDown);

std::string signatureOf(Simulation const& simulation, std::uint64_t seed = 1) {
    SimulationResult result = simulateTwice(simulation, seed);
    return result.failure ? result.failure->signature : "";
}

} // namespace

TEST_CASE("simulation: is found by its name") {
    CHECK(Simulation::find("test good") == &kGood);
    CHECK(Simulation::find("test") == nullptr);
    std::vector<std::string> names;
    for (Simulation const* each : Simulation::all())
        if (std::string(each->name).find("test ") == 0)
            names.push_back(each->name);
    CHECK(names == std::vector<std::string>{"test failing", "test good", "test leaking", "test leaking itself",
                                            "test slow", "test stuck", "test telling", "test unlike",
                                            "test unlike at end", "test unlike failures", "test unlike second",
                                            "test unsound", "test with one down"});
    CHECK_DIES(Simulation("test good", good), "two simulations have the name 'test good'");
}

TEST_CASE("simulation: good runs, with what happened in them") {
    std::uint64_t faults = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        SimulationResult result = simulateTwice(kGood, seed);
        CHECK_MESSAGE(!result.failure, result.failure->text);
        CHECK(result.seed == seed);
        CHECK(result.seconds == 20);
        CHECK(result.events > 100);
        CHECK(result.digest == simulate(kGood, seed).digest);
        faults += result.faults.total();
    }
    CHECK(faults > 100);
}

TEST_CASE("simulation: a failure names the processes that are down") {
    SimulationResult result = simulateTwice(kOneDown, 1);
    REQUIRE(result.failure);
    CHECK(result.failure->text == "too few\ndown: q");
    CHECK(simulateTwice(kTelling, 1).failure->text.find("\ndown:") == std::string::npos);
}

TEST_CASE("simulation: each way to fail has its signature") {
    CHECK(signatureOf(kFailing) == "it ended with io_error (#): input or output failed");
    CHECK(signatureOf(kTelling) == "found # of #");
    CHECK(signatureOf(kStuck) == "nothing can happen any more");
    CHECK(signatureOf(kSlow) == "it takes longer than # s of its world");
    CHECK(signatureOf(kUnsound) == "later than #");
    for (Simulation const* each : {&kUnlike, &kUnlikeAtEnd, &kSecondFails, &kUnlikeFailures})
        CHECK(signatureOf(*each) == "two runs of the seed differ");
}

TEST_CASE("simulation: two runs that differ only in their verdict are reported with both") {
    runs = 0;
    std::string text = simulateTwice(kSecondFails, 1).failure->text;
    CHECK(text.ends_with("the first ended with: no failure\nthe second ended with: only the second run sees it"));
}

TEST_CASE("simulation: a hung one reports the waiters") {
    SimulationResult result = simulate(kSlow, 1);
    REQUIRE(result.failure);
    INFO(result.failure->text);
    CHECK(result.failure->text.find("slow waits for") != std::string::npos);
    CHECK(result.failure->text.find("forever waits for a timer at") != std::string::npos);
}

#if !FLOW_CHECKED // nothing else may touch the rest there
TEST_CASE("simulation: futures that are left behind are a failure") {
    CHECK(simulate(kLeaking, 1).failure->signature == "# futures or promises of stopped processes are left");
    kept.clear();
    CHECK(simulate(kLeakingItself, 1).failure->signature == "the simulation has ended, and actors of its own have not");
    kept.clear();
}
#endif

TEST_CASE("simulation: faults can be left out, by kind and by number") {
    auto only = [](std::uint64_t seed, std::string const& some) {
        return simulate(kGood, seed, {.only = SomeFaults::parse(some)});
    };
    std::uint64_t left = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SimulationResult all = simulate(kGood, seed);
        CHECK(only(seed, "").faults.total() == 0);
        SimulationResult same = only(seed, all.injected.toString());
        CHECK(same.digest == all.digest);
        CHECK(same.injected.toString() == all.injected.toString());
        SomeFaults others = simulate(kGood, seed, {.without = all.injected}).injected;
        bool isLeftOut = true;
        for (std::size_t kind = 0; kind < kFaultKinds; ++kind)
            for (std::uint64_t number = 0; number < 1000; ++number)
                isLeftOut &=
                    !others.contains(FaultKind(kind), number) || !all.injected.contains(FaultKind(kind), number);
        CHECK(isLeftOut);
        for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
            std::string name = faultName(FaultKind(kind));
            CHECK(simulate(kGood, seed, {.without = SomeFaults::parse(name)}).faults[FaultKind(kind)] == 0);
            SimulationResult one = only(seed, name + ":0");
            CHECK(one.faults.total() <= 1); // some faults come to nothing
            CHECK((one.injected.toString() == "" || one.injected.toString() == name + ":0"));
            left += one.faults.total();
        }
    }
    CHECK(left > 20);
}

TEST_CASE("simulation: the program prints its help") {
    for (const char* option : {"--help", "-h"}) {
        test::Death death = test::runInChild([option] {
            ::dup2(STDERR_FILENO, STDOUT_FILENO);
            const char* arguments[] = {"simulations", "--run", "test good", option};
            return simulationMain(std::size(arguments), arguments);
        });
        CHECK(death.status == 0);
        CHECK(death.text.find("usage: simulations --list\n") == 0);
    }
}

TEST_CASE("simulation: the program says at the end which seeds failed, and how to run one again") {
    auto run = [](const char* name, const char* seeds) {
        return test::runInChild([=] {
            const char* arguments[] = {"simulations", "--run", name, "--seeds", seeds, "--without", "clog:0,diskFull"};
            return simulationMain(std::size(arguments), arguments);
        });
    };
    test::Death failed = run("test failing", "7..18");
    CHECK(failed.status == 1);
    CHECK_MESSAGE(failed.text.find("12 of 12 failed:\n  seed 7: ") == 0, failed.text);
    CHECK_MESSAGE(
        failed.says(
            "\n  and 2 more\n  again: simulations --run 'test failing' --seeds 7 --without 'clog:0,diskFull'\n"),
        failed.text);
    test::Death passed = run("test good", "7..8");
    CHECK(passed.status == 0);
    CHECK_MESSAGE(passed.text.find("failed") == std::string::npos, passed.text);
}
