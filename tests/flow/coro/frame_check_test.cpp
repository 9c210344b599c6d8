#include "flow/coro/detail/frame_check.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::detail;

namespace {

struct alignas(16) FakeFrame {
    const void* words[8];
};

} // namespace

TEST_CASE("frame check: frames of this compiler are Waiters") {
    CHECK(coro::detail::checkFrames());
    const void* address = nullptr;
    const void* promise = nullptr;
    Future<int> future = coro::detail::frameProbe(&address, &promise);
    CHECK(coro::frameMatches(address, promise));
    CHECK(future.cell()->frame() == address);
    CHECK(reinterpret_cast<std::uintptr_t>(address) % 16 == 0);
    run(future.cell()->frame());
    CHECK(future.get() == 42);
}

TEST_CASE("frame check: anything else is refused") {
    int code = 0;
    FakeFrame frame = {{&code, &code}};
    auto* start = reinterpret_cast<const char*>(&frame);
    CHECK(coro::frameMatches(start, start + 16));
    CHECK_FALSE(coro::frameMatches(start, start + 24));
    CHECK_FALSE(coro::frameMatches(start, start + 8));
    CHECK_FALSE(coro::frameMatches(start + 8, start + 24));
    frame.words[0] = nullptr;
    CHECK_FALSE(coro::frameMatches(start, start + 16));
    frame.words[0] = &code;
    frame.words[1] = nullptr;
    CHECK_FALSE(coro::frameMatches(start, start + 16));
}
