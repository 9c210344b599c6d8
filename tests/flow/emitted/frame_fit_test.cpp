#include "flow/emitted/frame_fit.h"

#include <cstddef>
#include <doctest/doctest.h>

namespace {

struct alignas(32) Wide {
    int value;
};
struct Incomplete;

FLOW_FITS_FRAME(int, Wide&, std::max_align_t);

} // namespace

TEST_CASE("a frame holds what is aligned to 16 bytes at most, and references to anything") {
    CHECK(flow::FitsFrame<>);
    CHECK(flow::FitsFrame<char, long double, int[3]>);
    CHECK(flow::FitsFrame<Wide&, Wide const&, Wide&&, Incomplete&>);
    CHECK_FALSE(flow::FitsFrame<Wide>);
    CHECK_FALSE(flow::FitsFrame<int, Wide[2]>);
}
