#pragma once
// Room on the stack, for code that nests as deep as its data:
//
//     void destroy(Tree* tree) {
//         if (stackIsShort())
//             return onNewStack([&] { destroyHere(tree); });
//         destroyHere(tree);
//     }

#include <type_traits>

namespace flow {

/// Whether less than a quarter of the stack is left that this thread runs on: its own, or one of onNewStack(). Also
/// true on any other, such as a fiber's, of which nothing is known.
bool stackIsShort() noexcept;

namespace detail {
void callOnNewStack(void (*work)(void*), void* argument) noexcept;
}

/// Calls `work` on a stack of 8 MiB that exists as long as the call. `work` must not throw. Where the system has no
/// memory for it, the call takes place on the stack as it is.
template <class Work>
void onNewStack(Work&& work) noexcept {
    using Called = std::remove_reference_t<Work>;
    detail::callOnNewStack([](void* called) { (*static_cast<Called*>(called))(); }, &work);
}

} // namespace flow
