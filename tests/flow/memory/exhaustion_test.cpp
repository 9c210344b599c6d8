// Every allocation of every operation of the core, the loop and the styles fails once: the caller gets std::bad_alloc,
// or a future that failed, nothing leaks, and the same operation works again afterwards.

#include "flow/memory/allocation_failure.h"

#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/threads/on_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/failures.h"

#include <doctest/doctest.h>

#include <new>
#include <string>
#include <vector>

using namespace flow;
using flow::test::expect;
using flow::test::failEverywhere;
using flow::test::ranOut;

// exhaustion_actors.actor.cpp
Future<std::string> named(std::string const& name, Future<int> const& f);
Future<int> sumOf(FutureStream<int> const& numbers, int const& count);
Future<int> firstOf(Future<int> const& a, Future<int> const& b, double const& seconds);
Future<int> withHandler(Future<int> const& f, int* const& handled);
Future<int> nested(int const& depth, Future<int> const& f);
void detached(Future<int> const& f, int* const& result);

namespace {

Future<int> child(Future<int> awaited) {
    std::string local = "some state that needs memory of its own";
    int value = co_await std::move(awaited);
    co_return value + (local.empty() ? 1 : 0);
}
Future<int> parent(Future<int> awaited) {
    int first = co_await child(awaited);
    co_return first + co_await child(std::move(awaited));
}
Future<Void> sleeper(double seconds) {
    co_await delay(seconds);
}
Future<int> counting(Future<int> awaited, int& ended) {
    struct Count {
        int& ended;
        ~Count() { ++ended; }
    } count{ended};
    co_return co_await std::move(awaited);
}

/// The value, or -1 of an actor that ran out of memory. Anything else is a failure of the test.
template <class T>
bool isValueOr(Future<T> const& future, T const& value) {
    return ranOut(future) || (future.canGet() && future.get() == value);
}

} // namespace

// Containers run out as well, of what operator new gives.
TEST_SUITE_BEGIN("exhaustion" * doctest::skip(!REPLACES_NEW));

TEST_CASE("exhaustion: futures and promises") {
    auto failures = failEverywhere([] {
        Future<std::string> value = std::string("a value that needs memory of its own");
        Promise<int> promise;
        Future<int> failed = timed_out();
        Future<int> never = Never();
        promise.send(1);
        expect(promise.getFuture().get() == 1 && !never.isReady());
    });
    CHECK(failures >= 5);
}

TEST_CASE("exhaustion: a promise stays unset if its value cannot be made") {
    auto failures = failEverywhere([] {
        Promise<std::string> promise;
        Future<std::string> future = promise.getFuture();
        std::string text = "a value that needs memory of its own";
        try {
            promise.send(text);
        } catch (std::bad_alloc const&) {
            expect(!future.isReady() && promise.canBeSet());
            promise.send("short");
            expect(future.get() == "short");
            throw;
        }
        expect(future.get() == text);
    });
    CHECK(failures >= 3);
}

TEST_CASE("exhaustion: coroutines") {
    auto failures = failEverywhere([] {
        Promise<int> promise;
        Future<int> sum = parent(promise.getFuture());
        promise.send(1);
        expect(isValueOr(sum, 2));
    });
    CHECK(failures >= 6);
}

TEST_CASE("exhaustion: state machines") {
    auto failures = failEverywhere([] {
        Promise<int> promise;
        Future<std::string> one = named("one", promise.getFuture());
        Future<std::string> two = named("two", promise.getFuture());
        promise.send(1);
        expect(one.isError() || one.get().ends_with("one1"));
        expect(isValueOr(two, std::string("a greeting that needs memory of its own: two1")));
    });
    CHECK(failures >= 7);
}

TEST_CASE("exhaustion: actors within actors, and actors without a future") {
    auto failures = failEverywhere([] {
        Promise<int> promise;
        int result = 0;
        Future<int> deep = nested(5, promise.getFuture());
        detached(promise.getFuture(), &result);
        promise.send(1);
        expect(isValueOr(deep, 6));
        expect(result == 1);
    });
    CHECK(failures >= 8);
}

