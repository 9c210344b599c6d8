#pragma once
// Argument<T>: the type with which an actor declares a parameter of type T. The actor keeps one copy of the argument.
// actorc emits Argument if it knows only the name of T: the C++ compiler finds out whether T can be copied.
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

/// T const&, or T&& for a T that can be moved but not copied.
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

/// The T of an Argument<T>: the type that the actor keeps.
template <class A>
using Own = typename detail::OwnOf<A>::type;

} // namespace flow
