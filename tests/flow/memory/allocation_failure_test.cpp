#include "flow/memory/allocation_failure.h"

#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/failures.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

using namespace flow;
using flow::test::expect;

namespace {
constinit thread_local std::int64_t taken = 0;
}

std::int64_t flow::test::systemBlocks() {
    return taken;
}

#if REPLACES_NEW
// For the whole of flow_tests, as the header says that a program may. Not inlined: gcc would take the `free` for that
// of another operator new's block.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    void* block = flow::allocationFails() ? nullptr : std::malloc(bytes);
    if (!block)
        throw std::bad_alloc();
    ++taken;
    return block;
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
    taken -= block != nullptr;
    std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
    operator delete(block);
}
#endif

namespace {

struct Node : FastAllocated<Node> {
    long numbers[5] = {};
};

void* take(std::size_t bytes) {
    return memory::allocate(bytes);
}
void giveBack(void* block, std::size_t bytes) {
    memory::release(block, memory::sizeClassOf(bytes));
}

} // namespace

TEST_CASE("allocation failure: the n-th allocation fails, and no other") {
    test::Balance balance;
    for (std::uint64_t n = 0; n < 6; ++n) {
        std::vector<void*> blocks(6);
        AllocationFailure failure(n);
        for (std::uint64_t i = 0; i < 6; ++i) {
            bool failed = false;
            try {
                blocks[i] = take(40 + i * 300); // classes of both kinds, and the system
            } catch (std::bad_alloc const&) {
                failed = true;
            }
            CHECK(failed == (i == n));
            CHECK(failure.hasHappened() == (i >= n));
        }
        CHECK(failure.allocations() >= 6);
        for (std::uint64_t i = 0; i < 6; ++i)
            if (i != n)
                giveBack(blocks[i], 40 + i * 300);
    }
}

TEST_CASE("allocation failure: free lists stay what they were" * doctest::skip(FLOW_SYSTEM_BLOCKS)) {
    test::Balance balance;
    void* first = take(100);
    void* second = take(100);
    void* third = take(100);
    giveBack(first, 100);
    {
        AllocationFailure failure(100);
        giveBack(second, 100);
        CHECK(take(100) == second);
        CHECK(take(100) == first);
        giveBack(second, 100);
    }
    CHECK(take(100) == second);
    memory::Statistics before = memory::statistics(memory::sizeClassOf(100));
    for (void* block : {first, second, third})
        giveBack(block, 100);
    CHECK(memory::statistics(memory::sizeClassOf(100)).freed == before.freed + 3);
}

TEST_CASE("allocation failure: operator new of the program counts" * doctest::skip(!REPLACES_NEW)) {
    void* blocks[3] = {}; // by calls of the function: the compiler may leave out new-expressions
    bool failed = false;
    {
        AllocationFailure failure(1);
        blocks[0] = ::operator new(8);
        try {
            blocks[1] = ::operator new(8);
        } catch (std::bad_alloc const&) {
            failed = true;
        }
        blocks[2] = ::operator new(8);
    }
    CHECK(failed);
    CHECK(blocks[1] == nullptr);
    CHECK(blocks[2] != nullptr);
    for (void* block : blocks)
        ::operator delete(block);
}

TEST_CASE("allocation failure: other threads are not affected") {
    std::atomic<bool> go = false;
    std::thread other([&] { // made before: a thread's state is allocated here
        while (!go)
            std::this_thread::yield();
        delete new Node;
    });
    AllocationFailure failure(0);
    go = true;
    other.join();
    CHECK(failure.allocations() == 0);
    CHECK_THROWS_AS(delete new Node, std::bad_alloc);
    CHECK(!allocationFails());
}

TEST_CASE("allocation failure: a series lets each allocation fail once") {
    int calls = 0, failures = 0;
    CHECK(failEachAllocation([&] {
              ++calls;
              try {
                  std::unique_ptr<Node> nodes[3];
                  for (auto& node : nodes)
                      node.reset(new Node);
              } catch (std::bad_alloc const&) {
                  ++failures;
                  throw;
              }
          }) == 3);
    CHECK(calls == 1 + 3 * 2 + 1);
    CHECK(failures == 3);
}

TEST_CASE("allocation failure: a series finds leaks, losses and errors of other kinds") {
    static std::vector<Node*> leaked;
    leaked.reserve(10);
    auto leaking = [] {
        auto* first = new Node;
        try {
            delete new Node;
        } catch (std::bad_alloc const&) {
            leaked.push_back(first);
            throw;
        }
        delete first;
    };
    CHECK_THROWS_WITH((void)failEachAllocation(leaking), "with a failure of allocation 1 the operation leaks 1 blocks");
    CHECK(leaked.size() == 1);
    delete leaked.front();
    auto translating = [] {
        try {
            delete new Node;
        } catch (std::bad_alloc const&) {
            throw timed_out();
        }
    };
    CHECK_THROWS_AS((void)failEachAllocation(translating), Error);
    CHECK_THROWS_AS((void)failEachAllocation([] { throw std::bad_alloc(); }), std::bad_alloc); // nothing failed
}

TEST_CASE("allocation failure: a series of the tests finds what operator new does not get back" *
          doctest::skip(!REPLACES_NEW)) {
    static std::vector<int*> leaked;
    leaked.reserve(10);
    auto leaking = [] {
        int* first = new int(1);
        try {
            delete new Node;
        } catch (std::bad_alloc const&) {
            leaked.push_back(first);
            throw;
        }
        delete first;
    };
    CHECK_THROWS_AS((void)flow::test::failEverywhere(leaking), std::logic_error);
    CHECK(leaked.size() == 1);
    delete leaked.front();
}

TEST_CASE("allocation failure: one at a time") {
    auto nest = [] {
        AllocationFailure outer(1000);
        AllocationFailure inner(1000);
    };
    CHECK_DIES(nest(), "while this thread has another");
}
