#include "flow/memory/detail/thread_heap.h"

#include "flow/base/random.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/sanitizers.h"

#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace flow;
using namespace flow::memory;

namespace {

constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kChunk = memory::detail::kChunkBytes;

std::vector<void*> take(std::size_t bytes, std::size_t count) {
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < count; ++i)
        blocks.push_back(allocate(bytes));
    return blocks;
}
void giveBack(std::vector<void*>& blocks, std::size_t bytes) {
    for (void* block : blocks)
        release(block, sizeClassOf(bytes));
    blocks.clear();
}

/// What all threads hold once the free memory of this one, and of those that have ended, has been given back.
std::size_t settled() {
    trim();
    return heldBytes();
}

/// Hands batches from thread to thread.
class Channel {
public:
    void put(std::vector<void*> blocks) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return batches_.size() < 4; });
        batches_.push_back(std::move(blocks));
        changed_.notify_all();
    }
    std::vector<void*> get() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !batches_.empty(); });
        std::vector<void*> blocks = std::move(batches_.front());
        batches_.pop_front();
        changed_.notify_all();
        return blocks;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::vector<void*>> batches_;
};

/// Calls each on a thread of its own, all at once.
template <class... Bodies>
void together(Bodies... bodies) {
    std::thread threads[] = {std::thread(bodies)...};
    for (std::thread& thread : threads)
        thread.join();
}

} // namespace

// Under AddressSanitizer blocks come from the system.
TEST_SUITE_BEGIN("owner" * doctest::skip(FLOW_SYSTEM_BLOCKS));

TEST_CASE("owner: blocks of a span do not overlap, also in the first, behind the chunk's header") {
    std::thread([] {
        for (std::size_t bytes : {16u, 48u, 512u, 640u, 3584u, 4096u}) {
            std::size_t count = 2 * kChunk / bytes;
            auto blocks = take(bytes, count);
            std::set<void*> sorted(blocks.begin(), blocks.end());
            CHECK(sorted.size() == count);
            char* end = nullptr;
            bool apart = true;
            for (void* block : sorted) {
                apart &= static_cast<char*>(block) >= end && reinterpret_cast<std::uintptr_t>(block) % 16 == 0;
                end = static_cast<char*>(block) + bytes;
                apart &= memory::detail::Chunk::of(end - 1) == memory::detail::Chunk::of(block);
                std::memset(block, 0xAB, bytes);
            }
            CHECK(apart);
            giveBack(blocks, bytes);
        }
    }).join();
}

TEST_CASE("owner: a burst of one class, then one of another, take memory once") {
    std::thread([] {
        std::size_t before = settled();
        std::size_t peak = 0;
        for (std::size_t bytes : {96u, 112u, 64u, 1024u, 16u, 4096u, 512u}) {
            auto blocks = take(bytes, 16 * kMiB / bytes);
            peak = std::max(peak, heldBytes() - before);
            giveBack(blocks, bytes);
        }
        // 16 MiB and what ends of spans waste, what need not be reclaimed, and a chunk.
        CHECK(peak <= 16 * kMiB * 9 / 8 + 3 * kChunk);
        CHECK(settled() <= before);
    }).join();
}

TEST_CASE("owner: what is stuck between live blocks is all that the next burst cannot have") {
    std::thread([] {
        std::size_t before = settled();
        auto blocks = take(96, 16 * kMiB / 96);
        std::vector<void*> kept;
        for (std::size_t i = 0; i < blocks.size(); ++i) // a live block in every fourth span
            if (i % (4 * memory::detail::kSpanBytes / 96) == 0)
                kept.push_back(std::exchange(blocks[i], nullptr));
        std::erase(blocks, nullptr);
        giveBack(blocks, 96);
        std::size_t burst = heldBytes();
        auto others = take(256, 12 * kMiB / 256 * 7 / 8);
        CHECK(heldBytes() <= burst + 2 * kChunk);
        giveBack(others, 256);
        giveBack(kept, 96);
        CHECK(settled() <= before);
    }).join();
}

TEST_CASE(
    "owner: no allocation waits for more than a step of sorting, and an eighth more is held until all is sorted") {
    for (bool inOrder : {true, false})
        std::thread([inOrder] {
            std::size_t before = settled();
            auto blocks = take(96, 32 * kMiB / 96);
            if (!inOrder) { // so that spans come together late
                DeterministicRandom random(1);
                for (std::size_t i = blocks.size(); i > 1; --i)
                    std::swap(blocks[i - 1], blocks[static_cast<std::size_t>(random.randomInt64(0, std::int64_t(i)))]);
            }
            std::size_t full = heldBytes();
            giveBack(blocks, 96);
            std::size_t longest = 0;
            for (std::size_t bytes = 0; bytes < 31 * kMiB * 7 / 8; bytes += 256) {
                std::size_t unused = usage().unused;
                blocks.push_back(allocate(256));
                longest = std::max(longest, usage().unused - std::min(unused, usage().unused));
            }
            if (inOrder) // and what a step before it has begun of a span
                CHECK(longest <= memory::detail::kSortBytes + memory::detail::kSpanBytes);
            CHECK(heldBytes() - before <= (full - before) * 9 / 8 + 2 * memory::detail::kHugeBytes);
            if (inOrder)
                CHECK(heldBytes() <= full + kChunk);
            giveBack(blocks, 256);
            CHECK(settled() <= before);
        }).join();
}

