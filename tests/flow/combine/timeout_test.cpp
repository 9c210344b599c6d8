#include "flow/combine/timeout.h"

#include "flow/sim/sim_loop.h"
#include "flow/sync/channel.h"
#include "flow/tasks/task.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <memory>

using namespace flow;
using namespace flow::test;

namespace {

Future<int> after(TraceLog& log, double seconds, int value) {
    Noisy local(log, "local");
    co_await delay(seconds);
    co_return value;
}

} // namespace

TEST_CASE("timeout: the value if it comes in time, the other one if not") {
    SimLoop loop;
    TraceLog log;
    CHECK(loop.run(timeout(after(log, 1, 7), 2, -1)) == 7);
    CHECK(loop.now() == 1);
    log.take();
    CHECK(loop.run(timeout(after(log, 5, 7), 2, -1)) == -1);
    CHECK(loop.now() == 3);
    CHECK(log.take() == "~local"); // cancelled, since nothing else held it
    CHECK(timeout(Future<int>(3), 0, -1).get() == 3);
    CHECK_FALSE(timeout(Future<int>(Never()), 0, -1).isReady());
}

TEST_CASE("timeout: of futures without a value, and of values that only move") {
    SimLoop loop;
    loop.run(timeout(Future<Void>(Never()), 1, Void()));
    CHECK(loop.now() == 1);
    CHECK_FALSE(loop.run(timeout(Future<Void>(Never()), 1)).present());
    CHECK(timeout(Future<Void>(Void()), 1).get().present());
    Future<std::unique_ptr<int>> box = std::make_unique<int>(5);
    CHECK(*loop.run(timeout(std::move(box), 1, nullptr)) == 5);
    CHECK(loop.run(timeout(Future<std::unique_ptr<int>>(Never()), 1, nullptr)) == nullptr);
    box = std::make_unique<int>(6);
    CHECK(**loop.run(timeout(std::move(box), 1)) == 6);
    box = std::make_unique<int>(7);
    CHECK(*loop.run(timeoutError(std::move(box), 1)) == 7);
    Promise<std::vector<std::unique_ptr<int>>> promise; // C++ takes the vector for copyable
    Future<Optional<std::vector<std::unique_ptr<int>>>> boxes = timeout(promise.getFuture(), 1);
    promise.send(std::vector<std::unique_ptr<int>>(3));
    CHECK(loop.run(std::move(boxes))->size() == 3);
}

TEST_CASE("timeout: nothing if it takes too long") {
    SimLoop loop;
    TraceLog log;
    CHECK(loop.run(timeout(after(log, 1, 7), 2)) == 7);
    CHECK_FALSE(loop.run(timeout(after(log, 5, 7), 2)).present());
    CHECK(timeout(Future<int>(end_of_stream()), 1).getError() == end_of_stream());
    CHECK(timeout(Future<int>(end_of_stream()), 1, 5).getError() == end_of_stream());
}

TEST_CASE("timeoutError: timed_out if it takes too long") {
    SimLoop loop;
    TraceLog log;
    CHECK(loop.run(timeoutError(after(log, 1, 7), 2)) == 7);
    log.take();
    Future<int> late = timeoutError(after(log, 5, 7), 2);
    loop.run();
    CHECK(late.getError() == timed_out());
    CHECK(log.take() == "~local");
    CHECK(timeoutError(Future<Void>(Void()), 1).canGet());
    CHECK(timeoutError(Future<Void>(end_of_stream()), 1).getError() == end_of_stream());
}

TEST_CASE("timeoutError: an operation that is late has taken nothing") {
    SimLoop loop;
    Channel<int> numbers(3);
    Future<int> late = timeoutError(numbers.receive(), 1);
    Future<int> inTime = timeoutError(numbers.receive(), 3);
    Future<int> cancelled = timeoutError(numbers.receive(), 3);
    loop.run(delay(1));
    cancelled = Future<int>();
    for (int i = 1; i <= 3; ++i) // in the turn in which the first one's time was over
        CHECK(keep(numbers.send(i)).isReady());
    loop.run();
    CHECK(late.getError() == timed_out());
    CHECK(inTime.get() == 1);
    CHECK(timeoutError(numbers.receive(), 1).get() == 2);
    CHECK(numbers.size() == 1);
}

