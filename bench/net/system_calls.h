#pragma once
// System calls of this thread, of whatever library makes them: what the C library has under these names is replaced in
// this program by functions that count. io_uring has no such functions: its calls are counted by our poller.

#include <cstdint>

namespace bench {

/// So far: reading, writing, accepting, and all of epoll.
std::uint64_t systemCalls();

} // namespace bench
