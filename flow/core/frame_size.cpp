#include "flow/core/frame_size.h"

#include <cstdio>
#include <cstdlib>

namespace flow::detail {

void reportLargeFrame(std::size_t block, std::size_t limit, bool isFinal) noexcept {
    std::fprintf(stderr, "flow: a coroutine takes a block of %zu bytes, more than its FLOW_ASSERT_FRAME_SIZE(%zu)%s\n",
                 block, limit, isFinal ? "" : ", which holds for optimised builds without checks");
    if (isFinal)
        std::abort();
}

} // namespace flow::detail