TEST_CASE("timeout: of streams, callables, tasks and races; those that are late have given nothing") {
    SimLoop loop;
    PromiseStream<int> stream;
    FutureStream<int> numbers = stream.getFuture();
    Future<Optional<int>> late = timeout(numbers, 1);
    loop.run(delay(2));
    stream.send(1);
    CHECK_FALSE(late.get().present());
    CHECK(timeout(numbers, 1, -1).get() == 1);
    Promise<int> p;
    CHECK(loop.run(timeout([&] { return p.getFuture(); }, 1, -1)) == -1);
    CHECK(p.getFutureReferenceCount() == 0);
    auto task = [](Context, double seconds) -> Task<int> {
        co_await delay(seconds);
        co_return 5;
    };
    CHECK(loop.run(timeoutError(task(Environment(), 1), 2)) == 5);
    CHECK_FALSE(loop.run(timeout(task(Environment(), 3), 2)).present());
    CHECK(loop.run(timeoutError(race(p.getFuture(), delay(1)), 2)).index() == 1);
    CHECK_FALSE(loop.hasWork());
}

TEST_CASE("timeout: a future that others hold lives on") {
    SimLoop loop;
    TraceLog log;
    Future<int> slow = after(log, 5, 7);
    CHECK(loop.run(timeout(slow, 1, 0)) == 0);
    CHECK(log.take() == "");
    CHECK(loop.run(slow) == 7);
    CHECK(loop.now() == 5);
}

TEST_CASE("timeout: cancelling one cancels what it waits for and its timer") {
    SimLoop loop;
    TraceLog log;
    Future<int> limited = timeout(after(log, 5, 7), 10, -1);
    limited.cancel();
    CHECK(log.take() == "~local");
    CHECK(limited.getError() == actor_cancelled());
    loop.run();
    CHECK(loop.now() == 0);
}

TEST_CASE("timeout: in the same turn the first to come wins") {
    SimLoop loop;
    TraceLog log;
    CHECK(loop.run(timeout(after(log, 1, 7), 1, -1)) == 7);
    Future<int> value = after(log, 1, 8);
    CHECK(loop.run(timeout(value, 1, -1, TaskPriority::High)) == -1);
}

TEST_CASE("delayed: value and error, so much later than they come") {
    SimLoop loop;
    CHECK(loop.run(delayed(Future<int>(3), 2.0)) == 3);
    CHECK(loop.now() == 2);
    CHECK_THROWS_AS(loop.run(delayed(Future<Void>(timed_out()), 1.0)), Error);
    CHECK(loop.now() == 3);
    Future<Void> later = delayed(Future<Void>(Void()));
    CHECK_FALSE(later.isReady());
    loop.run(later);
    CHECK(loop.now() == 3);
}

TEST_CASE("delayJittered: near the requested time, and never the same twice") {
    SimLoop loop;
    setThreadLocalDeterministicRandomSeed(7);
    double before = 0;
    for (int i = 0; i < 100; ++i) {
        double begin = loop.now();
        loop.run(delayJittered(10.0));
        double took = loop.now() - begin;
        CHECK(took >= 9.0);
        CHECK(took < 11.0);
        CHECK(took != before);
        before = took;
    }
}

TEST_CASE("timeout: an invalid future, also of a function, names the caller") {
    SimLoop loop;
    Future<int> none;
    auto make = [] { return Future<int>(); };
    CHECK_NAMES_CALLER((void)timeout(none, 1));
    CHECK_NAMES_CALLER((void)timeout(make, 1));
    CHECK_NAMES_CALLER((void)timeout(make, 1, 7));
    CHECK_NAMES_CALLER((void)timeoutError(make, 1));
    CHECK(loop.run(timeoutError([] { return Future<int>(3); }, 1)) == 3);
}
