#include "flow/trace/loop_metrics.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

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

TEST_CASE("loop metrics: the time of turns, without a read of the clock of its own") {
    SimLoop loop;
    LoopMetrics metrics(loop);
    loop.run(stepping(10));
    LoopFigures figures = metrics.figures();
    CHECK(figures.latencyCount >= 2);
    CHECK(figures.latencyCount <= figures.turns);
    REQUIRE(figures.latencies.size() == 6);
    CHECK(figures.latencies.front() == std::pair<double, std::uint64_t>(0.0001, figures.latencyCount));
    CHECK(figures.latencies.back().second == figures.latencyCount);
    CHECK(figures.latencySeconds > 0);
    std::string page = prometheusText(figures, "a");
    CHECK(page.find("# TYPE millrace_loop_latency_seconds histogram\nmillrace_loop_latency_seconds_bucket{loop=\"a\","
                    "le=\"0.0001\"} ") != std::string::npos);
}

TEST_CASE("loop metrics: another thread reads a shared one while a step keeps the loop busy") {
    std::atomic<bool> isSeen = false;
    std::atomic<Loop*> started = nullptr;
    std::thread busy([&] {
        RealLoop loop;
        auto metrics = LoopMetrics::shared("busy");
        CHECK(LoopMetrics::shared("another name") == metrics);
        loop.post([&] {
            started = &loop;
            while (!isSeen) {
            }
        });
        loop.run();
    });
    RealLoop loop;
    auto mine = LoopMetrics::shared("busy");
    while (!started)
        std::this_thread::yield();
    int seen = 0;
    double before = 0;
    LoopMetrics::forEachShared([&](LoopMetrics const& each) {
        auto running = each.running();
        LoopFigures figures = each.figuresFromOutside();
        CHECK(figures.isFromOutside);
        CHECK(figures.seconds >= 0);
        if (&each.measuredLoop() == started) {
            ++seen;
            REQUIRE(running);
            before = running->seconds;
            CHECK(running->seconds > 0);
            CHECK(figures.running >= running->seconds);
            CHECK(figures.steps == 1);
            CHECK(each.thread() != ::gettid());
        } else if (&each.measuredLoop() == &loop) {
            ++seen;
            CHECK_FALSE(running);
            CHECK(each.thread() == ::gettid());
            CHECK(each.name().starts_with("busy"));
        }
    });
    CHECK(seen == 2);
    isSeen = true;
    busy.join();
    std::vector<std::string> names;
    LoopMetrics::forEachShared([&](LoopMetrics const& each) { names.push_back(each.name()); });
    CHECK(names == std::vector{mine->name()});
    auto same = LoopMetrics::shared("busy");
    CHECK(same == mine);
}

TEST_CASE("loop metrics: the running step is the innermost, and then the outer one again") {
    RealLoop loop;
    auto metrics = LoopMetrics::shared("main");
    std::uint64_t outer = 0, inner = 0, again = 0;
    auto runningId = [&] {
        std::uint64_t id = 0;
        LoopMetrics::forEachShared([&](LoopMetrics const& each) {
            if (auto step = each.running())
                id = step->id;
        });
        return id;
    };
    loop.post([&] {
        outer = runningId();
        loop.post([&] { inner = runningId(); });
        loop.run(delay(0.001));
        again = runningId();
    });
    loop.run(delay(0.002));
    CHECK(outer != 0);
    CHECK(inner > outer);
    CHECK(again == outer);
    CHECK(runningId() == 0);
}

TEST_CASE("loop metrics: pages of several loops are one page, in which each name stands once") {
    LoopFigures figures;
    figures.longSteps = {{"a", 1, 0.5, 0.5}, {"b", 1, 0.5, 0.5}};
    std::string page =
        mergePrometheus({prometheusText(figures, "one"), prometheusText(figures, "two"),
                         "# HELP x Ex.\n# TYPE x gauge\nx 1\n", "# HELP x Ex.\n# TYPE x gauge\nx{a=\"b\"} 2"});
    CHECK(page.find("# TYPE millrace_steps_total counter\nmillrace_steps_total{loop=\"one\"} 0\n"
                    "millrace_steps_total{loop=\"two\"} 0\n# ") != std::string::npos);
    CHECK(page.ends_with("# HELP x Ex.\n# TYPE x gauge\nx 1\nx{a=\"b\"} 2"));
    std::string name;
    for (std::size_t at = page.find("# TYPE "); at != page.npos; at = page.find("# TYPE ", at + 1)) {
        std::string next = page.substr(at + 7, page.find(' ', at + 7) - at - 7);
        CHECK(name < next);
        name = next;
    }
}
