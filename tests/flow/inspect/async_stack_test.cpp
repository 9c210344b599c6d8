#include "flow/inspect/async_stack.h"

#include "flow/flow.h"

#include <doctest/doctest.h>

using namespace flow;

namespace {

Future<Void> stackInner(Future<Void> go, std::string* out) {
    co_await go;
    *out = asyncStack();
}
Future<Void> stackOuter(Future<Void> go, std::string* out) {
    co_await stackInner(go, out);
}

} // namespace

TEST_CASE("async stack: from what runs to the root") {
    RealLoop loop;
    Promise<Void> go;
    std::string stack;
    Future<Void> outer = stackOuter(go.getFuture(), &stack);
    CHECK(asyncStack().empty());
    go.send(Void());
    CHECK(outer.isReady());
    std::string place = FLOW_CHECKED ? " at async_stack_test.cpp:" : ""; // of their waits
    std::string inner = place.empty() ? place : place + "12", outerPlace = place.empty() ? place : place + "16";
    CHECK(stack == "coroutine stackInner" + inner + " runs\n  awaited by coroutine stackOuter" + outerPlace + "\n");
}
