#include "flow/base/stack.h"

#include <cstddef>
#include <cstdint>
#include <pthread.h>

namespace flow {
namespace {

struct Bounds {
    std::uintptr_t low = 0; // where the last quarter begins
    std::uintptr_t high = 0;
    bool isKnown = false;
};

Bounds boundsOfThread() noexcept {
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0)
        return {0, 0, true}; // every place is outside
    void* lowest = nullptr;
    std::size_t bytes = 0;
    ::pthread_attr_getstack(&attributes, &lowest, &bytes);
    ::pthread_attr_destroy(&attributes);
    auto begin = reinterpret_cast<std::uintptr_t>(lowest);
    return {begin + bytes / 4, begin + bytes, true};
}

} // namespace

bool stackIsShort() noexcept {
    static constinit thread_local Bounds bounds;
    if (!bounds.isKnown)
        bounds = boundsOfThread();
    auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    return here < bounds.low || here >= bounds.high;
}

} // namespace flow
