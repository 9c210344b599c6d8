#pragma once
// withRoom(): calls code that nests as deep as its data, on another stack when this one gets short.
//
//     void destroy(Tree* tree) {
//         withRoom([tree] { ... destroy(tree->left); });
//     }
//
// The bounds of a thread's own stack and of the stacks of onNewStack() are known. The bounds of other stacks, such as a
// fiber's, are not: on them, 32 levels of withRoom() are allowed. If the memory of a fiber's stack is part of another
// stack, the fiber counts as code on that other stack.

#include "flow/base/inline.h"

#include <type_traits>

namespace flow {
namespace detail {

inline constinit thread_local int stackLevels = 0; // the levels of withRoom() on this thread

void callWithRoom(void (*work)(void*), void* argument) noexcept;
void callOnNewStack(void (*work)(void*), void* argument) noexcept;

template <class Work>
void callErased(void* work) {
    (*static_cast<Work*>(work))();
}

/// Calls `work` by callWithRoom(). `work` is passed by value, so that objects to which it refers can stay in registers
/// when this function is not called.
template <class Work>
[[gnu::noinline]] void withRoomDeep(Work work) noexcept {
    callWithRoom(callErased<Work>, &work);
}

} // namespace detail

/// True if little stack is left: less than a quarter of it, but at least 32 KiB and at most 1 MiB. That rest is kept
/// for code that does not call this function.
bool stackIsShort() noexcept;

/// Calls `work` on a stack of 8 MiB, of which each thread keeps one. `work` must not throw; it may switch to other
/// fibers, if it continues on the same thread. Without memory for the stack the program ends with a message.
template <class Work>
void onNewStack(Work&& work) noexcept {
    detail::callOnNewStack(detail::callErased<std::remove_reference_t<Work>>, &work);
}

/// Calls `work` here, or on a new stack if this one is short. `work` must not throw. The first few levels are not
/// checked, since nearly all nesting ends there.
template <class Work>
FLOW_INLINE void withRoom(Work work) noexcept {
    constexpr int kUnchecked = 4;
    if (detail::stackLevels >= kUnchecked) [[unlikely]]
        return detail::withRoomDeep(work);
    ++detail::stackLevels;
    work();
    --detail::stackLevels;
}

} // namespace flow
