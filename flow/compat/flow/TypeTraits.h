#pragma once
// Functions on std::variant types, under the old header name.
//
//     variant_concat<std::variant<int>, std::variant<bool, char>>       // std::variant<int, bool, char>
//     variant_map<std::variant<int, bool>, std::add_pointer_t>          // std::variant<int*, bool*>

#include <variant>

template <class First, class Second>
struct variant_concat_t;
template <class... First, class... Second>
struct variant_concat_t<std::variant<First...>, std::variant<Second...>> {
    using type = std::variant<First..., Second...>;
};
template <class First, class Second>
using variant_concat = typename variant_concat_t<First, Second>::type;

template <class Variant, template <class> class Made>
struct variant_map_t;
template <class... Types, template <class> class Made>
struct variant_map_t<std::variant<Types...>, Made> {
    using type = std::variant<Made<Types>...>;
};
template <class Variant, template <class> class Made>
using variant_map = typename variant_map_t<Variant, Made>::type;
