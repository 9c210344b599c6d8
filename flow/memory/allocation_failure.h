#pragma once
// AllocationFailure: makes one allocation fail on purpose. A test can let each allocation fail in turn.
//
//     failEachAllocation([] {                    // called many times: each time another allocation fails
//         SimLoop loop;
//         Future<int> answer = compute();        // may throw std::bad_alloc
//         loop.run(answer);                      // may throw unknown_error, if an actor ran out of memory
//     });
//
//     AllocationFailure failure(2);              // by hand: the third allocation from here on fails
//     CHECK_THROWS_AS(work(), std::bad_alloc);
//     CHECK(failure.hasHappened());
//
// An AllocationFailure counts the blocks that FastAllocator gives to this thread: blocks of actors, coroutines,
// futures, streams and FastAllocated objects. It also counts allocations of containers and of other code that uses
// `operator new`, if the program replaces `operator new` by a function that calls allocationFails():
//
//     void* operator new(std::size_t bytes) {
//         void* block = flow::allocationFails() ? nullptr : std::malloc(bytes);
//         if (!block)
//             throw std::bad_alloc();
//         return block;
//     }
//
// Without an AllocationFailure there is no cost. Other threads are not affected.

#include "flow/base/error.h"
#include "flow/memory/allocation_watch.h"

#include <cstring>
#include <stdexcept>
#include <string>

namespace flow {

/// While this object exists, allocation number `n` of this thread, counted from 0, throws std::bad_alloc. All other
/// allocations succeed. A thread may have one AllocationFailure at a time.
class AllocationFailure : memory::AllocationWatch {
public:
    explicit AllocationFailure(std::uint64_t n);
    ~AllocationFailure() override;

    /// True if allocation number `n` has failed.
    bool hasHappened() const { return count_ > n_; }
    /// Returns the number of allocations so far, including the one that failed.
    std::uint64_t allocations() const { return count_; }

private:
    friend bool allocationFails() noexcept;

    bool allocating() noexcept override;

    std::uint64_t n_;
    std::uint64_t count_ = 0;
};

namespace detail {
inline constinit thread_local AllocationFailure* allocationFailure = nullptr;
}

/// Counts an allocation that does not go through FastAllocator. Returns true if this allocation has to fail.
inline bool allocationFails() noexcept {
    AllocationFailure* failure = detail::allocationFailure;
    return failure && failure->count_++ == failure->n_;
}

/// Calls `operation()` once without a failure, and then again and again: its first allocation fails, then its second,
/// and so on, until none fails. After each failure, calls `operation()` without a failure, to see that it still works.
/// In a failed call, `operation()` may throw std::bad_alloc, or unknown_error of an actor that threw it; other
/// exceptions are rethrown. Throws std::logic_error if a failed call leaks blocks. Returns the number of failed
/// allocations.
template <class Operation>
std::uint64_t failEachAllocation(Operation operation) {
    operation(); // objects that a thread makes once and keeps are made here
    for (std::uint64_t n = 0;; ++n) {
        std::int64_t live = memory::totalStatistics().live();
        bool happened = false;
        try {
            AllocationFailure failure(n);
            try {
                operation();
            } catch (...) {
                happened = failure.hasHappened();
                throw;
            }
            happened = failure.hasHappened();
        } catch (std::bad_alloc const&) {
            if (!happened)
                throw;
        } catch (Error const& error) {
            if (!happened || error.code() != error_code_unknown_error ||
                std::strcmp(lastUnknownError(), std::bad_alloc().what()) != 0)
                throw;
        }
        if (std::int64_t leaked = memory::totalStatistics().live() - live)
            throw std::logic_error("with a failure of allocation " + std::to_string(n) + " the operation leaks " +
                                   std::to_string(leaked) + " blocks");
        if (!happened)
            return n;
        operation();
    }
}

} // namespace flow