namespace {

/// Takes blocks until more memory is held; how much more.
std::size_t takeUntilMoreIsHeld(std::vector<void*>& blocks) {
    std::size_t before = heldBytes();
    while (heldBytes() == before)
        blocks.push_back(allocate(4096));
    return heldBytes() - before;
}

std::size_t residentBytes() {
    std::size_t size = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace

TEST_CASE("owner: a thread with much memory takes more of it at a time, if it may, and gives all of it back") {
    using memory::detail::kHugeBytes, memory::detail::kBytesOfMany;
    std::thread([] {
        std::size_t before = settled();
        std::vector<void*> blocks;
        std::size_t more = 0;
        while ((more = takeUntilMoreIsHeld(blocks)) == kChunk)
            REQUIRE(heldBytes() - before <= kBytesOfMany); // less if ended threads have left something
        CHECK(heldBytes() - more >= kBytesOfMany);
        std::set<std::size_t> hugePages;
        for (int i = 0; i < 3; ++i) {
            CHECK((i == 0 ? more : takeUntilMoreIsHeld(blocks)) == kHugeBytes);
            hugePages.insert(reinterpret_cast<std::uintptr_t>(blocks.back()) / kHugeBytes);
        }
        CHECK(hugePages.size() == 3);
        std::size_t limit = setHeldLimit(heldBytes() + 2 * kChunk);
        CHECK(takeUntilMoreIsHeld(blocks) == kChunk);
        CHECK(takeUntilMoreIsHeld(blocks) == kChunk);
        CHECK_THROWS_AS(takeUntilMoreIsHeld(blocks), std::bad_alloc);
        setHeldLimit(limit);
        for (void* block : blocks)
            std::memset(block, 1, 4096);
        CHECK(std::set<void*>(blocks.begin(), blocks.end()).size() == blocks.size());
        std::size_t resident = residentBytes();
        giveBack(blocks, 4096);
        CHECK(settled() <= before);
        CHECK(residentBytes() + kBytesOfMany <= resident);
    }).join();
}

TEST_CASE("owner: memory is bounded when one thread allocates and another frees") {
    std::size_t before = settled();
    Channel channel;
    constexpr int kRounds = 400;
    std::size_t peak = 0;
    auto producer = [&] {
        for (int i = 0; i < kRounds; ++i)
            channel.put(take(i % 2 ? 96 : 160, 1000)); // 51 MB in all, 0.6 MB of them at once
    };
    auto consumer = [&] {
        for (int i = 0; i < kRounds; ++i) {
            auto blocks = channel.get();
            giveBack(blocks, i % 2 ? 96 : 160);
            peak = std::max(peak, heldBytes());
        }
    };
    together(producer, consumer);
    CHECK(peak - before <= 2 * kMiB);
    CHECK(settled() <= before);
}

TEST_CASE("owner: memory is bounded when threads change roles, and when blocks go in a circle") {
    std::size_t before = settled();
    std::barrier turn(3);
    std::vector<void*> moving[3];
    std::size_t peak = 0;
    auto body = [&](std::size_t me) {
        for (std::size_t i = 0; i < 300; ++i) {
            if (i / 50 % 3 == me) // allocates for the two others, fifty times
                for (std::size_t other : {(me + 1) % 3, (me + 2) % 3})
                    moving[other] = take(208, 2000);
            turn.arrive_and_wait();
            giveBack(moving[me], 208);
            turn.arrive_and_wait();
            if (me == 0)
                peak = std::max(peak, heldBytes());
        }
    };
    together([&] { body(0); }, [&] { body(1); }, [&] { body(2); });
    // 0.8 MB live at once, allocated by each of the three in turn, which keep their own
    CHECK(peak - before <= 3 * (kMiB + kChunk));
    CHECK(settled() <= before);
}

TEST_CASE("owner: blocks of another thread are found where samples always miss them") {
    constexpr std::size_t kBytes = 4096; // the first of every four freed blocks is the sample
    std::size_t before = settled();
    Channel channel;
    constexpr int kRounds = 40;
    std::size_t peak = 0;
    auto producer = [&] {
        for (int i = 0; i < kRounds; ++i)
            channel.put(take(kBytes, 50)); // 8 MB in all
    };
    auto consumer = [&] {
        release(allocate(kBytes), sizeClassOf(kBytes)); // the first free is a look of its own
        for (int i = 0; i < kRounds; ++i) {
            for (void* other : channel.get()) {
                auto own = take(kBytes, 3);
                own.insert(own.begin(), other);
                giveBack(own, kBytes);
            }
            peak = std::max(peak, heldBytes());
        }
    };
    together(producer, consumer);
    CHECK(peak - before <= 3 * (kMiB + kChunk)); // by how the threads happen to take turns, up to a chunk each more
    CHECK(settled() <= before);
}

TEST_CASE("owner: abandoned memory is used by later threads, and by running ones") {
    std::size_t before = settled();
    std::vector<void*> live;
    std::thread([&] {
        auto blocks = take(96, 8 * kMiB / 96);
        for (std::size_t i = 0; i < blocks.size(); i += 100) // no chunk is free
            live.push_back(std::exchange(blocks[i], nullptr));
        std::erase(blocks, nullptr);
        giveBack(blocks, 96);
    }).join();
    std::size_t left = heldBytes();
    CHECK(left - before >= 8 * kMiB);
    for (int round = 0; round < 3; ++round)
        std::thread([&] {
            auto blocks = take(96, 7 * kMiB / 96);
            CHECK(heldBytes() <= left + kChunk);
            giveBack(blocks, 96);
        }).join();
    giveBack(live, 96);
    CHECK(settled() <= before);
}

TEST_CASE("owner: blocks of a thread that has ended, freed later on another, come together again") {
    std::size_t before = settled();
    std::vector<void*> blocks;
    std::thread([&] { blocks = take(304, 4 * kMiB / 304); }).join();
    std::thread([&] { giveBack(blocks, 304); }).join();
    CHECK(settled() <= before);
}

TEST_CASE("owner: threads that come and go in great number hold nothing") {
    auto work = [] {
        auto blocks = take(96, 100);
        giveBack(blocks, 96);
    };
    std::thread(work).join();
    std::size_t before = settled();
    for (int i = 0; i < 200; ++i)
        std::thread(work).join();
    CHECK(heldBytes() <= before + kChunk);
}

TEST_CASE("owner: destructors of thread_local objects may allocate and free at the very end of the thread") {
    struct Late {
        void* block = allocate(96);
        ~Late() {
            release(block, sizeClassOf(96));
            release(allocate(2000), sizeClassOf(2000));
        }
    };
    std::size_t before = settled();
    for (int i = 0; i < 50; ++i)
        std::thread([] {
            thread_local Late late;
            asm("" ::"r"(&late));
        }).join();
    CHECK(settled() <= before);
}

TEST_CASE("owner: threads that exchange, reclaim and trim at random never hold a block twice") {
    std::size_t before = settled();
    struct Slot {
        std::mutex mutex;
        unsigned char* block = nullptr;
        std::size_t bytes = 0;
    };
    std::vector<Slot> slots(3000);
    std::atomic<int> broken{0};
    auto body = [&](std::uint64_t seed) {
        DeterministicRandom random(seed);
        for (int i = 0; i < 60000; ++i) {
            Slot& slot = slots[static_cast<std::size_t>(random.randomInt(0, 3000))];
            std::lock_guard lock(slot.mutex);
            auto mark = static_cast<unsigned char>(slot.bytes);
            if (slot.block) {
                broken += slot.block[0] != mark || slot.block[slot.bytes - 1] != mark;
                release(slot.block, sizeClassOf(slot.bytes));
                slot.block = nullptr;
                if (i % 3 == 0)
                    continue;
            }
            // classes come and go
            slot.bytes = static_cast<std::size_t>(random.randomInt(1, i / 20000 % 2 ? 200 : 4000));
            slot.block = static_cast<unsigned char*>(allocate(slot.bytes));
            std::memset(slot.block, static_cast<unsigned char>(slot.bytes), slot.bytes);
            if (i % 10000 == 0)
                trim();
        }
    };
    together([&] { body(1); }, [&] { body(2); }, [&] { body(3); });
    for (Slot& slot : slots)
        if (slot.block)
            release(slot.block, sizeClassOf(slot.bytes));
    CHECK(broken == 0);
    CHECK(settled() <= before);
}

TEST_SUITE_END();

TEST_CASE("thread heap: a child of fork() can allocate and free, whatever other threads did meanwhile") {
    std::atomic<bool> over = false;
    // Threads that begin and end take the allocator's mutex all the time.
    std::thread busy([&] {
        while (!over)
            std::thread([] {
                void* block = flow::memory::allocate(64);
                flow::memory::release(block, flow::memory::sizeClassOf(64));
            }).join();
    });
    // So does each block where all come from the system, as with AddressSanitizer.
    std::thread allocating([&] {
        while (!over)
            flow::memory::release(flow::memory::allocate(256), flow::memory::sizeClassOf(256));
    });
    for (int i = 0; i < (MILLRACE_UNDER_ASAN ? 25 : 100); ++i) { // a fork is slow there
        test::Death child = test::runInChild([] {
            ::alarm(20);
            std::vector<void*> blocks;
            for (int n = 0; n < 20000; ++n)
                blocks.push_back(flow::memory::allocate(256));
            for (void* each : blocks)
                flow::memory::release(each, flow::memory::sizeClassOf(256));
        });
        REQUIRE(child.status == 0);
    }
    over = true;
    busy.join();
    allocating.join();
}
