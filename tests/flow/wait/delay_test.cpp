#include "flow/wait/delay.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace flow;
using flow::test::Blocks;
using flow::test::TraceLog;

namespace {

Future<Void> sayAfter(TraceLog& log, std::string word, Delay pause) {
    co_await pause;
    log.say(word);
}

Future<Void> yielder(TraceLog& log, std::string word, int times, TaskPriority own, TaskPriority yields) {
    co_await delay(0, own);
    for (int i = 0; i < times; ++i) {
        log.say(word);
        co_await yield(yields);
    }
}

} // namespace

TEST_CASE("delay: one that is less than the clock can show lets it go on nevertheless") {
    SimLoop loop;
    loop.run(delay(1e9)); // from there on the clock has steps of 0.12 us
    auto wait = [](double seconds, int* steps) -> Future<Void> {
        for (double end = now() + 1e-5; now() < end && *steps < 1000; ++*steps)
            co_await delay(seconds);
    };
    for (double seconds : {1e-7, 1e-8, 1e-12, 1e-300}) {
        int steps = 0;
        loop.run(wait(seconds, &steps));
        CHECK(steps < 100);
    }
    double before = loop.now();
    loop.run(delay(0));
    CHECK(loop.now() == before);
}

TEST_CASE("delay: more urgent first, in order of setting within one priority") {
    SimLoop loop;
    TraceLog log;
    std::vector<Future<Void>> all;
    all.push_back(sayAfter(log, "low", delay(0, TaskPriority::Low)));
    all.push_back(sayAfter(log, "first", delay(0)));
    all.push_back(sayAfter(log, "max", delay(0, TaskPriority::Max)));
    all.push_back(sayAfter(log, "second", delay(0)));
    all.push_back(sayAfter(log, "beyond", delay(0, static_cast<TaskPriority>(1 << 20))));
    all.push_back(sayAfter(log, "below", delay(0, static_cast<TaskPriority>(-1))));
    all.push_back(sayAfter(log, "third", delay(0)));
    loop.run();
    CHECK(log.take() == "max beyond first second third low below");
}

TEST_CASE("delay: timers by deadline, then by priority, then in order of setting") {
    SimLoop loop;
    TraceLog log;
    std::vector<Future<Void>> all;
    all.push_back(sayAfter(log, "late", delay(2, TaskPriority::Max)));
    all.push_back(sayAfter(log, "a", delay(1)));
    all.push_back(sayAfter(log, "b", delay(1)));
    all.push_back(sayAfter(log, "urgent", delay(1, TaskPriority::High)));
    Future<Void> asFuture = delay(1);
    all.push_back(sayAfter(log, "c", delayUntil(1)));
    loop.run();
    CHECK(log.take() == "urgent a b c late");
    CHECK(asFuture.isReady());
}

TEST_CASE("delay: zero goes behind what is ready at that priority") {
    SimLoop loop;
    TraceLog log;
    auto again = [](TraceLog& said, std::string word) -> Future<Void> {
        co_await delay(0);
        said.say(word + "1");
        co_await delay(0);
        said.say(word + "2");
    };
    Future<Void> a = again(log, "a");
    Future<Void> b = again(log, "b");
    CHECK(log.take() == "");
    loop.run();
    CHECK(log.take() == "a1 b1 a2 b2");
}

TEST_CASE("delay: the deadline is fixed when delay() is called") {
    SimLoop loop;
    Delay early = delay(5);
    loop.run(delay(3));
    loop.run(early);
    CHECK(loop.now() == 5);
    loop.run(early); // passed: as delay(0)
    CHECK(loop.now() == 5);
}

TEST_CASE("delay: a future of one is one block, cancelled by dropping it") {
    SimLoop loop;
    loop.run(delay(1)); // the timer queue has its first memory now
    Blocks blocks;
    {
        Future<Void> alarm = delay(0);
        CHECK(blocks.taken() == 1);
    }
    CHECK(blocks.leaked() == 0);
    Future<Void> alarm = delay(1e9);
    Future<Void> copy = alarm;
    alarm = Future<Void>();
    copy.cancel();
    CHECK(copy.getError() == actor_cancelled());
    copy.cancel();
    loop.run();
    CHECK(loop.now() == 1); // a cancelled timer does not move time
}

TEST_CASE("delay: a cancelled waiter leaves the queue at once") {
    SimLoop loop;
    TraceLog log;
    Future<Void> ready = sayAfter(log, "ready", delay(0));
    Future<Void> timed = sayAfter(log, "timed", delay(1));
    ready = timed = Future<Void>();
    std::uint64_t before = loop.stepsRun();
    loop.run();
    CHECK(loop.stepsRun() == before);
    CHECK(log.take() == "");
}

