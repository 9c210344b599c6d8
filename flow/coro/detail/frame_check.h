#pragma once
// Proves at start-up that this compiler lays out coroutine frames as flow/core/frame.h says: the resume and destroy
// pointers first, the promise at offset 16. flow/coro/coroutine.h includes this file, so the check is compiled like the
// program's own coroutines, with the same options. A difference ends the program with a message before main().

#include "flow/coro/coroutine.h"

#include <cstdio>
#include <cstdlib>

namespace flow::coro {

/// Returns true if the frame at `address`, with its promise at `promise`, has the layout of a Waiter.
inline bool frameMatches(const void* address, const void* promise) {
    auto* words = static_cast<void* const*>(address);
    return static_cast<const char*>(promise) - static_cast<const char*>(address) == offsetof(Waiter, link) &&
           words[0] != nullptr && words[1] != nullptr && reinterpret_cast<std::uintptr_t>(address) % 16 == 0;
}

namespace detail {

/// An awaitable that suspends once, and stores the addresses of the frame and the promise.
struct FrameProbe {
    const void** address;
    const void** promise;

    FrameProbe awaiter(PromiseBase& base, std::source_location) const {
        *promise = &base;
        base.noteSuspended();
        return *this;
    }
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const noexcept { *address = handle.address(); }
    void await_resume() const noexcept {}
};

inline Future<int> frameProbe(const void** address, const void** promise) {
    co_await FrameProbe{address, promise};
    co_return 42;
}

inline bool checkFrames() {
    const void* address = nullptr;
    const void* promise = nullptr;
    Future<int> future = frameProbe(&address, &promise);
    bool matches = address && frameMatches(address, promise) && future.cell()->frame() == address;
    if (matches) { // run() resumes the frame as the runtime does, through the first word of the frame
        run(static_cast<Waiter*>(const_cast<void*>(address)));
        matches = future.isReady() && future.get() == 42;
    }
    if (!matches) {
        std::fputs("flow: this compiler's coroutine frames are not laid out as flow/core/frame.h needs them\n", stderr);
        std::abort();
    }
    return true;
}

inline const bool framesChecked = checkFrames();

} // namespace detail
} // namespace flow::coro
