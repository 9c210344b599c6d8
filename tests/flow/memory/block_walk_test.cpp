#include "flow/memory/detail/block_walk.h"

#include <doctest/doctest.h>

using namespace flow;

TEST_CASE("block walk: visits each live block of this thread once, whole") {
    void* taken = memory::allocate(96);
    int visits = 0;
    memory::forEachBlock([&](void* block, std::size_t bytes) {
        visits += block == taken;
        if (block == taken)
            CHECK(bytes == 96);
    });
    CHECK(visits == 1);
    memory::release(taken, memory::sizeClassOf(96));
}
