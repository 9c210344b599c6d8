#pragma once
// forkCount: changes in a child of fork(), so that code can detect that it runs in one.
//
//     std::uint32_t const made = forkCount();
//     if (made != forkCount()) ...      // in a child of fork(): descriptors are shared, other threads are gone

#include <cstdint>

namespace flow {

/// Returns how many calls of fork() lie between the program that was started and this process. Any thread may call it.
/// Calls of vfork() and posix_spawn() do not count: their children may only start another program.
std::uint32_t forkCount() noexcept;

} // namespace flow
