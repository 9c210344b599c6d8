#include "flow/inspect/detail/code.h"

#include "flow/coro/coroutine.h"
#include "flow/inspect/detail/frames.h"
#include "flow/loop/real_loop.h"
#include "tests/flow/inspect/pending_actors.h"

#include <doctest/doctest.h>

using namespace flow;

namespace {

constexpr unsigned kCodeWait = __LINE__ + 2;
Future<int> codeWait(Future<int> input) {
    co_return co_await input;
}

} // namespace

TEST_CASE("code: names, styles and lines") {
    RealLoop loop;
    Promise<int> promise;
    inspect::Codes codes;
    {
        Future<int> coroutine = codeWait(promise.getFuture());
        auto* frame = inspect::Frames::ofThread().begin()->waiter;
        CHECK(codes.titleOf(frame).starts_with("coroutine codeWait"));
        CHECK(codes.placeOf(frame).file == "code_test.cpp");
        CHECK(codes.placeOf(frame).line == kCodeWait);
        CHECK(codes.suspensionOf(frame) == codes.placeOf(frame).line);
    }
    Future<int> actor = pendingAnswer(promise.getFuture());
    auto* frame = inspect::Frames::ofThread().begin()->waiter;
    CHECK(codes.of(frame).style == inspect::Style::Actor);
    CHECK(codes.nameOf(frame) == "pendingAnswer");
    CHECK(codes.placeOf(frame).file == "pending_actors.actor.cpp");
    CHECK(codes.placeOf(frame).line == 8);
    CHECK(codes.suspensionOf(frame) == 1);
}
