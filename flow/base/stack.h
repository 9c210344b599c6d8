#pragma once
// withRoom(): calls code that recurses as deeply as its data. Uses a new stack when the current stack gets short.
//
//     void destroy(Tree* tree) {
//         withRoom([tree] { ... destroy(tree->left); });
//     }
//
// The bounds of a thread's own stack and of the stacks of onNewStack() are known. The bounds of other stacks, such as
// the stack of a fiber, are unknown: on such a stack, 32 levels of withRoom() are allowed. If the memory of a fiber's
// stack is part of another stack, the fiber counts as code on that other stack.

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

/// Calls `work` by callWithRoom(). `work` is passed by value, so that the objects to which `work` refers can stay in
/// registers when withRoomDeep() is not called.
template <class Work>
[[gnu::noinline]] void withRoomDeep(Work work) noexcept {
    callWithRoom(callErased<Work>, &work);
}

} // namespace detail

/// True if only the reserve of the stack is left: a quarter of the stack, but at least 32 KiB and at most 1 MiB. The
/// reserve is for code that does not call stackIsShort().
bool stackIsShort() noexcept;

/// Calls `work` on a stack of 8 MiB, with TSan 2 MiB. Each thread keeps one for later calls. `work` must not throw. It
/// may switch to other fibers, but must end on this thread. If there is no memory, the program ends with a message.
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
