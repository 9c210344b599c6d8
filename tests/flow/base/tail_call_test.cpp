#include "flow/base/tail_call.h"

#include <doctest/doctest.h>

#include <cstdint>

namespace {

struct Count {
    void (*next)(Count*);
    std::uint64_t left;
    std::uintptr_t lowest;
};

[[gnu::noinline]] void step(Count* count) {
    auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (here < count->lowest)
        count->lowest = here;
    if (--count->left == 0)
        return;
    if (flow::detail::kTailCalls)
        FLOW_MUSTTAIL return count->next(count);
}

} // namespace

TEST_CASE("tail calls: where they are said to be jumps, a chain of a million takes no stack") {
    Count count = {.next = step, .left = 1'000'000, .lowest = ~std::uintptr_t{0}};
    auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    step(&count);
    CHECK(count.left == (flow::detail::kTailCalls ? 0 : 999'999));
    CHECK(here - count.lowest < 4096);
}
