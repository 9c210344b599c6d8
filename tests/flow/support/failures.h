#pragma once
// Every allocation of an operation fails once: those of FastAllocator and those of operator new, which flow_tests
// replaces (tests/flow/memory/allocation_failure_test.cpp).
//
//     CHECK(failEverywhere([] {
//         Promise<int> promise;
//         Future<int> answer = compute(promise.getFuture());
//         promise.send(1);
//         expect(answer.isReady() && ranOut(answer) || answer.get() == 1);
//     }) > 2);
//
// Within the operation stand no CHECKs, since doctest allocates; expect() throws instead.

#include "flow/core/future.h"
#include "flow/memory/allocation_failure.h"
#include "tests/flow/support/sanitizers.h"

#include <source_location>

namespace flow::test {

// ThreadSanitizer has an operator new of its own, which cannot be replaced: there only those of FastAllocator fail.
#define REPLACES_NEW !MILLRACE_UNDER_TSAN

/// What this thread has taken with operator new and has not given back.
std::int64_t systemBlocks();

inline void expect(bool holds, std::source_location where = std::source_location::current()) {
    if (!holds)
        throw std::logic_error("does not hold: line " + std::to_string(where.line()) + " of " + where.file_name());
}

/// Whether the future has failed because an actor ran out of memory.
template <class T>
bool ranOut(Future<T> const& future) {
    return future.isError() && future.getError() == unknown_error() &&
           std::strcmp(lastUnknownError(), std::bad_alloc().what()) == 0;
}

/// failEachAllocation, which also checks that nothing of operator new is left.
template <class Operation>
std::uint64_t failEverywhere(Operation operation) {
    operation();
    return failEachAllocation([&] {
        std::int64_t before = systemBlocks();
        try {
            operation();
        } catch (std::logic_error const&) {
            throw;
        } catch (...) {
            expect(systemBlocks() == before);
            throw;
        }
        expect(systemBlocks() == before);
    });
}

} // namespace flow::test
