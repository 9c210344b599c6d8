#pragma once
// Parameters<Args...>: pointers to the parameters in a coroutine's frame, to destroy them in the right order. Used only
// if the compiler's `destroy` has another order (kDestroysInOrder is false).
//
//     Parameters<int, Future<int>> parameters(number, future);   // in the promise's constructor, which gets both
//     parameters.destroy();                                      // destroys the parameters, the last one first
//     parameters.empty();                                        // destroys their contents, and not the objects

#include "flow/base/inline.h"

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace flow::coro {

/// True if a parameter gets into the frame without an exception: by a move, or by a copy if it is declared const.
template <class T>
inline constexpr bool kTakenOverSafely =
    std::is_reference_v<T> || (std::is_nothrow_move_constructible_v<T> &&
                               (std::is_nothrow_copy_constructible_v<T> || !std::is_copy_constructible_v<T>));

/// Pointers to the parameters that have a destructor.
template <class... Args>
class Parameters {
public:
    static constexpr bool kCanEmpty = true, kCanEmptyAll = true;

    void destroy() const noexcept {}
    void empty() const noexcept {}
    void emptyAll() const noexcept {}
};
template <class First, class... Rest>
    requires(std::is_trivially_destructible_v<First>)
class Parameters<First, Rest...> : public Parameters<Rest...> {
public:
    FLOW_INLINE explicit Parameters(auto&, auto&... rest)
        requires(sizeof...(rest) == sizeof...(Rest))
        : Parameters<Rest...>(rest...) {}
    /// For a lambda: clang does not pass the lambda object, which has the type First, to the promise.
    FLOW_INLINE explicit Parameters(auto&... rest)
        requires(sizeof...(rest) == sizeof...(Rest))
        : Parameters<Rest...>(rest...) {}
};
template <class First, class... Rest>
    requires(!std::is_trivially_destructible_v<First>)
class Parameters<First, Rest...> : public Parameters<Rest...> {
public:
    /// True if empty() destroys the contents of all parameters but the first in the right order: the last one first.
    static constexpr bool kCanEmpty = Parameters<Rest...>::kCanEmptyAll;
    static constexpr bool kCanEmptyAll =
        kCanEmpty && !std::is_const_v<First> && std::is_nothrow_move_constructible_v<First>;

    FLOW_INLINE explicit Parameters(auto& first, auto&... rest)
        : Parameters<Rest...>(rest...), first_(const_cast<First*>(__builtin_addressof(first))) {}
    FLOW_INLINE void destroy() const noexcept {
        Parameters<Rest...>::destroy();
        first_->~First();
    }
    /// Moves out the contents of the parameters, and destroys these contents, the last parameter first. The first
    /// parameter keeps its contents: it is the next one that the compiler destroys. A parameter that is const, or has
    /// no noexcept move, is destroyed in the compiler's order.
    FLOW_INLINE void empty() const noexcept { Parameters<Rest...>::emptyAll(); }
    FLOW_INLINE void emptyAll() const noexcept {
        Parameters<Rest...>::emptyAll();
        if constexpr (!std::is_const_v<First> && std::is_nothrow_move_constructible_v<First>) {
            [[maybe_unused]] First content(std::move(*first_));
        }
    }

private:
    First* first_;
};

} // namespace flow::coro
