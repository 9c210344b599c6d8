#include "flow/structured/context.h"

#include "flow/memory/allocation_failure.h"
#include "flow/sim/sim_loop.h"
#include "flow/structured/generator.h"
#include "flow/structured/scope.h"
#include "flow/structured/task.h"
#include "flow/wait/delay.h"

#include <array>
#include <cstddef>
#include <doctest/doctest.h>
#include <new>

namespace {
using namespace flow;

/// Counts, and refuses one allocation.
class Counting : public std::pmr::memory_resource {
public:
    explicit Counting(int refused = -1) : refused_(refused) {}
    int allocations = 0;
    int live = 0;
    /// The one after so many more.
    void refuseNext(int more) { refused_ = allocations + more; }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (allocations++ == refused_)
            throw std::bad_alloc();
        ++live;
        return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        --live;
        std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
    }
    bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }

    int refused_;
};

Fork<int> tree(Context, int depth, double seconds) {
    if (depth == 0) {
        co_await delay(seconds);
        co_return 1;
    }
    Fork<int> left = tree(co_await context(), depth - 1, seconds);
    Fork<int> right = tree(co_await context(), depth - 1, 2 * seconds);
    int both = co_await left;
    both += co_await right;
    co_return both;
}
Task<int> root(Context, int depth) {
    int sum = co_await tree(co_await context(), depth, 1.0);
    co_return sum;
}

TEST_CASE("all memory of a tree comes from its resource, and goes back to it") {
    SimLoop loop;
    Counting memory;
    CHECK(loop.run(start(root(Environment(memory), 4))) == 16);
    CHECK(memory.allocations == 1 + 31);
    CHECK(memory.live == 0);
}

TEST_CASE("a tree takes nothing from the global heap, nor from FastAllocator") {
    SimLoop loop;
    alignas(16) static std::array<std::byte, 1 << 16> buffer;
    std::pmr::monotonic_buffer_resource memory(buffer.data(), buffer.size(), std::pmr::null_memory_resource());
    auto body = [](Context, std::uint64_t* count) -> Task<int> {
        AllocationFailure none(~std::uint64_t{0}); // it only counts
        int sum = co_await tree(co_await context(), 4, 0.0);
        *count = none.allocations();
        co_return sum;
    };
    std::uint64_t count = 1;
    CHECK(loop.run(start(body(Environment(memory), &count))) == 16);
    CHECK(count == 0);
}

TEST_CASE("a resource that throws at any point leaves the tree consistent") {
    constexpr int kBlocks = 1 + 15;
    for (int refused = 0; refused <= kBlocks; ++refused) {
        CAPTURE(refused);
        SimLoop loop;
        Counting memory(refused);
        bool failed = false;
        try {
            int sum = loop.run(start(root(Environment(memory), 3)));
            CHECK(sum == 8);
        } catch (std::bad_alloc const&) {
            failed = true; // the call of root() itself
        } catch (Error const& error) {
            failed = error == unknown_error();
        }
        CHECK(failed == (refused < kBlocks));
        CHECK(memory.live == 0);
        CHECK(!loop.hasWork());
    }
}

AsyncGenerator<int> numbers(Context, int count) {
    for (int i = 0; i < count; ++i)
        co_yield i;
}

TEST_CASE("a generator that there is no memory for leaves no child behind") {
    auto body = [](Context) -> Task<int> {
        AsyncGenerator<int> all = numbers(co_await context(), 3);
        int sum = 0;
        while (std::optional<int> number = co_await all.next())
            sum += *number;
        co_return sum;
    };
    constexpr int kBlocks = 3; // of the task, of the body, and where body and reader meet
    for (int refused = 1; refused <= kBlocks; ++refused) {
        CAPTURE(refused);
        SimLoop loop;
        Counting memory(refused);
        bool failed = false;
        try {
            int sum = loop.run(start(body(Environment(memory))));
            CHECK(sum == 3);
        } catch (Error const& error) {
            CHECK(error == unknown_error());
            failed = true;
        }
        CHECK(failed == (refused < kBlocks));
        CHECK(memory.live == 0);
    }
}

Task<> sleep(Context, double seconds) {
    co_await delay(seconds);
}
Task<> timeOut(Context, double seconds) {
    co_await delay(seconds);
    throw timed_out();
}

TEST_CASE("the first error cancels the rest of a scope, with memory to note it or without") {
    auto body = [](Context, Counting* memory) -> Task<> {
        Scope scope(co_await context());
        scope.spawn(sleep(scope.context(), 10));
        scope.spawn(timeOut(scope.context(), 1));
        memory->refuseNext(1); // join() itself takes one
        co_await scope.join();
    };
    SimLoop loop;
    Counting memory;
    Future<Void> failed = start(body(Environment(memory), &memory));
    CHECK_THROWS_AS(loop.run(failed), Error);
    CHECK(failed.getError() == timed_out());
    CHECK(loop.now() == 1);
    CHECK(memory.live == 0);
}

TEST_CASE("a subtree may have memory of its own") {
    SimLoop loop;
    Counting outer;
    auto body = [](Context) -> Task<int> {
        Counting mine;
        {
            Context here = co_await context();
            Fork<int> child = tree(here.with(mine), 2, 1.0);
            int sum = co_await child;
            CHECK(sum == 4);
            CHECK(mine.allocations == 7);
        }
        co_return mine.live;
    };
    CHECK(loop.run(start(body(Environment(outer)))) == 0);
    CHECK(outer.allocations == 1);
}

} // namespace
