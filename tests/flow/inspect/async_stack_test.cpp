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
    CHECK(stack == "coroutine stackInner runs\n  awaited by coroutine stackOuter\n");
}
