#pragma once
// AllocationFailure: one allocation fails on purpose, so that a test can let each one fail in turn.
//
//     failEachAllocation([] {                    // again and again: the first one fails, the second one, ...
//         SimLoop loop;
//         Future<int> answer = compute();        // may throw std::bad_alloc
//         loop.run(answer);                      // or unknown_error, if an actor ran out of memory
//     });
//
//     AllocationFailure failure(2);              // by hand: the third allocation from here on
//     CHECK_THROWS_AS(work(), std::bad_alloc);
//     CHECK(failure.hasHappened());
//
// An AllocationFailure counts the blocks that FastAllocator gives to this thread: every actor, coroutine, future and
// stream, and FastAllocated objects. Containers and other users of `operator new` count as well in a program that
// replaces `operator new` by one that calls allocationFails():
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

    /// True if so many allocations were made that one has failed.
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

/// Calls `operation()` once without a failure, then with a failure of its first allocation, of its second one, and so
/// on, until none fails. After each failure it calls `operation()` without one, to see that it still works. When an
/// allocation fails, `operation()` may throw std::bad_alloc, or unknown_error of an actor that threw std::bad_alloc.
/// Any other exception ends the series. Throws std::logic_error if the operation keeps or loses blocks. Returns how
/// many allocations have failed.
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
