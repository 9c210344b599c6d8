#include "flow/trace/loop_metrics.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

using namespace flow;

namespace {

Future<Void> stepping(int steps) {
    for (int i = 0; i < steps; ++i)
        co_await delay(0);
    co_await delay(0.02);
}
Future<Void> longActor() {
    co_await delay(0);
    for (double until = timer() + 0.02; timer() < until;) {
    }
}

} // namespace

TEST_CASE("loop metrics: steps, turns and what made them ready") {
    SimLoop loop;
    LoopMetrics metrics(loop);
    loop.run(stepping(10));
    LoopFigures figures = metrics.figures();
    CHECK(figures.steps == 11);
    CHECK(figures.byTimers == 1);
    CHECK(figures.byNews == 1);
    CHECK(figures.bySteps + figures.byTimers + figures.byPosts + figures.byNews == figures.steps);
    CHECK(figures.turns >= 2);
    CHECK(figures.ready.empty());
    // Negative if this thread has freed blocks that other threads allocated.
    auto liveBlocks = [&] { return static_cast<std::int64_t>(figures.blocks.allocated - figures.blocks.freed); };
    std::int64_t before = liveBlocks();
    Future<Void> later = stepping(0);
    Future<Void> now = stepping(1);
    Future<Void> alsoNow = stepping(1);
    figures = metrics.figures();
    CHECK(figures.timers == 1);
    REQUIRE(figures.ready.size() == 1);
    CHECK(figures.ready[0] == std::pair<int, std::uint64_t>(static_cast<int>(TaskPriority::DefaultDelay), 2));
    CHECK(liveBlocks() >= before + 3);
}

TEST_CASE("loop metrics: busy and idle time, posts, and long steps by actor") {
    RealLoop loop;
    LoopMetrics metrics(loop, 0.015);
    while (metrics.figures().sleeps == 0) // a busy machine may begin to sleep after the time is over
        loop.run(stepping(1));
    CHECK(metrics.figures().idle > 0);
    loop.run(longActor());
    loop.run(longActor());
    {
        WorkGuard guard(loop);
        std::thread other([&] { loop.post([&] { loop.stop(); }); });
        loop.run();
        other.join();
    }
    LoopFigures figures = metrics.figures();
    CHECK(figures.byPosts == 1);
    CHECK(figures.busy >= 0.03);
    CHECK(figures.busy + figures.idle == doctest::Approx(figures.seconds));
    auto isLongActor = [](LoopFigures::LongSteps const& each) { return each.actor.ends_with("longActor"); };
    // On a busy machine other steps may be long too.
    auto found = std::find_if(figures.longSteps.begin(), figures.longSteps.end(), isLongActor);
    REQUIRE(found != figures.longSteps.end());
    CHECK(found->count == 2);
    CHECK(found->longest >= 0.015);
    CHECK(found->seconds >= 0.03);
}

TEST_CASE("loop metrics: the texts have every figure, and what has to be escaped") {
    LoopFigures figures;
    figures.steps = 7;
    figures.ready = {{8000, 3}};
    figures.longSteps = {{"a\"b\\c\nd", 2, 0.5, 0.25}};
    std::string page = prometheusText(figures, "main");
    CHECK(page.find("# TYPE millrace_steps_total counter\nmillrace_steps_total{loop=\"main\"} 7\n") != page.npos);
    CHECK(page.find("millrace_ready{loop=\"main\",priority=\"8000\"} 3\n") != page.npos);
    CHECK(page.find("actor=\"a\\\"b\\\\c\\nd\"} 2\n") != page.npos);
    std::size_t head = page.find("# TYPE millrace_seconds_total");
    CHECK(page.find("# TYPE millrace_seconds_total", head + 1) == page.npos); // once for both states
    std::string json = jsonText(figures, "main");
    CHECK(json.find("\"ready\":[[8000,3]]") != json.npos);
    CHECK(json.find("\"actor\":\"a\\\"b\\\\c\\nd\",\"count\":2,\"seconds\":0.5,\"longest\":0.25") != json.npos);
}
