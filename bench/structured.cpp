// Structured tasks: what one trivial child costs, by the memory resource that it comes from, and what channels cost.

#include "bench/run.h"
#include "flow/memory/fast_resource.h"
#include "flow/memory/scoped_arena.h"
#include "flow/sync/channel.h"
#include "flow/tasks/context.h"
#include "flow/tasks/fork.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"

#include <memory_resource>
#include <new>
#include <string_view>
#include <sys/mman.h>
#include <vector>

namespace {

using namespace flow;
using bench::Driver;
using bench::Run;

[[gnu::noinline]] Fork<int> child(Context, int n) {
    co_return n;
}
[[gnu::noinline]] Task<int> lazyChild(Context, int n) {
    co_return n;
}

constexpr std::size_t kMostBytesOfChild = 256;

/// Memory in huge pages, where there are any, that has been written to once: what the system does for a page is no part
/// of what a child costs.
class Pages {
public:
    explicit Pages(std::size_t bytes) : bytes_(bytes) {
        place_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (place_ == MAP_FAILED)
            throw std::bad_alloc();
        ::madvise(place_, bytes, MADV_HUGEPAGE);
    }
    Pages(Pages const&) = delete;
    Pages& operator=(Pages const&) = delete;
    ~Pages() { ::munmap(place_, bytes_); }

    void* place() const { return place_; }
    std::size_t bytes() const { return bytes_; }

private:
    void* place_;
    std::size_t bytes_;
};

struct Monotonic {
    explicit Monotonic(int children)
        : pages(static_cast<std::size_t>(children) * kMostBytesOfChild + kMostBytesOfChild),
          memory(pages.place(), pages.bytes(), std::pmr::null_memory_resource()) {}
    void reset() { memory.release(); }
    Pages pages;
    std::pmr::monotonic_buffer_resource memory;
};
/// Its chunks come from pages, so that an allocation of the global heap would be seen. Chunks may be as large as the
/// library allows: with the default, 16,384 blocks, the pool of libstdc++ searches 600 chunks for a free block among
/// ten million, which alone takes 240 ns.
struct Pool {
    explicit Pool(int children)
        : upstream(4 * children),
          memory(std::pmr::pool_options{.max_blocks_per_chunk = static_cast<std::size_t>(children),
                                        .largest_required_pool_block = kMostBytesOfChild},
                 &upstream.memory) {}
    void reset() {}
    Monotonic upstream;
    std::pmr::unsynchronized_pool_resource memory;
};
struct Arena {
    explicit Arena(int) {}
    void reset() {}
    ScopedArena memory;
};

/// What one child takes from its resource.
class Counting : public std::pmr::memory_resource {
public:
    std::size_t bytes = 0;

private:
    void* do_allocate(std::size_t size, std::size_t) override {
        bytes += size;
        return fastMemory().allocate(size);
    }
    void do_deallocate(void* block, std::size_t size, std::size_t) override { fastMemory().deallocate(block, size); }
    bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }
};
Task<> probe(Context, Run* run) {
    Counting counting;
    {
        Context here = (co_await context()).with(counting);
        Fork<int> made = child(here, 0);
        co_await made;
    }
    run->setItemBytes(counting.bytes);
}

template <class Make>
Task<> createAndAwait(Context, Run* run, Make make) {
    std::int64_t sum = 0;
    Context here = co_await context();
    for (int i = 0; i < run->size(); ++i) {
        auto one = make(here, i);
        sum += co_await one;
    }
    run->expect(sum == std::int64_t{run->size()} * (run->size() - 1) / 2);
}
Task<> createAwaitDestroy(Context, Run* run) {
    std::int64_t sum = 0;
    Context here = co_await context();
    for (int i = 0; i < run->size(); ++i) {
        {
            Fork<int> one = child(here, i);
            sum += co_await one;
        }
        co_await destroyForks();
    }
    run->expect(sum == std::int64_t{run->size()} * (run->size() - 1) / 2);
}
Task<> createAllDestroyAll(Context, Run* run, std::vector<Fork<int>>* forks) {
    Context here = co_await context();
    for (int i = 0; i < run->size(); ++i)
        forks->push_back(child(here, i));
    run->expect(forks->back().isReady());
    forks->clear();
    co_await destroyForks();
}

template <class Memory, class Pass>
Task<> allPasses(Context, Run* run, Pass pass, bool counts) {
    Memory memory(run->size());
    std::vector<Fork<int>> forks;
    forks.reserve(static_cast<std::size_t>(run->size()));
    if (counts) {
        Task<> probing = probe(co_await context(), run);
        co_await probing;
    }
    Context here = co_await context();
    Context inMemory = here.with(memory.memory);
    co_await delay(0);
    while (run->next()) {
        {
            Task<> one = pass(inMemory, run, &forks);
            co_await one;
        }
        memory.reset();
    }
}

/// A driver that runs a task in each pass. The task's memory is allocated once.
template <class Memory, class Pass>
Driver passes(std::string_view work, Pass pass, bool counts = true) {
    auto drive = [pass, counts](Run* run) { return start(allPasses<Memory, Pass>(Environment(), run, pass, counts)); };
    return {work, drive, [] { return std::size_t{0}; }};
}

Task<> sendAll(Context, Channel<int>* channel, int count) {
    for (int i = 0; i < count; ++i)
        co_await channel->send(i);
}
Fork<> receiveAll(Context, Channel<int>* channel, int count, std::int64_t* sum) {
    for (int i = 0; i < count; ++i)
        *sum += co_await channel->receive();
}
template <std::size_t kCapacity>
Task<> channelPass(Context, Run* run, std::vector<Fork<int>>*) {
    Context here = co_await context();
    Channel<int> channel(kCapacity, here.memory());
    std::int64_t sum = 0;
    Fork<> receiver = receiveAll(here, &channel, run->size(), &sum);
    co_await sendAll(here, &channel, run->size());
    co_await receiver;
    run->expect(sum == std::int64_t{run->size()} * (run->size() - 1) / 2);
}

auto makeFork = [](Context here, int n) { return child(here, n); };
auto makeTask = [](Context here, int n) { return lazyChild(here, n); };
using Forks = std::vector<Fork<int>>*;

const bench::Style
    tasks("task",
          {
              passes<Monotonic>("fork-monotonic",
                                [](Context c, Run* run, Forks) { return createAndAwait(c, run, makeFork); }),
              passes<Monotonic>("fork-monotonic-destroy",
                                [](Context c, Run* run, Forks) { return createAwaitDestroy(c, run); }),
              passes<Pool>("fork-pool-all", createAllDestroyAll),
              passes<Pool>("fork-pool-each", [](Context c, Run* run, Forks) { return createAwaitDestroy(c, run); }),
              passes<Arena>("fork-arena-each", [](Context c, Run* run, Forks) { return createAwaitDestroy(c, run); }),
              passes<Arena>("task-arena", [](Context c, Run* run, Forks) { return createAndAwait(c, run, makeTask); }),
              passes<Arena>("channel", channelPass<64>, false),
              passes<Arena>("channel-rendezvous", channelPass<0>, false),
          });

} // namespace
