#include "flow/memory/fast_allocator.h"

#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace flow;
using namespace flow::memory;

namespace {

struct Block {
    unsigned char* address;
    std::size_t bytes;
    unsigned char mark;
};

Block makeBlock(std::size_t bytes, unsigned char mark) {
    auto* address = static_cast<unsigned char*>(allocate(bytes));
    std::memset(address, mark, bytes);
    return {address, bytes, mark};
}

bool isIntact(Block const& block) {
    for (std::size_t i = 0; i < block.bytes; ++i)
        if (block.address[i] != block.mark)
            return false;
    return true;
}

void giveBack(Block const& block) {
    release(block.address, sizeClassOf(block.bytes));
}

/// Blocks of `bytes` until `count` are held.
std::vector<void*> take(std::size_t bytes, int count) {
    std::vector<void*> blocks;
    for (int i = 0; i < count; ++i)
        blocks.push_back(allocate(bytes));
    return blocks;
}

void giveBack(std::vector<void*> const& blocks, std::size_t bytes) {
    for (void* block : blocks)
        release(block, sizeClassOf(bytes));
}

struct alignas(16) Small : FastAllocated<Small> {
    long numbers[11] = {};
};

struct Thrower : FastAllocated<Thrower> {
    char text[200];
    Thrower() { throw std::runtime_error("no"); }
};

struct Base {
    virtual ~Base() = default;
};
struct Derived final : Base, FastAllocated<Derived> {
    char text[300];
};

} // namespace

TEST_CASE("allocator: size classes and block sizes agree for all sizes") {
    static_assert(sizeClassOf(88) == 6 && blockBytes(6) == 96);
    static_assert(sizeClassOf(0) == sizeClassOf(1));
    SizeClass previous = sizeClassOf(0);
    for (std::size_t bytes = 1; bytes <= 5000; ++bytes) {
        SizeClass sizeClass = sizeClassOf(bytes);
        REQUIRE(sizeClass < kClassCount);
        REQUIRE((sizeClass == previous || sizeClass == previous + 1));
        if (bytes > kLargestBlock) {
            REQUIRE(sizeClass == kSystemClass);
            REQUIRE(blockBytes(sizeClass) == 0);
        } else {
            REQUIRE(blockBytes(sizeClass) >= bytes);
            REQUIRE(blockBytes(static_cast<SizeClass>(sizeClass - 1)) < bytes);
            REQUIRE(blockBytes(sizeClass) % 16 == 0);
            REQUIRE(sizeClassOf(blockBytes(sizeClass)) == sizeClass);
        }
        previous = sizeClass;
    }
    CHECK(sizeClassOf(~std::size_t{0}) == kSystemClass);
}

TEST_CASE("allocator: blocks waste a quarter at most") {
    for (std::size_t bytes = kFineLimit; bytes <= kLargestBlock; ++bytes)
        REQUIRE(blockBytes(sizeClassOf(bytes)) * 4 <= bytes * 5);
}

TEST_CASE("allocator: live blocks are aligned and do not overlap") {
    test::Balance balance;
    std::vector<Block> blocks;
    for (int round = 0; round < 3; ++round)
        for (std::size_t bytes = 0; bytes <= 5000; bytes += bytes < 600 ? 1 : 37)
            blocks.push_back(makeBlock(bytes, static_cast<unsigned char>(blocks.size() * 7 + 1)));
    for (Block const& block : blocks) {
        CHECK(reinterpret_cast<std::uintptr_t>(block.address) % 16 == 0);
        if (block.bytes != 0 && block.bytes % 64 == 0)
            CHECK(reinterpret_cast<std::uintptr_t>(block.address) % 64 == 0);
        else if (block.bytes != 0 && block.bytes % 32 == 0)
            CHECK(reinterpret_cast<std::uintptr_t>(block.address) % 32 == 0);
        REQUIRE(isIntact(block));
    }
    for (std::size_t i = 0; i < blocks.size(); i += 2) // reuse in the gaps
        giveBack(blocks[i]);
    for (std::size_t i = 0; i < blocks.size(); i += 2)
        blocks[i] = makeBlock(blocks[i].bytes, static_cast<unsigned char>(i * 3 + 2));
    for (Block const& block : blocks)
        REQUIRE(isIntact(block));
    for (Block const& block : blocks)
        giveBack(block);
}

TEST_CASE("allocator: a block given back is the next one of its class" * doctest::skip(FLOW_SYSTEM_BLOCKS)) {
    for (std::size_t bytes : {1u, 16u, 88u, 512u, 513u, 4096u}) {
        void* first = allocate(bytes);
        void* second = allocate(bytes);
        CHECK(first != second);
        release(first, sizeClassOf(bytes));
        CHECK(allocate(blockBytes(sizeClassOf(bytes))) == first);
        release(second, sizeClassOf(bytes));
        release(first, sizeClassOf(bytes));
    }
}

TEST_CASE("allocator: statistics count each class on its own") {
    for (std::size_t bytes : {1u, 100u, 3000u, 5000u}) {
        SizeClass sizeClass = sizeClassOf(bytes);
        Statistics before = statistics(sizeClass);
        Statistics total = totalStatistics();
        CHECK(before.blockBytes == blockBytes(sizeClass));
        CHECK(total.blockBytes == 0);
        auto blocks = take(bytes, 5);
        release(blocks.back(), sizeClass);
        blocks.pop_back();
        CHECK(statistics(sizeClass).allocated == before.allocated + 5);
        CHECK(statistics(sizeClass).freed == before.freed + 1);
        CHECK(statistics(sizeClass).live() == before.live() + 4);
        CHECK(totalStatistics().allocated == total.allocated + 5);
        CHECK(totalStatistics().freed == total.freed + 1);
        giveBack(blocks, bytes);
        CHECK(totalStatistics().live() == total.live());
    }
}

