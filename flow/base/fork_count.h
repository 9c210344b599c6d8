#pragma once
// forkCount(): a number that is different in a child of fork(), so that code can detect that it runs in such a child.
//
//     std::uint32_t const made = forkCount();
//     if (made != forkCount()) ...      // in a child of fork(): descriptors are shared, other threads are gone

#include <cstdint>

namespace flow {

/// Returns 0 in the first process of the program, 1 in its children by fork(), 2 in their children, and so on. Any
/// thread may call it. Children by vfork() and posix_spawn() do not count: they may only start another program.
std::uint32_t forkCount() noexcept;

} // namespace flow
