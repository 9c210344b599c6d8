#pragma once
// kCopied<T>: true if a T can be copied. std::is_copy_constructible is wrong for a container with elements that cannot
// be copied, and for an optional, a tuple or the like of such a container. For all other types both are equal.
//
//     static_assert(std::is_copy_constructible_v<std::vector<std::unique_ptr<int>>>); // a copy does not compile
//     static_assert(!kCopied<std::vector<std::unique_ptr<int>>>);

#include "flow/base/optional.h"
#include "flow/core/error_or.h"

#include <array>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace flow::detail {

template <class T>
inline constexpr bool kCopied = std::is_copy_constructible_v<T>;
template <template <class...> class Container, class T, class... More> // a vector, a set
    requires std::is_same_v<typename Container<T, More...>::value_type, T> &&
                 requires { typename Container<T, More...>::allocator_type; }
inline constexpr bool kCopied<Container<T, More...>> =
    std::is_copy_constructible_v<Container<T, More...>> && kCopied<T>;
template <template <class...> class Container, class Key, class T, class... More> // a map
    requires std::is_same_v<typename Container<Key, T, More...>::value_type, std::pair<Key const, T>> &&
                 requires { typename Container<Key, T, More...>::allocator_type; }
inline constexpr bool kCopied<Container<Key, T, More...>> =
    std::is_copy_constructible_v<Container<Key, T, More...>> && kCopied<Key> && kCopied<T>;
template <class T>
inline constexpr bool kCopied<std::optional<T>> = kCopied<T>;
template <class T>
inline constexpr bool kCopied<Optional<T>> = kCopied<T>;
template <class T>
inline constexpr bool kCopied<ErrorOr<T>> = kCopied<T>;
template <class T, std::size_t N>
inline constexpr bool kCopied<std::array<T, N>> = kCopied<T>;
template <class A, class B>
inline constexpr bool kCopied<std::pair<A, B>> = kCopied<A> && kCopied<B>;
template <class... T>
inline constexpr bool kCopied<std::tuple<T...>> = (... && kCopied<T>);
template <class... T>
inline constexpr bool kCopied<std::variant<T...>> = (... && kCopied<T>);

} // namespace flow::detail
