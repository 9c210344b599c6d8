#include "flow/tasks/context.h"

#include "flow/memory/allocation_failure.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/generator.h"
#include "flow/tasks/scope.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"

#include <array>
#include <cstddef>
#include <doctest/doctest.h>
#include <new>
#include <type_traits>

namespace {
using namespace flow;

/// Counts, and refuses one allocation.
class Counting : public std::pmr::memory_resource {
public:
    explicit Counting(int refused = -1) : refused_(refused) {}
    int allocations = 0;
    int live = 0;
    std::size_t bytes = 0; // of all allocations
    /// The one after so many more.
    void refuseNext(int more) { refused_ = allocations + more; }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (allocations++ == refused_)
            throw std::bad_alloc();
        ++live;
        this->bytes += bytes;
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
            failed = true;
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
        } catch (std::bad_alloc const&) {
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

/// What the trees of these tests share.
struct Shared {
    int calls = 0;
    Loop* storage = nullptr;
};
Fork<int> countsCall(ContextWith<Shared>) {
    auto here = co_await context();
    co_return ++here->calls;
}
Task<int> takesLess(Context, Fork<int>* made) {
    auto here = co_await context();
    static_assert(std::is_same_v<decltype(here), Context>);
    int calls = co_await *made;
    co_return calls;
}
struct Member {
    int factor = 10;
    Task<int> calls(ContextWith<Shared>) {
        auto here = co_await context();
        Fork<int> made = countsCall(here);
        int count = co_await made;
        co_return factor* count;
    }
};

TEST_CASE("what a tree shares is handed down by its type, with memory from anywhere") {
    auto body = [](ContextWith<Shared>, Member* member, Counting* inner) -> Task<int> {
        auto here = co_await context();
        static_assert(std::is_same_v<decltype(here), ContextWith<Shared>>);
        Fork<int> first = countsCall(here.with(*inner));
        int sum = co_await takesLess(here, &first); // 1
        sum += co_await member->calls(here);        // 20
        Shared other;
        sum += co_await countsCall(here.with(other)); // 1
        co_return sum;
    };
    SimLoop loop;
    Counting outer;
    Counting inner;
    Shared shared;
    Member member;
    CHECK(loop.run(start(body(Environment(outer).with(shared), &member, &inner))) == 22);
    CHECK(shared.calls == 2);
    CHECK(inner.allocations == 1);
    CHECK(outer.allocations == 5);
    CHECK(outer.live + inner.live == 0);
}

Fork<int> plain(Context) {
    co_return 1;
}
Fork<int> sharing(ContextWith<Shared>) {
    co_return 1;
}

TEST_CASE("a plain context costs no word in a frame") {
    auto body = [](Context, Counting* counted, Shared* shared) -> Task<> {
        Context here = (co_await context()).with(*counted);
        if (shared) {
            Fork<int> made = sharing(here.with(*shared));
            co_await made;
        } else {
            Fork<int> made = plain(here);
            co_await made;
        }
    };
    auto bytesOf = [&](Shared* shared) {
        SimLoop loop;
        Counting counted;
        loop.run(start(body(Environment(), &counted, shared)));
        return counted.bytes;
    };
    Shared shared;
    std::size_t without = bytesOf(nullptr);
    std::size_t with = bytesOf(&shared);
    CHECK(with > without); // the promise's word, and what the compiler keeps of the parameter
    CHECK(with <= without + 4 * sizeof(void*));
}

} // namespace
