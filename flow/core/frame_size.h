#pragma once
// FLOW_ASSERT_FRAME_SIZE(bytes): the build fails if one waiting actor or coroutine takes more than `bytes` bytes.
// Write it as the last parameter of the function. Callers pass nothing for it:
//
//     ACTOR Future<int> ask(Future<int> answer, FLOW_ASSERT_FRAME_SIZE(96)) { ... }     // in .actor.cpp files
//     Future<int> ask(Future<int> answer, FLOW_ASSERT_FRAME_SIZE(112)) { ... }          // a coroutine
//
// The number is the size of the block that FastAllocator gives for the computation: its frame, result and cell, and the
// bytes that alignment and rounding up to the size class add. The benchmarks call this number `frame_bytes`, and
// `actorc --frames` calls it `block` and shows its parts. Above 4096 bytes, the number is the requested size.
//
// Compilers and actorc's back ends differ in this number: for several of them, write the largest. The size of a state
// machine is a constant: it is always checked, and the error message has the number. The size of a coroutine's frame is
// known only after optimisation. If the frame is too large, a call of frameIsLargerThanItsLimit() is left in the code,
// and the compiler reports an error: clang prints the types of the result and the parameters; gcc also prints the line.
//
// Without optimisation, the program checks the size at the first call of the coroutine. gcc's frames are then as large
// as with optimisation: if a frame is too large, the program ends with a message. clang's frames are larger without
// optimisation, in checked builds and under sanitizers: then the program only prints a message, once, on standard
// error. The bytes that checked builds add to a cell and a promise do not count.
//
// FLOW_IGNORE_FRAME_LIMITS=1 turns the checks off. `actorc --frames` uses it, to show also a frame that is too large.

#include "flow/base/inline.h"
#include "flow/base/sanitizer.h"
#include "flow/core/cell.h"

#ifndef FLOW_IGNORE_FRAME_LIMITS
#define FLOW_IGNORE_FRAME_LIMITS 0
#endif

namespace flow {

/// The type of the parameter that FLOW_ASSERT_FRAME_SIZE declares. It is part of the coroutine's signature.
template <std::size_t Bytes>
struct FrameLimit {
    static_assert(Bytes > 0, "a frame of no bytes cannot be");
};

#define FLOW_ASSERT_FRAME_SIZE(bytes) ::flow::FrameLimit<(bytes)> = {}

} // namespace flow

namespace flow::detail {

/// A base class of every frame, without members. It puts the number of the result's bytes into the debug information.
template <std::size_t Bytes>
struct ResultBytes {};

/// The bytes of a cell in programs that are not checked, and the bytes that checked builds add to a promise.
inline constexpr std::size_t kPlainCellBytes = 32;
inline constexpr std::size_t kCheckedPromiseBytes = FLOW_CHECKED ? sizeof(void*) : 0;

/// Returns the bytes of the block of a computation with a result T and a frame of `frameBytes`, in an unchecked build.
template <class T>
constexpr std::size_t blockOfFrame(std::size_t frameBytes, std::size_t alignment = 16) {
    constexpr std::size_t kHead = kPrefixBytes<T> + kPlainCellBytes;
    std::size_t bytes = alignment > 16 ? alignedBytes(kHead, frameBytes, alignment) : kHead + frameBytes;
    memory::SizeClass sizeClass = memory::sizeClassOf(bytes);
    return sizeClass == memory::kSystemClass ? bytes : memory::blockBytes(sizeClass);
}

template <class Argument>
inline constexpr std::size_t kFrameLimit = 0;
template <std::size_t Bytes>
inline constexpr std::size_t kFrameLimit<FrameLimit<Bytes>> = FLOW_IGNORE_FRAME_LIMITS ? 0 : Bytes;

/// True if frames have the same size as in an optimised unchecked build, apart from the bytes of checks.
#if FLOW_CHECKED || FLOW_SYSTEM_BLOCKS || FLOW_THREAD_SANITIZER || !defined(__OPTIMIZE__)
inline constexpr bool kFramesAreFinal = !kClang; // gcc lays out frames before it optimises
#else
inline constexpr bool kFramesAreFinal = true;
#endif

/// Has no definition, so that the compiler reports a call that is left after optimisation. S shows the parameter types.
template <std::size_t Limit, class T, class S>
[[gnu::error(
    "this coroutine's frame takes more bytes than its FLOW_ASSERT_FRAME_SIZE: `actorc --frames` shows what for")]]
void frameIsLargerThanItsLimit();

/// Writes to standard error that a frame is too large; if `isFinal`, also ends the program.
void reportLargeFrame(std::size_t block, std::size_t limit, bool isFinal) noexcept;

/// Checks the limit of a coroutine. `bytes` is the size of its frame in an unchecked build.
template <class T, class S>
FLOW_INLINE void checkFrameSize(std::size_t bytes, std::size_t alignment) {
    std::size_t block = blockOfFrame<T>(bytes, alignment);
#ifdef __OPTIMIZE__
    if constexpr (kFramesAreFinal) {
        if (block > S::kFrameLimit)
            frameIsLargerThanItsLimit<S::kFrameLimit, T, S>();
        return;
    }
#endif
    if (block > S::kFrameLimit) [[unlikely]] {
        static const bool reported = (reportLargeFrame(block, S::kFrameLimit, kFramesAreFinal), true);
        (void)reported;
    }
}

} // namespace flow::detail
