#pragma once
// withRoom(): calls code that recurses as deeply as its data. Uses a new stack when the current stack gets short.
//
//     void destroy(Tree* tree) {
//         withRoom([tree] { ... destroy(tree->left); });
//     }
//
// The bounds are known for a thread's own stack and for stacks of onNewStack(). On other stacks, such as a fiber's, 32
// levels of withRoom() are allowed. If a fiber's stack is a part of another stack, that stack's bounds are used.

#include "flow/base/inline.h"

#include <type_traits>

namespace flow {
namespace detail {

inline constinit thread_local int stackLevels = 0; // the number of nested withRoom() calls on this thread

void callWithRoom(void (*work)(void*), void* argument) noexcept;
void callOnNewStack(void (*work)(void*), void* argument) noexcept;

template <class Work>
void callErased(void* work) {
    (*static_cast<Work*>(work))();
}

/// `work` is passed by value, so that objects to which it refers stay in registers if withRoomDeep() is not called.
template <class Work>
[[gnu::noinline]] void withRoomDeep(Work work) noexcept {
    callWithRoom(callErased<Work>, &work);
}

} // namespace detail

/// True if only the stack's reserve is left: a quarter, 32 KiB to 1 MiB, for code that does not call stackIsShort().
bool stackIsShort() noexcept;

/// Calls `work` on a stack of 8 MiB (with TSan: 2 MiB). Each thread keeps one stack for later calls. `work` must not
/// throw, may switch to other fibers, and must end on this thread. Without memory, the program ends with a message.
template <class Work>
void onNewStack(Work&& work) noexcept {
    detail::callOnNewStack(detail::callErased<std::remove_reference_t<Work>>, &work);
}

/// Calls `work` on the current stack, or on a new stack if the current one is short. `work` must not throw. The first 4
/// nested calls do not check the stack, because nearly all nesting is less deep.
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
