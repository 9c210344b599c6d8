#include "flow/inspect/detail/frames.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"

#include <doctest/doctest.h>

#include <thread>

using namespace flow;

namespace {

Future<int> framesWait(Future<int> input) {
    co_return co_await input;
}

} // namespace

TEST_CASE("frames: those of the thread, until they end") {
    RealLoop loop;
    Promise<int> promise;
    Future<int> one = framesWait(promise.getFuture()), other = framesWait(one);
    auto frames = inspect::Frames::ofThread();
    REQUIRE(frames.size() == 2);
    for (inspect::Frame const& frame : frames) {
        CHECK(inspect::isFrame(frame.waiter));
        CHECK(frames.of(frame.waiter) == &frame);
        CHECK(frames.holding(frame.begin) == &frame);
        CHECK(frames.holding(frame.end - 1) == &frame);
        CHECK(frames.holding(frame.end) != &frame);
    }
    CHECK(frames.inOrder().size() == 2);
    promise.send(7);
    CHECK(other.get() == 7);
    CHECK(inspect::Frames::ofThread().size() == 0);
}

TEST_CASE("frames: a cancelled one is gone, and other threads have their own") {
    RealLoop loop;
    Promise<int> promise;
    Future<int> one = framesWait(promise.getFuture());
    std::size_t elsewhere = 1;
    std::thread([&] { elsewhere = inspect::Frames::ofThread().size(); }).join();
    CHECK(elsewhere == 0);
    one = Future<int>();
    CHECK(inspect::Frames::ofThread().size() == 0);
}
