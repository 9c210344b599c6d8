#pragma once
// forkCount(): a number that is different in a child of fork(), so that code can detect that it runs in such a child.
//
//     std::uint32_t const made = forkCount();
//     if (made != forkCount()) ...      // in a child of fork(): descriptors are shared, other threads are gone

#include <cstdint>

namespace flow {

/// Returns the number of calls of fork() from the start of the program to this process. Any thread may call it.
/// Calls of vfork() and posix_spawn() do not count: their children may only start another program.
std::uint32_t forkCount() noexcept;

} // namespace flow
