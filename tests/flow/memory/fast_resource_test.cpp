#include "flow/memory/fast_resource.h"

#include "tests/flow/support/balance.h"

#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

namespace {
using namespace flow;

TEST_CASE("fastMemory() takes blocks of FastAllocator, and gives them back") {
    test::Balance balance;
    std::int64_t before = memory::totalStatistics().live();
    {
        std::pmr::vector<int> numbers(100, 7, &fastMemory());
        CHECK(memory::totalStatistics().live() == before + 1);
        numbers.resize(5000);
        CHECK(numbers[99] == 7);
        CHECK(memory::totalStatistics().live() == before + 1);
    }
    CHECK(memory::totalStatistics().live() == before);
}

TEST_CASE("fastMemory() aligns to more than 16 bytes as well") {
    for (std::size_t alignment : {8u, 16u, 64u, 4096u}) {
        void* block = fastMemory().allocate(100, alignment);
        CHECK(reinterpret_cast<std::uintptr_t>(block) % alignment == 0);
        fastMemory().deallocate(block, 100, alignment);
    }
}

} // namespace
