#pragma once
// Argument<T>: how a parameter of type T reaches an actor, which keeps one copy of it. Emitted code uses it where only
// C++ knows what T is.
//
//     Future<Void> store(Argument<Key> key, Argument<Lock> lock);   // Key const&, Lock&&

#include <type_traits>

namespace flow {

namespace detail {
template <class T>
struct ArgumentOf : std::type_identity<T const&> {}; // also for a T that is incomplete where the actor is declared
template <class T>
    requires(sizeof(T) != 0) && (!std::is_copy_constructible_v<T>) && std::is_move_constructible_v<T>
struct ArgumentOf<T> : std::type_identity<T&&> {};
} // namespace detail

/// T const&; for what can be moved but not copied, T&&.
template <class T>
using Argument = typename detail::ArgumentOf<T>::type;

/// Passes such a parameter on as it came, or makes the actor's own copy from it.
template <class T>
constexpr Argument<T> pass(std::remove_reference_t<Argument<T>>& argument) {
    return static_cast<Argument<T>>(argument);
}

} // namespace flow
