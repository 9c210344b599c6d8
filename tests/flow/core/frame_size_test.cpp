#include "flow/core/frame_size.h"

#include "flow/coro/coroutine.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>
#include <string>

using namespace flow;
using namespace flow::detail;

namespace {

Future<int> within(Future<int> input, FLOW_ASSERT_FRAME_SIZE(4096)) {
    int value = co_await input;
    co_return value + 1;
}

} // namespace

TEST_CASE("FLOW_ASSERT_FRAME_SIZE counts result, cell, frame and what the allocator rounds up") {
    CHECK(blockOfFrame<Void>(56) == 96); // 32 + 56
    CHECK(blockOfFrame<Void>(64) == 96);
    CHECK(blockOfFrame<Void>(65) == 112);
    CHECK(blockOfFrame<int>(56) == 112);         // 16 for the int
    CHECK(blockOfFrame<std::string>(56) == 144); // 32, and 8 for its destructor
    CHECK(blockOfFrame<Void>(481) == 640);
    CHECK(blockOfFrame<Void>(5000) == 5032); // of the system
    CHECK(blockOfFrame<Void>(64, 32) == 96);
    CHECK(blockOfFrame<int>(64, 32) == 128); // 16 in front of the int
    CHECK(blockOfFrame<int>(64, 64) == 128);
    CHECK(blockOfFrame<Void>(64, 64) == 128); // 32 in front of the cell
}

TEST_CASE("A coroutine below its limit runs as any other") {
    Promise<int> promise;
    Future<int> result = within(promise.getFuture());
    promise.send(4);
    CHECK(result.get() == 5);
}

TEST_CASE("A limit is found among the parameters") {
    CHECK(coro::Signature<int, FrameLimit<96>>::kFrameLimit == 96);
    CHECK(coro::Signature<Uncancellable, int, FrameLimit<96>>::kFrameLimit == 96);
    CHECK(coro::Signature<int, Propagate>::kFrameLimit == 0);
}

TEST_CASE("A frame that is too large ends programs with final frames, and is reported in others") {
    auto final = test::runInChild([] { reportLargeFrame(112, 96, true); });
    CHECK(final.aborted());
    CHECK(final.says("a block of 112 bytes, more than its FLOW_ASSERT_FRAME_SIZE(96)\n"));
    auto other = test::runInChild([] { reportLargeFrame(112, 96, false); });
    CHECK(other.status == 0);
    CHECK(other.says("FLOW_ASSERT_FRAME_SIZE(96), which holds for optimised builds without checks"));
}
