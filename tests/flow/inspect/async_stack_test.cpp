#include "flow/inspect/async_stack.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/trace/sink.h"
#include "flow/trace/trace_event.h"
#include "tests/flow/support/plain_event.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;

namespace {

Future<Void> stackInner(Future<Void> go, std::string* out) {
    co_await go;
    *out = asyncStack();
}
constexpr int kInner = __LINE__ - 3; // its wait
Future<Void> stackOuter(Future<Void> go, std::string* out) {
    co_await stackInner(go, out);
}
constexpr int kOuter = __LINE__ - 2;

/// Fails when `go` is there.
Future<Void> stackFails(Future<Void> go) {
    co_await go;
    throw io_error();
}
constexpr int kRaised = __LINE__ - 2;
Future<Void> stackAwaitsFailure(Future<Void> go) {
    co_await stackFails(go);
}

struct NotesStack {
    ~NotesStack() { *out = asyncStack(); }
    std::string* out;
};
Future<int> stackReturns(Future<Void> go, std::string* out) {
    NotesStack local{out};
    co_await go;
    co_return 1;
}

/// Writes an event when `go` is there.
Future<Void> stackTraces(Future<Void> go) {
    co_await go;
    TraceEvent("Here").backtrace("At").log();
}
Future<Void> stackAwaitsTrace(Future<Void> go) {
    co_await stackTraces(go);
}

} // namespace

TEST_CASE("async stack: an error has the chain of awaiters from where it was made") {
    RealLoop loop;
    Promise<Void> go;
    Future<Void> outer = stackAwaitsFailure(go.getFuture());
    Error::recordOrigins(true);
    go.send(Void());
    Error::recordOrigins(false);
    std::string origin = outer.getError().origin();
    INFO(origin);
    CHECK(origin.starts_with("async_stack_test.cpp:" + std::to_string(kRaised) + "\ncoroutine stackFails"));
    CHECK(origin.find(" runs\n  awaited by coroutine stackAwaitsFailure") != std::string::npos);
}

TEST_CASE("async stack: from what runs to the root") {
    RealLoop loop;
    Promise<Void> go;
    std::string stack;
    Future<Void> outer = stackOuter(go.getFuture(), &stack);
    CHECK(asyncStack().empty());
    go.send(Void());
    CHECK(outer.isReady());
    auto at = [](int line) { return " at async_stack_test.cpp:" + std::to_string(line); };
    CHECK(stack ==
          "coroutine stackInner" + at(kInner) + " runs\n  awaited by coroutine stackOuter" + at(kOuter) + "\n");
}

TEST_CASE("async stack: of a coroutine that has returned a value and destroys its locals") {
    RealLoop loop;
    Promise<Void> go;
    std::string stack;
    Future<int> outer = stackReturns(go.getFuture(), &stack);
    go.send(Void());
    CHECK(outer.get() == 1);
    CHECK_MESSAGE(stack.starts_with("coroutine stackReturns"), stack);
}

TEST_CASE("async stack: an event has it, beside the calls on the stack") {
    TraceEvent("Off").backtrace();
    TraceMemory trace;
    TraceEvent("NoLoop").backtrace();
    RealLoop loop;
    Promise<Void> go;
    Future<Void> outer = stackAwaitsTrace(go.getFuture());
    go.send(Void());
    REQUIRE(trace.lines().size() == 2);
    CHECK(test::plainEvent(trace.lines()[0])
              .starts_with(R"({"Severity":10,"Type":"NoLoop","Backtrace":"addr2line -e /)"));
    CHECK(trace.lines()[0].find("AsyncStack") == std::string::npos);
    INFO(trace.lines()[1]);
    CHECK(trace.lines()[1].find(R"("AtBacktrace":"addr2line -e /)") != std::string::npos);
    CHECK(trace.lines()[1].find(R"("AtAsyncStack":"coroutine stackTraces)") != std::string::npos);
    CHECK(trace.lines()[1].find(R"( runs\n  awaited by coroutine stackAwaitsTrace)") != std::string::npos);
}
