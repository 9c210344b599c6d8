#include "flow/memory/detail/foreign_block.h"
#include "flow/memory/fast_resource.h"

#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

namespace {
using namespace flow;
using memory::ForeignBlock;

TEST_CASE("a foreign block returns to its resource") {
    test::Balance balance;
    alignas(16) char buffer[1024];
    std::pmr::monotonic_buffer_resource upstream(buffer, sizeof buffer, std::pmr::null_memory_resource());
    struct Counting : std::pmr::memory_resource {
        explicit Counting(std::pmr::memory_resource& u) : from(u) {}
        std::pmr::memory_resource& from;
        std::size_t taken = 0;
        std::size_t given = 0;
        void* do_allocate(std::size_t bytes, std::size_t alignment) override {
            taken += bytes;
            return from.allocate(bytes, alignment);
        }
        void do_deallocate(void*, std::size_t bytes, std::size_t) override { given += bytes; }
        bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }
    } resource(upstream);

    for (int i = 0; i < 3; ++i) {
        void* block = ForeignBlock::allocate(resource, 40);
        CHECK(reinterpret_cast<std::uintptr_t>(block) % 16 == 0);
        CHECK(&ForeignBlock::of(block)->memory() == &resource);
        memory::release(block, memory::kForeignClass);
        CHECK(resource.taken == resource.given);
    }
    CHECK(resource.given == 3 * (40 + 16));
    CHECK(memory::statistics(memory::kForeignClass).live() == 0);
}

TEST_CASE("a foreign block is aligned where it is asked to be, and gives back what it took") {
    test::Balance balance;
    struct Checking : std::pmr::memory_resource {
        void* block = nullptr;
        std::size_t size = 0;
        std::size_t aligned = 0;
        void* do_allocate(std::size_t bytes, std::size_t alignment) override {
            size = bytes;
            aligned = alignment;
            return block = fastMemory().allocate(bytes, alignment);
        }
        void do_deallocate(void* given, std::size_t bytes, std::size_t alignment) override {
            CHECK(given == block);
            CHECK(bytes == size);
            CHECK(alignment == aligned);
            fastMemory().deallocate(given, bytes, alignment);
        }
        bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }
    } resource;
    for (std::size_t alignment : {16, 32, 64, 256})
        for (std::size_t head : {0, 16, 32, 48, 64, 80}) {
            CAPTURE(alignment);
            CAPTURE(head);
            char* block = static_cast<char*>(ForeignBlock::allocate(resource, 120, head, alignment));
            CHECK(reinterpret_cast<std::uintptr_t>(block + head) % alignment == 0);
            CHECK(block + 120 <= static_cast<char*>(resource.block) + resource.size);
            CHECK(block - sizeof(ForeignBlock) >= static_cast<char*>(resource.block));
            CHECK(ForeignBlock::of(block)->begin() == resource.block);
            memory::release(block, memory::kForeignClass);
        }
}

TEST_CASE("a resource that throws is heard") {
    CHECK_THROWS_AS((void)ForeignBlock::allocate(*std::pmr::null_memory_resource(), 16), std::bad_alloc);
}

} // namespace
