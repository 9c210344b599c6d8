#pragma once
// The properties of gcc's coroutines that differ from clang's; flow/coro/detail/abi_clang.h has the same names.
//
//     HandOver await_suspend(std::coroutine_handle<>) { return next ? resumed(next) : caller(); }

#include "flow/core/cell.h"
#include "flow/core/result.h"

#include <coroutine>

namespace flow::coro {
using namespace flow::detail;

/// True if the co_awaits of one expression are evaluated one after the other, as the standard requires. gcc 12 may
/// begin the second co_await before it waits for the first: then the assertion in beginWait() (coroutine.h) fails.
inline constexpr bool kAwaitsInOrder = false;
/// True if `destroy` of a frame destroys its parameters from the last one to the first. gcc 12 has the opposite order.
inline constexpr bool kDestroysInOrder = false;
/// True if an `alignas` of a variable is honoured. gcc 12 ignores it, but honours the `alignas` of a type.
inline constexpr bool kAlignsVariables = false;
/// True if Ending::await_suspend() may call handOver() at several places: with gcc, each enlarges the exception tables.
inline constexpr bool kHandsOverAnywhere = false;

/// Returns the alignment that a frame of this size may need: gcc 12 gives no alignment, but the size is a multiple of
/// it. A local that needs more gets only kMostAlignment: unlike clang, gcc cannot refuse such a local.
FLOW_INLINE std::size_t frameAlignment(std::size_t bytes) {
    std::size_t const alignment = bytes & -bytes;
    return alignment < 16 ? 16 : alignment < memory::kMostAlignment ? alignment : memory::kMostAlignment;
}

/// The result type of await_suspend(): nothing, since gcc would resume a handle by a call. Instead each await_suspend
/// ends with a call of handOver(), which becomes a tail call of the coroutine. handOver() must not throw: otherwise its
/// call would be inside the cleanup of the coroutine's locals, and could not be a tail call.
using HandOver = void;
FLOW_INLINE void caller() noexcept {}
FLOW_INLINE void resumed(Waiter* waiter) noexcept {
    return reinterpret_cast<void (*)(Waiter*) noexcept>(waiter->resume)(waiter);
}
HandOver handOver(Waiter* last) noexcept; // flow/coro/detail/awaiters.h

/// The base of an awaiter of one object, such as the promise. It is a pointer, since gcc 12 copies lvalue awaiters.
template <class Object>
struct AwaiterOn {
    Object* pointer;
    FLOW_INLINE Object* object() const noexcept { return pointer; }
};
template <class A>
using Given = A;
template <class A, class Object>
FLOW_INLINE A give(Object* object) {
    return {{{object}}};
}

/// Ends a coroutine that propagates errors, with the error of the cell `failed`. Takes over a reference to the cell.
FLOW_INLINE void failAtOnce(Waiter* frame, Cell* failed) noexcept {
    handOver(failFrameWith(frame, failed));
}

} // namespace flow::coro