TEST_CASE("exhaustion: a handler sees it, and is cancelled as usual") {
    auto failures = failEverywhere([] {
        SimLoop loop;
        Promise<int> promise;
        int handled = 0;
        {
            Future<int> kept = withHandler(promise.getFuture(), &handled);
            Future<int> dropped = withHandler(promise.getFuture(), &handled);
            promise.send(1);
            dropped = Future<int>(2);
            loop.run();
            expect(isValueOr(kept, 1) || kept.get() == -1);
        }
        expect(handled >= 1);
    });
    CHECK(failures >= 5);
}

TEST_CASE("exhaustion: delays, as futures and in place") {
    auto failures = failEverywhere([] {
        SimLoop loop;
        Future<Void> alarm = delay(1);
        Future<Void> soon = delay(0);
        std::vector<Future<Void>> inPlace;
        for (int i = 0; i < 4; ++i)
            inPlace.push_back(sleeper(2));
        for (Future<Void> const& one : inPlace)
            expect(!one.isReady() || ranOut(one));
        loop.run();
        expect(alarm.canGet() && soon.canGet());
    });
    CHECK(failures >= 12);
}

TEST_CASE("exhaustion: the timers grow") {
    auto failures = failEverywhere([] {
        SimLoop loop;
        std::vector<Future<Void>> timers;
        timers.reserve(300);
        for (int i = 0; i < 300; ++i)
            timers.push_back(sleeper(1 + i % 7));
        int ready = 0;
        loop.run();
        for (Future<Void> const& timer : timers) {
            expect(timer.canGet() || ranOut(timer));
            ready += timer.canGet();
        }
        expect(ready >= 299);
    });
    CHECK(failures >= 600);
}

TEST_CASE("exhaustion: many ready tasks at many priorities take no memory") {
    SimLoop loop;
    std::vector<Future<Void>> tasks;
    auto task = [](TaskPriority priority) -> Future<Void> { co_await delay(0, priority); };
    tasks.reserve(2000);
    AllocationFailure failure(2000); // one for each task
    for (int i = 0; i < 2000; ++i)
        tasks.push_back(task(static_cast<TaskPriority>(i * 31 % 60000)));
    bool allRan = true;
    loop.run();
    for (Future<Void> const& one : tasks)
        allRan &= one.canGet();
    bool more = failure.hasHappened();
    CHECK(allRan);
    CHECK(!more);
}

TEST_CASE("exhaustion: streams keep what they have") {
    auto failures = failEverywhere([] {
        PromiseStream<std::string> out;
        FutureStream<std::string> in = out.getFuture();
        int sent = 0;
        try {
            for (; sent < 40; ++sent)
                out.send("an element that needs memory of its own, number " + std::to_string(sent));
        } catch (std::bad_alloc&) {
            for (int i = 0; i < sent; ++i)
                expect(in.pop().ends_with(" " + std::to_string(i)));
            expect(!in.isReady());
            throw;
        }
        Future<Void> emptied = out.onEmpty();
        for (int i = 0; i < 40; ++i)
            (void)in.pop();
        expect(emptied.canGet());
    });
    CHECK(failures >= 40);
}

TEST_CASE("exhaustion: readers of streams keep waiting when an element cannot be sent") {
    auto failures = failEverywhere([] {
        PromiseStream<int> out;
        Future<int> sum = sumOf(out.getFuture(), 3);
        int sent = 0, tries = 0;
        while (sent < 3 && ++tries < 10) {
            try {
                out.send(1);
                ++sent;
            } catch (std::bad_alloc const&) {
                expect(!sum.isReady());
            }
        }
        expect(sum.get() == 3);
    });
    CHECK(failures >= 3);
}

TEST_CASE("exhaustion: races, in both styles, also with a delay that already stands in its queue") {
    auto failures = failEverywhere([] {
        SimLoop loop;
        Promise<int> promise, other;
        auto racer = [](Future<int> awaited) -> Future<int> {
            auto first =
                co_await race(delay(1), std::move(awaited), [] { return delay(2); }, [] { return sleeper(3); });
            co_return static_cast<int>(first.index());
        };
        Future<int> raced = racer(promise.getFuture());
        Future<int> chosen = firstOf(promise.getFuture(), other.getFuture(), 4);
        Future<int> limited = timeout(promise.getFuture(), 5, -1);
        Future<int> strict = timeoutError(promise.getFuture(), 6);
        promise.send(1);
        for (Future<int> const& one : {raced, chosen, limited, strict})
            expect(isValueOr(one, 1));
        loop.run();
        expect(loop.now() == 0); // no timer was left behind
    });
    CHECK(failures >= 14);
}

