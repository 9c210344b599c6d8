#include "flow/inspect/pending_report.h"

#include "tests/flow/inspect/pending_actors.h"

#include "flow/combine/race.h"
#include "flow/compat/collection.h"
#include "flow/compat/flow_lock.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/sync/semaphore.h"
#include "flow/tasks/context.h"
#include "flow/tasks/fork.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/pending_text.h"

#include <cstring>
#include <doctest/doctest.h>
#include <memory_resource>
#include <string>
#include <vector>

using flow::test::count, flow::test::has, flow::test::pendingText;

namespace {

Future<int> pendingReads(FutureStream<int> stream) {
    co_return co_await stream;
}
Future<Void> pendingSends(PromiseStream<int> stream, Future<Void> go) {
    co_await go;
    stream.send(1);
}
Future<Void> pendingAfter(Future<Void> other, Promise<Void> own) {
    co_await other;
    own.send(Void());
}
/// Has the bytes of a promise in its frame, as a frame has in memory that it does not use.
Future<Void> pendingBytes(std::uintptr_t bytes, Future<Void> go) {
    co_await go;
    if (bytes == 0)
        throw internal_error();
}
Future<Void> pendingAcquires(Semaphore* permits) {
    co_await permits->acquire();
}
Future<Void> pendingLeaf(Future<Void> go) {
    co_await go;
}
Future<Void> pendingParent(Future<Void> go) {
    co_await pendingLeaf(go);
}

Task<> pendingStep(Context, Future<Void> go) {
    co_await go;
}
Task<> pendingPlan(Context, Future<Void> go) {
    co_await pendingStep(co_await context(), go);
}
Fork<> pendingBranch(Context, Future<Void> go) {
    co_await go;
}
Task<> pendingForks(Context, Future<Void> go) {
    Fork<> one = pendingBranch(co_await context(), go), two = pendingBranch(co_await context(), go);
    co_await delay(1.0);
    co_await destroyForks();
}

} // namespace

TEST_CASE("pending: a loop without computations") {
    SimLoop loop;
    CHECK(pendingText() == "0 computations are pending\n");
}

TEST_CASE("pending: actors as a tree, with the lines of their waits and what they wait for") {
    SimLoop loop;
    Promise<int> question;
    Future<Void> asks = pendingAsk(question.getFuture());
    loop.run(delay(0.5));
    std::string text = pendingText();
    INFO(text);
    CHECK(has(text, "2 computations are pending\n"));
    CHECK(has(text, "\nactor pendingAsk at "));
    CHECK(has(text, "pending_actors.actor.cpp:14 waits for one of: actor pendingAnswer at "));
    CHECK(has(text, "; a delay until 2.5 "));
    CHECK(has(text, "\n  actor pendingAnswer at "));
    CHECK(has(text, "pending_actors.actor.cpp:8 waits for a promise\n"));
    CHECK(!has(text, "cycle"));
    question.send(1);
    CHECK(pendingText() == "0 computations are pending\n");
}

TEST_CASE("pending: what could send, and what waits for each other by promises") {
    SimLoop loop;
    PromiseStream<int> stream;
    Promise<Void> go;
    Future<int> reads = pendingReads(stream.getFuture());
    Future<Void> sends = pendingSends(std::exchange(stream, {}), go.getFuture());
    std::string text = pendingText();
    INFO(text);
    CHECK(
        has(text, "coroutine pendingReads waits for a stream with 1 sender, to which coroutine pendingSends refers\n"));
    CHECK(has(text, "coroutine pendingSends waits for a promise\n"));
    CHECK(!has(text, "cycle"));

    Promise<Void> first, second;
    Future<Void> one = pendingAfter(first.getFuture(), second), other = pendingAfter(second.getFuture(), first);
    text = pendingText();
    INFO(text);
    CHECK(has(text, "\ncycle: coroutine pendingAfter waits for coroutine pendingAfter, which waits for coroutine "
                    "pendingAfter\n"));
}

TEST_CASE("pending: frames with more addresses of a promise than there are references to it do not count as holders") {
    SimLoop loop;
    Promise<Void> go, end;
    std::uintptr_t bytes = 0;
    static_assert(sizeof bytes == sizeof end);
    std::memcpy(&bytes, &end, sizeof bytes);
    Future<Void> one = pendingBytes(bytes, go.getFuture()), other = pendingBytes(bytes, go.getFuture());
    Future<Void> waits = pendingAfter(end.getFuture(), Promise<Void>());
    std::string text = pendingText();
    INFO(text);
    CHECK(has(text, "coroutine pendingAfter waits for a promise\n"));
}

TEST_CASE("pending: two locks that are taken in two orders") {
    SimLoop loop;
    FlowLock first, second;
    Future<Void> one = pendingHold(&first, &second), other = pendingHold(&second, &first);
    CHECK_THROWS(loop.run(Future<Void>(Never())));
    std::string text = pendingText();
    INFO(text);
    CHECK(count(text,
                "\n  operation Semaphore::Acquire waits for a permit of a FlowLock, held by actor pendingHold at ") ==
          2);
    CHECK(count(text, "\ncycle: ") == 1);
    CHECK(count(text, "pending_actors.actor.cpp:27, which waits for operation Semaphore::Acquire") == 1);
}

