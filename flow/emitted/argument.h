#pragma once
// Argument<T>: the type of an actor's parameter that is declared with type T. The actor keeps one copy of the argument.
// actorc emits Argument if it knows only the name of T: the C++ compiler finds out if T can be copied.
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

template <class T>
using Argument = typename detail::ArgumentOf<T>::type;

namespace detail {
template <class A>
struct OwnOf : std::type_identity<A> {};
template <class T>
struct OwnOf<T const&> : std::type_identity<T> {};
template <class T>
struct OwnOf<T&&> : std::type_identity<T> {};
} // namespace detail

/// The type T of an Argument<T>, which the actor keeps.
template <class A>
using Own = typename detail::OwnOf<A>::type;

} // namespace flow
