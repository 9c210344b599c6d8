#pragma once
// FLOW_ASSERT_TRUE and other macros for conditions that must hold. If a condition does not hold, the macro prints the
// place and the running actor (in checked builds), and throws internal_error. flow/test.h has shorter macro names.
//
//     FLOW_ASSERT_TRUE(queue.empty());            // throws internal_error
//     FLOW_ASSERT_EQ(sent, received);             // prints both values: EQ NE LT LE GT GE
//     FLOW_ASSERT_NEAR(seconds, 1.5, 0.01);       // at most 0.01 apart; no number is near a NaN
//     FLOW_ASSERT_WE_THINK(size < 1000);          // checked builds throw, other builds only print
//     switch (kind) { ... default: FLOW_UNREACHABLE(); }
//
// The condition is always evaluated, exactly once. In a function that must not throw, internal_error ends the program.

#include "flow/base/assert.h"
#include "flow/base/to_text.h"

#include <cmath>
#include <functional>
#include <type_traits>
#include <utility>

namespace flow::detail {

/// Prints that `condition` does not hold, with `values` if they are not null, and the place.
void reportBreach(const char* condition, const char* values, const char* file, int line) noexcept;
[[noreturn]] void throwBreach(const char* condition, const char* values, const char* file, int line);

template <class T>
concept Integer =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char> && !std::is_same_v<T, wchar_t> &&
    !std::is_same_v<T, char8_t> && !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>;

template <class A, class B>
inline constexpr bool areIntegers = Integer<std::remove_cvref_t<A>> && Integer<std::remove_cvref_t<B>>;

template <class A, class B>
[[noreturn, gnu::noinline]] void throwUnequal(A const& a, B const& b, const char* condition, const char* file,
                                              int line) {
    throwBreach(condition, (toText(a) + " and " + toText(b)).c_str(), file, line);
}

/// Throws internal_error unless compare(a, b) is true. `compare` is a lambda in the macro, so that a compiler's error
/// about values that cannot be compared names the line of the assertion.
template <class A, class B, class Compare>
void assertThat(A const& a, B const& b, Compare compare, const char* condition, const char* file, int line) {
    if (!compare(a, b)) [[unlikely]]
        throwUnequal(a, b, condition, file, line);
}

inline void assertNear(double a, double b, double tolerance, const char* condition, const char* file, int line) {
    if (a != b && !(std::abs(a - b) <= tolerance)) [[unlikely]]
        throwBreach(condition, (toText(a) + " and " + toText(b) + ", not within " + toText(tolerance)).c_str(), file,
                    line);
}

} // namespace flow::detail

// From here on gcc shows an error where a macro is used, and not where it is defined.
#pragma GCC system_header

#define FLOW_ASSERT_TRUE(condition)                                                                                    \
    (__builtin_expect(static_cast<bool>(condition), true)                                                              \
         ? static_cast<void>(0)                                                                                        \
         : ::flow::detail::throwBreach(#condition, nullptr, __FILE__, __LINE__))

// A signed and an unsigned integer are compared by their values, and without a warning of the compiler.
#define FLOW_ASSERT_THAT(function, op, a, b)                                                                           \
    ::flow::detail::assertThat(                                                                                        \
        a, b,                                                                                                          \
        [](auto const& left, auto const& right) -> bool {                                                              \
            if constexpr (::flow::detail::areIntegers<decltype(left), decltype(right)>)                                \
                return ::std::function(left, right);                                                                   \
            else                                                                                                       \
                return left op right;                                                                                  \
        },                                                                                                             \
        #a " " #op " " #b, __FILE__, __LINE__)
/// Asserts compare(a, b), for comparisons of your own: `op` is their sign in the text of a failure.
#define FLOW_ASSERT_COMPARED(compare, op, a, b)                                                                        \
    ::flow::detail::assertThat(a, b, compare, #a " " #op " " #b, __FILE__, __LINE__)
#define FLOW_ASSERT_EQ(a, b) FLOW_ASSERT_THAT(cmp_equal, ==, a, b)
#define FLOW_ASSERT_NE(a, b) FLOW_ASSERT_THAT(cmp_not_equal, !=, a, b)
#define FLOW_ASSERT_LT(a, b) FLOW_ASSERT_THAT(cmp_less, <, a, b)
#define FLOW_ASSERT_LE(a, b) FLOW_ASSERT_THAT(cmp_less_equal, <=, a, b)
#define FLOW_ASSERT_GT(a, b) FLOW_ASSERT_THAT(cmp_greater, >, a, b)
#define FLOW_ASSERT_GE(a, b) FLOW_ASSERT_THAT(cmp_greater_equal, >=, a, b)
#define FLOW_ASSERT_NEAR(a, b, tolerance)                                                                              \
    ::flow::detail::assertNear(a, b, tolerance, #a " is near " #b, __FILE__, __LINE__)

#if FLOW_CHECKED
#define FLOW_ASSERT_WE_THINK FLOW_ASSERT_TRUE
#else
#define FLOW_ASSERT_WE_THINK(condition)                                                                                \
    (__builtin_expect(static_cast<bool>(condition), true)                                                              \
         ? static_cast<void>(0)                                                                                        \
         : ::flow::detail::reportBreach(#condition, nullptr, __FILE__, __LINE__))
#endif
#define FLOW_UNREACHABLE() ::flow::detail::throwBreach("UNREACHABLE()", nullptr, __FILE__, __LINE__)
