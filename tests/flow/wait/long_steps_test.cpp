#include "flow/wait/long_steps.h"

#include "flow/combine/race.h"
#include "flow/file/async_file.h"
#include "flow/threads/run_blocking.h"
#include "flow/wait/source.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

using namespace flow;

namespace {

std::vector<std::string> reported;
double longest;

void remember(LongStep const& step) {
    reported.emplace_back(step.actor);
    longest = step.seconds;
}

void spin(double seconds) {
    for (double until = timer() + seconds; timer() < until;) {
    }
}

Future<Void> busyActor(double seconds, int times) {
    for (int i = 0; i < times; ++i) {
        co_await delay(0);
        spin(seconds);
    }
}
Future<Void> racingActor() {
    (void)co_await race(delay(0.0001), Never());
    spin(0.02);
}

struct Bell {
    struct Ring {
        using Result = Void;
        Bell* bell;
        bool isReady() const { return bell->rung; }
        void park(WaiterNode& waiter) { bell->source.park(waiter, *this); }
        Void take() const { return Void(); }
    };
    bool rung = false;
    Source<Ring> source;
};
Future<Void> hearingActor(Bell& bell) {
    co_await Bell::Ring{&bell};
    spin(0.02);
}

Future<Void> answeredActor() {
    co_await runBlocking([] {});
    spin(0.02);
    (void)co_await files().exists("/");
    spin(0.02);
}

/// Names without their scopes.
bool isOf(std::string const& name, char const* actor) {
    return name.ends_with(actor);
}

} // namespace

TEST_CASE("long steps: those are reported that take long, by the name of the actor") {
    RealLoop loop;
    reported.clear();
    {
        LongSteps report(loop, 0.015, remember);
        loop.run(busyActor(0.02, 2));
        REQUIRE(reported.size() == 2);
        CHECK(isOf(reported[0], "busyActor"));
        CHECK(longest >= 0.02);
        loop.run(racingActor());
        REQUIRE(reported.size() == 3);
        CHECK(isOf(reported[2], "racingActor"));
        Bell bell;
        Future<Void> heard = hearingActor(bell);
        bell.rung = true;
        bell.source.wakeInTurn();
        loop.run(heard);
        REQUIRE(reported.size() == 4);
        CHECK(isOf(reported[3], "hearingActor"));
    }
    loop.run(busyActor(0.02, 1));
    CHECK(reported.size() == 4);
}

TEST_CASE("long steps: a step that brings an answer has the name of the actor that gets it") {
    RealLoop loop;
    reported.clear();
    LongSteps report(loop, 0.015, remember);
    loop.run(answeredActor());
    REQUIRE(reported.size() == 2);
    CHECK(isOf(reported[0], "answeredActor"));
    CHECK(isOf(reported[1], "answeredActor"));
}

TEST_CASE("long steps: a step that runs the loop counts with what it runs, and a report may end in a step") {
    RealLoop loop;
    reported.clear();
    std::optional<LongSteps> report;
    report.emplace(loop, 0.015, remember);
    LongSteps second(loop, 0.015, remember);
    loop.post([&] { loop.run(busyActor(0.02, 1)); });
    loop.run();
    REQUIRE(reported.size() == 4); // both, each step
    CHECK(isOf(reported[0], "busyActor"));
    CHECK(isOf(reported[1], "busyActor"));
    loop.post([&] {
        report.reset();
        spin(0.02);
    });
    loop.run();
    CHECK(reported.size() == 5);
}
