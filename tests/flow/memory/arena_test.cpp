#include "flow/memory/arena.h"

#include "tests/flow/support/balance.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <thread>
#include <vector>

using namespace flow;

TEST_CASE("arena: pieces are aligned, distinct and writable") {
    test::Balance balance;
    Arena arena;
    std::vector<std::pair<std::uint8_t*, std::size_t>> pieces;
    for (std::size_t i = 0; i < 2000; ++i) {
        std::size_t bytes = i % 97 + 1, alignment = std::size_t{1} << i % 5;
        auto* piece = static_cast<std::uint8_t*>(arena.allocate(bytes, alignment));
        CHECK(reinterpret_cast<std::uintptr_t>(piece) % alignment == 0);
        std::memset(piece, static_cast<int>(i), bytes);
        pieces.emplace_back(piece, bytes);
    }
    bool intact = true;
    for (std::size_t i = 0; i < pieces.size(); ++i)
        for (std::size_t k = 0; k < pieces[i].second; ++k)
            intact &= pieces[i].first[k] == static_cast<std::uint8_t>(i);
    CHECK(intact);
    CHECK(arena.getSize() >= 2000 * 48);
    CHECK(arena.getSize() < 2 * 2000 * 57);
    arena = Arena();
    CHECK(arena.getSize() == 0);
}

TEST_CASE("arena: placement new of objects and arrays") {
    Arena arena;
    struct Point {
        double x, y;
    };
    auto* point = new (arena) Point{1, 2};
    auto* numbers = new (arena) std::uint32_t[100];
    numbers[99] = 7;
    CHECK(point->y == 2);
    CHECK(numbers[99] == 7);
}

TEST_CASE("arena: a reserved arena takes one block") {
    test::Balance balance;
    flow::test::Blocks blocks;
    Arena arena(1000);
    for (int i = 0; i < 100; ++i)
        arena.allocate(10, 1);
    CHECK(blocks.taken() == 1);
    CHECK(arena.getSize() >= 1000);
}

TEST_CASE("arena: blocks double, and the large ones are exact") {
    flow::test::Blocks blocks;
    Arena arena;
    for (int i = 0; i < 100000; ++i)
        arena.allocate(10, 1);
    CHECK(blocks.taken() < 270);
    Arena large;
    large.allocate(1 << 20);
    CHECK(large.getSize() < (1 << 20) + 128);
}

TEST_CASE("arena: memory lives as long as the last copy") {
    test::Balance balance;
    Arena copy;
    std::uint8_t* bytes;
    {
        Arena arena;
        bytes = new (arena) std::uint8_t[3000];
        copy = arena;
        CHECK(copy.sameArena(arena));
        arena.allocate(3000); // a block that the copy does not have
        CHECK_FALSE(copy.sameArena(arena));
        Arena moved = std::move(arena);
    }
    std::memset(bytes, 1, 3000);
    copy = *&copy;
    CHECK(bytes[2999] == 1);
}

TEST_CASE("arena: dependencies are kept alive") {
    test::Balance balance;
    Arena result;
    char* text;
    {
        Arena source;
        text = new (source) char[100];
        std::strcpy(text, "still there");
        result.allocate(10);
        for (int i = 0; i < 1000; ++i)
            result.dependsOn(source);
        result.dependsOn(result);
        result.dependsOn(Arena());
        CHECK(result.getSize() < 1000);
    }
    CHECK(std::strcmp(text, "still there") == 0);
    Arena empty;
    empty.dependsOn(result);
    CHECK(empty.sameArena(result));
}

TEST_CASE("arena: long chains of blocks and of dependencies need no stack") {
    static auto* chain = +[] {
        Arena arena;
        for (int i = 0; i < flow::test::kManyLinks; ++i) {
            Arena next;
            next.allocate(16);
            next.dependsOn(arena);
            arena = std::move(next);
        }
        CHECK(arena.getSize() >= static_cast<std::size_t>(flow::test::kManyLinks) * 16);
    };
    flow::test::onSmallStack(flow::test::kSmallStack, chain);
}

TEST_CASE("arena: the last piece grows in place while there is room") {
    Arena arena(64);
    auto* first = static_cast<std::uint8_t*>(arena.allocate(8, 1));
    CHECK(arena.extend(first + 8, 8));
    CHECK(arena.allocate(1, 1) == first + 16);
    CHECK_FALSE(arena.extend(first + 16, 1));
    CHECK_FALSE(arena.extend(first + 17, 100000));
    CHECK_FALSE(Arena().extend(nullptr, 1));
}

TEST_CASE("arena: sizes that no machine has are bad_alloc, and the arena stays usable") {
    Arena arena;
    auto huge = std::numeric_limits<std::size_t>::max();
    for (int i = 0; i < 2; ++i) {
        CHECK_THROWS_AS(arena.allocate(huge), std::bad_alloc);
        CHECK_THROWS_AS(arena.allocate(huge - 8), std::bad_alloc);
        CHECK_THROWS_AS(arena.allocate(huge / 2, 1), std::bad_alloc);
        std::memset(arena.allocate(100), 0, 100);
    }
    CHECK_THROWS_AS((void)Arena(huge), std::bad_alloc);
}

TEST_CASE("arena: copies may be destroyed on other threads") {
    Arena arena;
    auto* bytes = new (arena) std::uint8_t[100];
    bytes[0] = 5;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([arena, bytes] {
            for (int k = 0; k < 1000; ++k) {
                Arena copy = arena;
                if (bytes[0] != 5)
                    std::abort();
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    CHECK(bytes[0] == 5);
}