TEST_CASE("allocator: usage returns the held bytes, and those in use" * doctest::skip(FLOW_SYSTEM_BLOCKS)) {
    trim(); // so that the thread finds nothing that others have left
    std::thread([] {
        Usage empty = usage();
        auto blocks = take(200, 10000);
        Usage full = usage();
        CHECK(full.live - empty.live == 10000 * 208);
        CHECK(full.held >= 10000 * 208);
        CHECK(full.waste() < 10000 * 208 / 8 + 256 * 1024);
        CHECK(heldBytes() >= full.held);
        giveBack(blocks, 200);
        Usage free = usage();
        CHECK(free.live == empty.live);
        CHECK(free.held == full.held);
        CHECK(free.cached + free.unused >= 10000 * 208);
        CHECK(free.waste() == static_cast<std::int64_t>(free.held));
        std::size_t before = heldBytes();
        CHECK(trim() == free.held);
        CHECK(heldBytes() == before - free.held);
        CHECK(usage().held == 0);
        CHECK(usage().cached + usage().unused == 0);
    }).join();
}

TEST_CASE("allocator: a block freed on another thread serves that thread") {
    auto blocks = take(80, 10);
    std::int64_t here = totalStatistics().live();
    std::int64_t there = 0;
    void* reused = nullptr;
    std::thread([&] {
        giveBack(blocks, 80);
        there = totalStatistics().live();
        reused = allocate(80);
        release(reused, sizeClassOf(80));
    }).join();
    CHECK(there == -10);
    CHECK(totalStatistics().live() == here);
    if (!FLOW_SYSTEM_BLOCKS)
        CHECK(reused == blocks.back());
}

TEST_CASE("allocator: threads that exchange blocks never hold one twice") {
    std::vector<std::thread> threads;
    std::vector<Block> blocks[4];
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&blocks, t] {
            for (std::size_t i = 0; i < 2000; ++i)
                blocks[t].push_back(makeBlock(i % 700, static_cast<unsigned char>(i + t * 64)));
        });
    for (std::thread& thread : threads)
        thread.join();
    threads.clear();
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&blocks, t] {
            for (Block const& block : blocks[(t + 1) % 4]) {
                if (!isIntact(block))
                    std::abort();
                giveBack(block);
            }
        });
    for (std::thread& thread : threads)
        thread.join();
}

TEST_CASE("allocator: out of memory is std::bad_alloc and nothing is broken" * doctest::skip(FLOW_SYSTEM_BLOCKS)) {
    test::Balance balance;
    trim();          // so that the thread finds nothing that others have left
    std::thread([] { // and holds nothing yet
        std::size_t before = setHeldLimit(0);
        Statistics start = totalStatistics();
        for (std::size_t bytes : {2400u, 2401u, 2500u})
            CHECK_THROWS_AS((void)allocate(bytes), std::bad_alloc);
        CHECK(totalStatistics().allocated == start.allocated);
        CHECK(setHeldLimit(before) == 0);
        Block block = makeBlock(2400, 9);
        CHECK(isIntact(block));
        giveBack(block);
    })
        .join();
}

TEST_CASE("allocator: cached blocks still serve when memory has run out" * doctest::skip(FLOW_SYSTEM_BLOCKS)) {
    test::Balance balance;
    auto blocks = take(640, 100);
    giveBack(blocks, 640);
    std::size_t before = setHeldLimit(0);
    std::vector<void*> held;
    try {
        for (;;)
            held.push_back(allocate(1000)); // of another class
    } catch (std::bad_alloc const&) {
    }
    setHeldLimit(before);
    CHECK(held.size() >= 48); // three spans of 640
    CHECK(std::set<void*>(held.begin(), held.end()).size() == held.size());
    giveBack(held, 1000);
}

TEST_CASE("allocator: huge sizes are std::bad_alloc" * doctest::skip(FLOW_SYSTEM_BLOCKS)) {
    test::Balance balance;
    for (std::size_t bytes : {~std::size_t{0}, ~std::size_t{0} / 2, std::size_t{1} << 60})
        CHECK_THROWS_AS((void)allocate(bytes), std::bad_alloc);
}

TEST_CASE("allocator: FastAllocator takes blocks of its size") {
    Statistics before = statistics(sizeClassOf(88));
    void* block = FastAllocator<88>::allocate();
    std::memset(block, 1, 88);
    CHECK(statistics(sizeClassOf(88)).live() == before.live() + 1);
    FastAllocator<88>::release(block);
    CHECK(statistics(sizeClassOf(88)).live() == before.live());
}

TEST_CASE("allocator: FastAllocated objects") {
    test::Balance balance;
    Statistics before = statistics(sizeClassOf(sizeof(Small)));
    auto* small = new Small;
    CHECK(reinterpret_cast<std::uintptr_t>(small) % 16 == 0);
    CHECK(statistics(sizeClassOf(sizeof(Small))).live() == before.live() + 1);
    delete small;
    CHECK(statistics(sizeClassOf(sizeof(Small))).live() == before.live());
    CHECK_THROWS_AS(new Thrower, std::runtime_error);
    before = statistics(sizeClassOf(sizeof(Derived)));
    Base* derived = new Derived;
    CHECK(statistics(sizeClassOf(sizeof(Derived))).live() == before.live() + 1);
    delete derived;
    delete static_cast<Small*>(nullptr);
}