TEST_CASE("delay: now stands still in a turn") {
    SimLoop loop;
    auto turn = []() -> Future<Void> {
        co_await delay(1);
        double start = now();
        Future<Void> alarm = delay(1);
        for (int i = 0; i < 10; ++i) {
            co_await delay(0);
            CHECK(now() == start);
            CHECK(timer() == start);
        }
    };
    loop.run(turn());
}

TEST_CASE("yield: ready at once when nothing is more urgent, without a block") {
    SimLoop loop;
    auto task = []() -> Future<Void> {
        co_await delay(0, TaskPriority::Default);
        Future<Void> equal = delay(0, TaskPriority::Default);
        Future<Void> lower = delay(0, TaskPriority::Low);
        std::uint64_t before = flow::Loop::current().stepsRun();
        Blocks blocks;
        for (int i = 0; i < 10; ++i)
            co_await yield();
        CHECK(blocks.taken() == 0);
        CHECK(flow::Loop::current().stepsRun() == before);
        Future<Void> asFuture = yield();
        CHECK(asFuture.isReady());
    };
    loop.run(task());
}

TEST_CASE("yield: gives way to more urgent work, then resumes at its own priority") {
    SimLoop loop;
    TraceLog log;
    auto task = [](TraceLog& said) -> Future<Void> {
        co_await delay(0, TaskPriority::Default);
        Future<Void> urgent = sayAfter(said, "urgent", delay(0, TaskPriority::High));
        Future<Void> middle = sayAfter(said, "middle", delay(0, TaskPriority::Default));
        co_await yield(TaskPriority::Min);
        said.say("back");
        Future<Void> more = sayAfter(said, "more", delay(0, TaskPriority::High));
        Future<Void> asFuture = yield(TaskPriority::Zero);
        CHECK_FALSE(asFuture.isReady());
        co_await asFuture;
        CHECK(asFuture.isReady());
        said.say("end");
    };
    loop.run(task(log));
    CHECK(log.take() == "urgent middle back more end");
}

TEST_CASE("yield: a slice of many yields is used up at last") {
    SimLoop loop;
    TraceLog log;
    Future<Void> a = yielder(log, "a", 130, TaskPriority::Default, TaskPriority::Default);
    Future<Void> b = yielder(log, "b", 1, TaskPriority::Default, TaskPriority::Default);
    loop.run();
    std::string said = log.take();
    CHECK(said.find('b') != std::string::npos);
    CHECK(said.find('b') < 2 * 70);
    CHECK(a.isReady());
}

TEST_CASE("yield: cancelled ones raise") {
    SimLoop loop;
    TraceLog log;
    Future<Void> own;
    auto task = [](TraceLog& said, Future<Void>& mine) -> Future<Void> {
        co_await delay(0);
        mine.cancel();
        try {
            co_await yield();
            said.say("not reached");
        } catch (Error& error) {
            said.say(error.name());
            throw;
        }
    };
    own = task(log, own);
    loop.run();
    CHECK(log.take() == "operation_cancelled");
    CHECK(own.getError() == actor_cancelled());
}

TEST_CASE("delay: ten thousand timers set and cancelled at random fire in order") {
    SimLoop loop;
    std::vector<Future<Void>> alarms;
    std::vector<double> fired;
    auto note = [](std::vector<double>& times, double seconds) -> Future<Void> {
        co_await delay(seconds);
        times.push_back(now());
        CHECK(now() == doctest::Approx(seconds));
    };
    for (int i = 0; i < 10000; ++i)
        alarms.push_back(note(fired, 1 + (i * 7919) % 1000));
    for (int i = 0; i < 10000; i += 3)
        alarms[i] = Future<Void>();
    loop.run();
    CHECK(fired.size() == 6666);
    CHECK(std::is_sorted(fired.begin(), fired.end()));
}

TEST_CASE("delay: orderedDelay is a delay, and check_yield returns whether yield would wait") {
    SimLoop loop;
    std::string order;
    auto note = [&](char name) -> Future<Void> {
        char mine = name;
        co_await orderedDelay(1, TaskPriority::Low);
        order += mine;
    };
    Future<Void> a = note('a'), b = note('b');
    loop.run();
    CHECK(order == "ab");
    loop.run([&]() -> Future<Void> {
        co_await delay(0);
        CHECK_FALSE(check_yield());
        Future<Void> urgent = delay(0, TaskPriority::Max);
        CHECK(check_yield());
    }());
}
