#include "flow/memory/allocation_failure.h"

#include "flow/base/assert.h"

namespace flow {

AllocationFailure::AllocationFailure(std::uint64_t n) : n_(n) {
    FLOW_ASSERT(!detail::allocationFailure, "an AllocationFailure is made while this thread has another");
    detail::allocationFailure = this;
}

AllocationFailure::~AllocationFailure() {
    detail::allocationFailure = nullptr;
}

bool AllocationFailure::allocating() noexcept {
    return !allocationFails();
}

} // namespace flow
