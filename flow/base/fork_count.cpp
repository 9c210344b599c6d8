#include "flow/base/fork_count.h"

#include <atomic>
#include <pthread.h>

namespace flow {
namespace {

constinit std::atomic<std::uint32_t> forks{0};
[[maybe_unused]] int const registered =
    ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

} // namespace

std::uint32_t forkCount() noexcept {
    return forks.load(std::memory_order_relaxed);
}

} // namespace flow