TEST_CASE("exhaustion: races of what exists, where some of it takes memory behind what is parked") {
    auto failures = failEverywhere([] {
        SimLoop loop;
        Promise<int> promise;
        PromiseStream<int> stream;
        Future<int> awaited = promise.getFuture();
        FutureStream<int> elements = stream.getFuture();
        auto second = [](Future<int>& future, FutureStream<int>& next) -> Future<int> {
            auto first = co_await race(next, future, delay(1), Never(), delay(2));
            co_return static_cast<int>(first.index());
        };
        auto third = [](Future<int>& future, FutureStream<int>& next, Propagate = {}) -> Future<int> {
            auto first = co_await race(delay(1), next, future, delay(2));
            co_return static_cast<int>(first.index());
        };
        Future<int> one = second(awaited, elements);
        PromiseStream<int> others;
        FutureStream<int> otherElements = others.getFuture();
        Future<int> two = third(awaited, otherElements);
        stream.send(5);
        others.send(6);
        promise.send(7);
        expect(isValueOr(one, 0));
        expect(isValueOr(two, 1));
        loop.run();
        expect(loop.now() == 0);
    });
    CHECK(failures >= 6);
}

TEST_CASE("exhaustion: an error reaches all waiters") {
    auto failures = failEverywhere([] {
        Promise<int> promise;
        std::vector<Future<int>> waiting;
        for (int i = 0; i < 5; ++i) {
            waiting.push_back(child(promise.getFuture()));
            waiting.push_back(nested(2, promise.getFuture()));
        }
        promise.sendError(timed_out());
        for (Future<int> const& one : waiting)
            expect(ranOut(one) || one.getError() == timed_out());
    });
    CHECK(failures >= 30);
}

TEST_CASE("exhaustion: cancelling takes no memory, and ends all") {
    auto failures = failEverywhere([] {
        SimLoop loop;
        Promise<int> promise;
        int ended = 0, handled = 0, started = 0;
        {
            std::vector<Future<int>> waiting;
            waiting.reserve(100);
            for (int i = 0; i < 10; ++i) {
                waiting.push_back(counting(promise.getFuture(), ended));
                ++started;
                waiting.push_back(nested(3, promise.getFuture()));
                waiting.push_back(withHandler(promise.getFuture(), &handled));
                waiting.push_back(firstOf(promise.getFuture(), promise.getFuture(), 1));
            }
            std::uint64_t before = memory::totalStatistics().allocated;
            for (Future<int>& one : waiting)
                one.cancel();
            expect(memory::totalStatistics().allocated == before);
            for (Future<int> const& one : waiting)
                expect(one.isError() ? ranOut(one) || one.getError() == actor_cancelled() : one.get() == -1);
        }
        expect(ended >= started - 1 && handled >= started - 1);
        expect(promise.getFutureReferenceCount() == 0);
    });
    CHECK(failures >= 80);
}

TEST_CASE("exhaustion: posted calls run, or are not accepted") {
    auto failures = failEverywhere([] {
        SimLoop loop;
        int ran = 0;
        std::string text = "what the call takes with it needs memory of its own";
        for (int i = 0; i < 3; ++i)
            loop.post([&ran, text] { ran += text.empty() ? 0 : 1; });
        loop.run();
        expect(ran == 3);
    });
    CHECK(failures >= 6);
}

TEST_CASE("exhaustion: a call on a loop brings back a result or its failure") {
    auto failures = failEverywhere([] {
        SimLoop loop;
        struct Running { // the loop must not end before the calls have come back
            Loop& loop;
            ~Running() { loop.run(); }
        };
        Future<int> plain, later;
        Future<std::string> text;
        Future<Void> slow;
        {
            Running running{loop};
            plain = onLoop(loop, [] { return 1; });
            text = onLoop(loop, [] { return std::string("a result that needs memory of its own"); });
            later = onLoop(loop, [] { return child(Future<int>(2)); });
            slow = onLoop(loop, [] { return sleeper(1); });
        }
        expect(isValueOr(plain, 1) && isValueOr(later, 2));
        expect(text.canGet() || ranOut(text));
        expect(slow.canGet() || ranOut(slow));
    });
    CHECK(failures >= 10);
}

TEST_SUITE_END();
