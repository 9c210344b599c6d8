#pragma once
// RaceResult<T...>: the result of a race, with the index and the value of the operand that came first. Winner<T>: the
// result of a race of operands that all have one type.
//
//     auto first = co_await race(reply, delay(1.0));       // RaceResult<Reply, Void>
//     if (first.index() == 0) use(std::get<0>(first));     // throws std::bad_variant_access for any other index
//     std::visit(..., std::move(first).variant());
//
//     Winner<Row> fastest = co_await race(replicas);       // a std::vector<Future<Row>>
//     use(fastest.index(), fastest.value());
//
// std::get<Reply>(first) works if only one operand has values of the type Reply. A RaceResult is used like a
// std::variant. As a separate class, it gives one short error for a get with an index or type that no operand has.

#include <concepts>
#include <cstddef>
#include <utility>
#include <variant>

namespace flow {

template <class... T>
class RaceResult {
public:
    template <std::size_t I, class... Args>
    explicit RaceResult(std::in_place_index_t<I> index, Args&&... args)
        : variant_(index, std::forward<Args>(args)...) {}

    /// Returns the index, from 0, of the operand that came first.
    std::size_t index() const { return variant_.index(); }
    std::variant<T...>& variant() & { return variant_; }
    std::variant<T...> const& variant() const& { return variant_; }
    std::variant<T...>&& variant() && { return std::move(variant_); }

private:
    std::variant<T...> variant_;
};

/// The operand of a range that came first, or one of several that came first together, with its index and its value.
template <class T>
class Winner {
public:
    Winner(std::size_t index, T value) : index_(index), value_(std::move(value)) {}

    std::size_t index() const { return index_; }
    T& value() & { return value_; }
    T const& value() const& { return value_; }
    T&& value() && { return std::move(value_); }

private:
    std::size_t index_;
    T value_;
};

namespace detail {
template <std::size_t I, std::size_t Count, class Variant>
constexpr decltype(auto) raceValue(Variant&& variant) {
    static_assert(I < Count, "std::get<I> of a race's result: the race has no operand I; they are counted from 0");
    if constexpr (I < Count)
        return std::get<I>(std::forward<Variant>(variant));
    else
        return std::get<0>(std::forward<Variant>(variant)); // so that the compiler reports nothing more
}
template <class Wanted, class... T, class Variant>
constexpr decltype(auto) raceValueOf(Variant&& variant) {
    constexpr std::size_t kCount = (0 + ... + std::same_as<Wanted, T>);
    static_assert(kCount == 1, "std::get<T> of a race's result: no operand has values of type T, or several have");
    if constexpr (kCount == 1)
        return std::get<Wanted>(std::forward<Variant>(variant));
    else
        return std::get<0>(std::forward<Variant>(variant));
}
} // namespace detail
} // namespace flow

// The standard allows no overloads in std, but users write std::get<I>, as they do for a std::variant. If RaceResult
// were derived from std::variant, a std::get with an index that is too high would give 120 lines of errors.
namespace std {
template <size_t I, class... T>
constexpr decltype(auto) get(flow::RaceResult<T...>& result) {
    return flow::detail::raceValue<I, sizeof...(T)>(result.variant());
}
template <size_t I, class... T>
constexpr decltype(auto) get(flow::RaceResult<T...> const& result) {
    return flow::detail::raceValue<I, sizeof...(T)>(result.variant());
}
template <size_t I, class... T>
constexpr decltype(auto) get(flow::RaceResult<T...>&& result) {
    return flow::detail::raceValue<I, sizeof...(T)>(std::move(result).variant());
}
template <class Wanted, class... T>
constexpr decltype(auto) get(flow::RaceResult<T...>& result) {
    return flow::detail::raceValueOf<Wanted, T...>(result.variant());
}
template <class Wanted, class... T>
constexpr decltype(auto) get(flow::RaceResult<T...> const& result) {
    return flow::detail::raceValueOf<Wanted, T...>(result.variant());
}
template <class Wanted, class... T>
constexpr decltype(auto) get(flow::RaceResult<T...>&& result) {
    return flow::detail::raceValueOf<Wanted, T...>(std::move(result).variant());
}
} // namespace std
