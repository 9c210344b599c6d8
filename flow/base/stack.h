#pragma once
// Room on the stack, for code that nests as deep as its data:
//
//     void destroy(Tree* tree) {
//         withRoom([tree] { ... destroy(tree->left); });
//     }
//
// The bounds of a thread's own stack and of the stacks of onNewStack() are known. The bounds of other stacks, such as a
// fiber's, are not: there 32 levels of withRoom() are allowed. A fiber with a stack that is an object on another stack
// is not distinguished from that stack.

#include "flow/base/inline.h"

#include <type_traits>

namespace flow {
namespace detail {

inline constinit thread_local int stackLevels = 0; // of withRoom()

void callWithRoom(void (*work)(void*), void* argument) noexcept;
void callOnNewStack(void (*work)(void*), void* argument) noexcept;

template <class Work>
void callErased(void* work) {
    (*static_cast<Work*>(work))();
}

/// Takes the work by value, so that the objects to which it refers can stay in registers if this is not called.
template <class Work>
[[gnu::noinline]] void withRoomDeep(Work work) noexcept {
    callWithRoom(callErased<Work>, &work);
}

} // namespace detail

/// True if the rest of the stack should be kept for code that does not call this: a quarter of it, but no more than 1
/// MiB and no less than 32 KiB.
bool stackIsShort() noexcept;

/// Calls `work` on a stack of 8 MiB, of which each thread keeps one. `work` must not throw; it may switch to other
/// fibers, if it continues on the same thread. Without memory for the stack the program ends with a message.
template <class Work>
void onNewStack(Work&& work) noexcept {
    detail::callOnNewStack(detail::callErased<std::remove_reference_t<Work>>, &work);
}

/// Calls `work` here, or on a new stack if this one is short. `work` must not throw. The first few levels are not
/// checked: nearly all calls end there.
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
