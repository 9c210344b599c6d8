#pragma once
// Checks at the end of a scope that it gave back every block that it took from the allocator, on this thread.
//
//     TEST_CASE("...") {
//         Balance balance;
//         ...
//     }

#include "flow/memory/fast_allocator.h"

#include <doctest/doctest.h>

namespace flow::test {

class Balance {
public:
    Balance() : before_(flow::memory::totalStatistics().live()) {}
    Balance(Balance const&) = delete;
    ~Balance() {
        INFO("blocks of the allocator that are still held at the end, against the beginning");
        CHECK(flow::memory::totalStatistics().live() == before_);
    }

private:
    std::int64_t before_;
};

} // namespace flow::test
