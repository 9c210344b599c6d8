#pragma once
// forkCount: changes in a child of fork(), so that code can detect that it runs in one.
//
//     std::uint32_t const made = forkCount();
//     if (made != forkCount()) ...      // in a child of fork(): descriptors are shared, other threads are gone

#include <cstdint>

namespace flow {

/// The number of calls of fork() between this process and the one that was started as a program. Any thread may call
/// it. Children of vfork() and posix_spawn() count none: they may only start another program.
std::uint32_t forkCount() noexcept;

} // namespace flow
