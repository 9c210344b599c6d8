#include "flow/memory/scoped_arena.h"

#include "flow/base/random.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"

#include <cstring>
#include <doctest/doctest.h>
#include <vector>

namespace {
using namespace flow;

TEST_CASE("an arena begins anew when all of it has been given back") {
    ScopedArena arena(1024);
    std::vector<void*> blocks;
    void* first = nullptr;
    std::size_t held = 0;
    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 100; ++i)
            blocks.push_back(arena.allocate(100, 16));
        CHECK(arena.live() == 100);
        if (round == 0) {
            first = blocks[0];
            held = arena.held();
        }
        CHECK(blocks[0] == first);
        CHECK(arena.held() == held);
        for (void* block : blocks)
            arena.deallocate(block, 100, 16);
        blocks.clear();
    }
    arena.release();
    CHECK(arena.held() == 0);
}

TEST_CASE("the newest block of an arena can be had again") {
    ScopedArena arena;
    void* kept = arena.allocate(40, 8);
    void* newest = arena.allocate(40, 8);
    arena.deallocate(newest, 40, 8);
    CHECK(arena.allocate(40, 8) == newest);
    arena.deallocate(newest, 40, 8);
    arena.deallocate(kept, 40, 8);
}

TEST_CASE("blocks of an arena do not overlap, of whatever size and alignment") {
    struct Block {
        unsigned char* place;
        std::size_t bytes;
        std::size_t alignment;
        unsigned char mark;
    };
    ScopedArena arena(256);
    DeterministicRandom random(5);
    std::vector<Block> blocks;
    for (int step = 0; step < 4000; ++step) {
        if (blocks.empty() || random.randomInt(0, 5) > 1) {
            Block block{nullptr, static_cast<std::size_t>(random.randomInt(1, 3000)),
                        std::size_t{1} << random.randomInt(0, 8), static_cast<unsigned char>(step)};
            block.place = static_cast<unsigned char*>(arena.allocate(block.bytes, block.alignment));
            CHECK(reinterpret_cast<std::uintptr_t>(block.place) % block.alignment == 0);
            std::memset(block.place, block.mark, block.bytes);
            blocks.push_back(block);
        } else {
            std::size_t index = static_cast<std::size_t>(random.randomInt(0, static_cast<int>(blocks.size())));
            Block block = blocks[index];
            bool intact = block.place[0] == block.mark && block.place[block.bytes - 1] == block.mark;
            CHECK(intact);
            arena.deallocate(block.place, block.bytes, block.alignment);
            blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(index));
        }
    }
    for (Block const& block : blocks)
        arena.deallocate(block.place, block.bytes, block.alignment);
    CHECK(arena.live() == 0);
}

Fork<int> part(Context, int n) {
    co_await delay(0);
    co_return n;
}

TEST_CASE("destroyForks() gives an arena back") {
    SimLoop loop;
    auto body = [](Context) -> Task<int> {
        ScopedArena arena;
        Context inner = (co_await context()).with(arena);
        int sum = 0;
        for (int round = 0; round < 3; ++round) {
            std::vector<Fork<int>> forks;
            for (int i = 0; i < 100; ++i)
                forks.push_back(part(inner, i));
            for (Fork<int>& fork : forks)
                sum += co_await fork;
            forks.clear();
            co_await destroyForks();
            CHECK(arena.live() == 0);
            CHECK(arena.held() == ScopedArena::kFirstChunk);
        }
        co_return sum;
    };
    CHECK(loop.run(start(body(Environment()))) == 3 * 4950);
}

} // namespace
