#pragma once
// The properties of clang's coroutines that differ from gcc's; flow/coro/detail/abi_gcc.h has the same names.
//
//     HandOver await_suspend(std::coroutine_handle<>) { return next ? resumed(next) : caller(); }

#include "flow/base/assert.h"
#include "flow/core/cell.h"
#include "flow/core/result.h"

#include <coroutine>

namespace flow::coro {
using namespace flow::detail;

/// flow/coro/detail/abi_gcc.h explains these four constants.
inline constexpr bool kAwaitsInOrder = true;
inline constexpr bool kDestroysInOrder = true;
inline constexpr bool kAlignsVariables = true;
inline constexpr bool kHandsOverAnywhere = true;

/// This function has no definition. If a call is left after optimisation, the compiler reports the text below.
[[gnu::error("a local of this coroutine is aligned to more than 64 bytes: hold it by pointer")]]
void frameIsAlignedToMoreThan64();

/// Returns the alignment that the frame needs. Called in the operator new of a promise, which must always be inlined:
/// after clang has laid out the frame, it replaces the builtin by the frame's alignment. An alignment above
/// kMostAlignment is refused: with optimisation when the coroutine is compiled; without optimisation the alignment is
/// no constant, and an assertion fails when the coroutine is called.
FLOW_INLINE std::size_t frameAlignment(std::size_t) {
    std::size_t const alignment = __builtin_coro_align();
    if (__builtin_constant_p(alignment)) {
        if (alignment > memory::kMostAlignment)
            frameIsAlignedToMoreThan64();
    } else {
        FLOW_ASSERT(alignment <= memory::kMostAlignment,
                    "a local of this coroutine is aligned to more than 64 bytes: hold it by pointer");
    }
    return alignment < 16 ? 16 : alignment; // the cell needs 16 bytes
}

/// The result type of await_suspend(): the frame to which control passes, as a handle. `__builtin_coro_noop` is the
/// handle that clang can elide; std::noop_coroutine() costs an indirect call at every suspension.
using HandOver = std::coroutine_handle<>;
FLOW_INLINE HandOver caller() noexcept {
    return HandOver::from_address(__builtin_coro_noop());
}
FLOW_INLINE HandOver resumed(Waiter* waiter) noexcept {
    return HandOver::from_address(waiter);
}

/// The base of an awaiter of one object, such as the promise. It has the object's address, and takes no bytes.
template <class Object>
struct AwaiterOn {
    FLOW_INLINE Object* object() const noexcept { return reinterpret_cast<Object*>(const_cast<AwaiterOn*>(this)); }
};
template <class A>
using Given = A&;
template <class A, class Object>
FLOW_INLINE A& give(Object* object) {
    return reinterpret_cast<A&>(*object);
}

/// Ends a coroutine that propagates errors, with the error of the cell `failed`, and takes over a reference to this
/// cell. Returns no handle: if it did, clang would call the noop coroutine at every co_await that suspends.
[[gnu::noinline]] FLOW_RARE inline void failAtOnce(Waiter* frame, Cell* failed) noexcept {
    handedOver = failFrameWith(frame, failed);
}

} // namespace flow::coro
