#pragma once
// forMembers(): calls a function with all members of a plain struct, in order of declaration.
//
//     struct Point { int x = 0, y = 0; std::string name; };
//     forMembers(point, [](auto&... members) { serializer(ar, members...); });
//
// A plain struct is an aggregate (no constructor, no private member, no virtual function) of at most kMostMembers
// members. Each member can be made from `{}`. A plain struct has no base class, no C array (std::array can be used) and
// no bit-field. Other structs do not compile: a static_assert names the reason, but not for a bit-field.

#include <concepts>
#include <type_traits>

namespace flow {

constexpr int kMostMembers = 32;

namespace detail {

/// Converts to each base class of T, and to nothing else.
template <class T>
struct AnyBase {
    template <class Base>
        requires std::is_base_of_v<Base, T> && (!std::same_as<Base, T>)
    operator Base() const;
};
/// Converts to no type. A first member that accepts a NoBase accepts any type, so it accepts an AnyBase too.
struct NoBase {};
template <class T>
concept HasBase = requires { T{AnyBase<T>()}; } && !requires { T{NoBase()}; };

#define FLOW_NONE_4                                                                                                    \
    {}, {}, {}, {}
#define FLOW_NONE_8 FLOW_NONE_4, FLOW_NONE_4
#define FLOW_NONE_16 FLOW_NONE_8, FLOW_NONE_8
/// Returns the number of members: the largest number of `{}` that can initialise a T. An array takes one `{}` too.
template <class T>
consteval int countMembers() {
    // clang-format off
#define FLOW_TRY(count, ...) if constexpr (!requires { T{__VA_ARGS__}; }) return count - 1; else
    FLOW_TRY(1, {})
    FLOW_TRY(2, {}, {})
    FLOW_TRY(3, {}, {}, {})
    FLOW_TRY(4, FLOW_NONE_4)
    FLOW_TRY(5, FLOW_NONE_4, {})
    FLOW_TRY(6, FLOW_NONE_4, {}, {})
    FLOW_TRY(7, FLOW_NONE_4, {}, {}, {})
    FLOW_TRY(8, FLOW_NONE_8)
    FLOW_TRY(9, FLOW_NONE_8, {})
    FLOW_TRY(10, FLOW_NONE_8, {}, {})
    FLOW_TRY(11, FLOW_NONE_8, {}, {}, {})
    FLOW_TRY(12, FLOW_NONE_8, FLOW_NONE_4)
    FLOW_TRY(13, FLOW_NONE_8, FLOW_NONE_4, {})
    FLOW_TRY(14, FLOW_NONE_8, FLOW_NONE_4, {}, {})
    FLOW_TRY(15, FLOW_NONE_8, FLOW_NONE_4, {}, {}, {})
    FLOW_TRY(16, FLOW_NONE_16)
    FLOW_TRY(17, FLOW_NONE_16, {})
    FLOW_TRY(18, FLOW_NONE_16, {}, {})
    FLOW_TRY(19, FLOW_NONE_16, {}, {}, {})
    FLOW_TRY(20, FLOW_NONE_16, FLOW_NONE_4)
    FLOW_TRY(21, FLOW_NONE_16, FLOW_NONE_4, {})
    FLOW_TRY(22, FLOW_NONE_16, FLOW_NONE_4, {}, {})
    FLOW_TRY(23, FLOW_NONE_16, FLOW_NONE_4, {}, {}, {})
    FLOW_TRY(24, FLOW_NONE_16, FLOW_NONE_8)
    FLOW_TRY(25, FLOW_NONE_16, FLOW_NONE_8, {})
    FLOW_TRY(26, FLOW_NONE_16, FLOW_NONE_8, {}, {})
    FLOW_TRY(27, FLOW_NONE_16, FLOW_NONE_8, {}, {}, {})
    FLOW_TRY(28, FLOW_NONE_16, FLOW_NONE_8, FLOW_NONE_4)
    FLOW_TRY(29, FLOW_NONE_16, FLOW_NONE_8, FLOW_NONE_4, {})
    FLOW_TRY(30, FLOW_NONE_16, FLOW_NONE_8, FLOW_NONE_4, {}, {})
    FLOW_TRY(31, FLOW_NONE_16, FLOW_NONE_8, FLOW_NONE_4, {}, {}, {})
    FLOW_TRY(32, FLOW_NONE_16, FLOW_NONE_16)
    FLOW_TRY(33, FLOW_NONE_16, FLOW_NONE_16, {})
    return kMostMembers + 1;
#undef FLOW_TRY
    // clang-format on
}
#undef FLOW_NONE_4
#undef FLOW_NONE_8
#undef FLOW_NONE_16

template <class... Members, class Function>
void callWith(Function& function, Members&... members) {
    constexpr bool kHasArray = (std::is_array_v<Members> || ...);
    static_assert(!kHasArray, "an array in a struct without a member `serialize`: make it a std::array");
    if constexpr (!kHasArray)
        function(members...);
}

} // namespace detail

template <class T, class Function>
void forMembers(T& value, Function function) {
    constexpr bool kHasBase = detail::HasBase<std::remove_const_t<T>>;
    constexpr int kCount = detail::countMembers<std::remove_const_t<T>>();
    static_assert(!kHasBase, "a struct with a base class needs a member `template <class Ar> void serialize(Ar& ar)`");
    static_assert(kCount <= kMostMembers, "a struct of so many members needs a member `template <class Ar> void "
                                          "serialize(Ar& ar)`");
    // clang-format off
#define FLOW_BIND(count, ...)                                                                                          \
    else if constexpr (kCount == count) {                                                                              \
        auto& [__VA_ARGS__] = value;                                                                                   \
        detail::callWith(function, __VA_ARGS__);                                                                       \
    }
#define FLOW_NAMES_8 a, b, c, d, e, f, g, h
#define FLOW_NAMES_16 i, j, k, l, m, n, o, p
#define FLOW_NAMES_24 q, r, s, t, u, v, w, x
#define FLOW_NAMES_32 y, z, aa, bb, cc, dd, ee, ff
    if constexpr (kHasBase || kCount > kMostMembers) {
    } else if constexpr (kCount == 0) {
        function();
    }
    FLOW_BIND(1, a)
    FLOW_BIND(2, a, b)
    FLOW_BIND(3, a, b, c)
    FLOW_BIND(4, a, b, c, d)
    FLOW_BIND(5, a, b, c, d, e)
    FLOW_BIND(6, a, b, c, d, e, f)
    FLOW_BIND(7, a, b, c, d, e, f, g)
    FLOW_BIND(8, FLOW_NAMES_8)
    FLOW_BIND(9, FLOW_NAMES_8, i)
    FLOW_BIND(10, FLOW_NAMES_8, i, j)
    FLOW_BIND(11, FLOW_NAMES_8, i, j, k)
    FLOW_BIND(12, FLOW_NAMES_8, i, j, k, l)
    FLOW_BIND(13, FLOW_NAMES_8, i, j, k, l, m)
    FLOW_BIND(14, FLOW_NAMES_8, i, j, k, l, m, n)
    FLOW_BIND(15, FLOW_NAMES_8, i, j, k, l, m, n, o)
    FLOW_BIND(16, FLOW_NAMES_8, FLOW_NAMES_16)
    FLOW_BIND(17, FLOW_NAMES_8, FLOW_NAMES_16, q)
    FLOW_BIND(18, FLOW_NAMES_8, FLOW_NAMES_16, q, r)
    FLOW_BIND(19, FLOW_NAMES_8, FLOW_NAMES_16, q, r, s)
    FLOW_BIND(20, FLOW_NAMES_8, FLOW_NAMES_16, q, r, s, t)
    FLOW_BIND(21, FLOW_NAMES_8, FLOW_NAMES_16, q, r, s, t, u)
    FLOW_BIND(22, FLOW_NAMES_8, FLOW_NAMES_16, q, r, s, t, u, v)
    FLOW_BIND(23, FLOW_NAMES_8, FLOW_NAMES_16, q, r, s, t, u, v, w)
    FLOW_BIND(24, FLOW_NAMES_8, FLOW_NAMES_16, FLOW_NAMES_24)
    FLOW_BIND(25, FLOW_NAMES_8, FLOW_NAMES_16, FLOW_NAMES_24, y)
    FLOW_BIND(26, FLOW_NAMES_8, FLOW_NAMES_16, FLOW_NAMES_24, y, z)
    FLOW_BIND(27, FLOW_NAMES_8, FLOW_NAMES_16, FLOW_NAMES_24, y, z, aa)
    FLOW_BIND(28, FLOW_NAMES_8, FLOW_NAMES_16, FLOW_NAMES_24, y, z, aa, bb)
    FLOW_BIND(29, FLOW_NAMES_8, FLOW_NAMES_16, FLOW_NAMES_24, y, z, aa, bb, cc)
    FLOW_BIND(30, FLOW_NAMES_8, FLOW_NAMES_16, FLOW_NAMES_24, y, z, aa, bb, cc, dd)
    FLOW_BIND(31, FLOW_NAMES_8, FLOW_NAMES_16, FLOW_NAMES_24, y, z, aa, bb, cc, dd, ee)
    FLOW_BIND(32, FLOW_NAMES_8, FLOW_NAMES_16, FLOW_NAMES_24, FLOW_NAMES_32)
#undef FLOW_BIND
#undef FLOW_NAMES_8
#undef FLOW_NAMES_16
#undef FLOW_NAMES_24
#undef FLOW_NAMES_32
    // clang-format on
}

} // namespace flow