TEST_CASE("pending: tasks and forks by name, below the one that waits for them") {
    SimLoop loop;
    Promise<Void> go;
    std::pmr::monotonic_buffer_resource memory;
    for (Environment environment : {Environment(), Environment(memory)}) {
        Future<Void> plan = start(pendingPlan(environment, go.getFuture()));
        std::string text = pendingText();
        INFO(text);
        CHECK(has(text, "3 computations are pending\ncoroutine flow::start"));
        CHECK(has(text, " waits for task pendingPlan\n"));
        CHECK(has(text, "\n  task pendingPlan waits for task pendingStep\n"));
        CHECK(has(text, "\n    task pendingStep waits for a promise\n"));
    }
    // Another promise: the frames above have left the address of the first in memory that these do not write.
    Promise<Void> later;
    Future<Void> forks = start(pendingForks(Environment(), later.getFuture()));
    std::string text = pendingText();
    INFO(text);
    CHECK(count(text, "\ntask pendingBranch waits for a promise [child of task pendingForks]\n") == 2);
    loop.run(delay(2.0));
    text = pendingText();
    INFO(text);
    CHECK(has(text, "\n  task pendingForks waits for the end of 2 children\n"));
    CHECK(count(text, "\n    task pendingBranch waits for a promise\n") == 2);
}

TEST_CASE("pending: coroutines and tasks with the lines of their waits") {
    SimLoop loop;
    unsigned line = 0;
    auto waits = [&](Future<Void> first) -> Future<Void> {
        line = __LINE__ + 1;
        co_await first;
        co_await race(delay(1.0), Future<Void>(Never()));
        (void)co_await tryGet(Future<Void>(Never()));
    };
    auto place = [&] {
        std::string text;
        dumpPending(text);
        std::size_t at = text.find(" at pending_report_test.cpp:");
        return at == std::string::npos
                   ? 0
                   : std::stoul(text.substr(at + std::strlen(" at pending_report_test.cpp:"))) - line;
    };
    Promise<Void> go;
    Future<Void> running = waits(go.getFuture());
    CHECK(place() == 0);
    go.send(Void());
    CHECK(place() == 1);
    loop.run(delay(2.0));
    CHECK(place() == 2);
    running = start(pendingStep(Environment(), Never()));
    std::string text;
    dumpPending(text);
    INFO(text);
    CHECK(has(text, "task pendingStep at pending_report_test.cpp:"));
}

TEST_CASE("pending: operations in place, collections and what is ready") {
    SimLoop loop;
    Semaphore permits(0);
    ActorCollection collection(false);
    collection.add(pendingAcquires(&permits));
    Future<Void> queued = pendingLeaf(delay(0));
    std::string text = pendingText();
    INFO(text);
    CHECK(
        has(text, "coroutine pendingAcquires waits for a permit of a Semaphore [awaited by flow::tasks::HeldFuture]"));
    CHECK(has(text, "operation ActorCollection::Actors waits for 1 futures of a collection"));
    CHECK(has(text, "waits for its turn"));
}

TEST_CASE("pending: what a loop runs until it is ready is awaited by the loop's run") {
    SimLoop loop;
    std::string text;
    loop.post([&] { text = pendingText(); });
    Promise<Void> go;
    Future<Void> sends = [](Promise<Void> go) -> Future<Void> {
        co_await delay(1.0);
        go.send(Void());
    }(go);
    loop.run(pendingLeaf(go.getFuture()));
    INFO(text);
    CHECK(has(text, "pendingLeaf waits for a promise"));
    CHECK(has(text, "[awaited by flow::Loop::run]\n"));
}

TEST_CASE("pending: JSON and Graphviz") {
    SimLoop loop;
    Promise<Void> go;
    Future<Void> parent = pendingParent(go.getFuture());
    std::string json = pendingText({PendingFormat::Json});
    INFO(json);
    CHECK(json.starts_with("{\"pending\":2,\"computations\":[\n"));
    CHECK(has(json, R"("depth":0,"style":"coroutine","name":"pendingParent")"));
    CHECK(has(json, R"("waits":[{"for":"a computation")"));
    CHECK(has(json, R"("kinds":[)"));
    std::string graph = pendingText({PendingFormat::Graphviz});
    INFO(graph);
    CHECK(graph.starts_with("digraph pending {\n"));
    CHECK(count(graph, " -> ") == 1);
    CHECK(has(graph, "label=\"coroutine pendingLeaf\\nwaits for a promise\""));
}

TEST_CASE("pending: a hundred thousand computations are counted by kind") {
    SimLoop loop;
    Promise<Void> go;
    std::vector<Future<Void>> all;
    for (int i = 0; i < 50'000; ++i)
        all.push_back(pendingParent(go.getFuture()));
    std::string text = pendingText({PendingFormat::Text, 10});
    INFO(text);
    CHECK(has(text, "100000 computations are pending\n"));
    CHECK(has(text, "     50000 x coroutine pendingParent waits for a computation\n"));
    CHECK(has(text, "     50000 x coroutine pendingLeaf waits for a promise\n"));
    CHECK(count(text, "\n") == 14);
}

TEST_CASE("pending: frames that are too large for the walk are found by what they wait for") {
    SimLoop loop;
    auto large = [](Future<Void> go) -> Future<Void> {
        char bytes[6000];
        asm volatile("" : : "r"(bytes) : "memory");
        co_await pendingLeaf(go);
        asm volatile("" : : "r"(bytes) : "memory");
    };
    Promise<Void> go;
    Future<Void> running = large(go.getFuture());
    CHECK(has(pendingText(), "2 computations are pending\n"));
}
