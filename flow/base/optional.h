#pragma once
// Optional<T>: a value or no value, with the function names of Flow.
//
//     Optional<int> port = parse(text);
//     listen(port.orDefault(4500));
//     Optional<std::string> name = user.map([](User const& u) { return u.name; });
//
// get() without a value is an assertion failure, not an exception: check present() first. Copying copies the value.

#include "flow/base/assert.h"

#include <compare>
#include <concepts>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace flow {

template <class T>
class Optional {
public:
    using ValueType = T;

    Optional() = default;
    Optional(std::nullopt_t) {}
    template <class U = T>
        requires std::convertible_to<U&&, T> && (!std::same_as<std::remove_cvref_t<U>, Optional>)
    Optional(U&& value) : value_(std::forward<U>(value)) {}
    /// Converts an Optional<U>, if a U converts to a T.
    template <class U>
        requires std::convertible_to<U const&, T> && (!std::convertible_to<Optional<U> const&, T>)
    Optional(Optional<U> const& other) {
        if (other.present())
            value_.emplace(other.get());
    }
    /// Copies `other`, and copies the data of its value into `arena`. T must keep its data in an arena.
    template <class Arena>
        requires std::constructible_from<T, Arena&, T const&>
    Optional(Arena& arena, Optional const& other) {
        if (other.present())
            value_.emplace(arena, other.get());
    }

    bool present() const { return value_.has_value(); }
    explicit operator bool() const { return present(); }

    T const& get(detail::Caller caller = detail::Caller::current()) const& { return *checked(caller); }
    T& get(detail::Caller caller = detail::Caller::current()) & { return const_cast<T&>(*checked(caller)); }
    T&& get(detail::Caller caller = detail::Caller::current()) && { return std::move(get(caller)); }
    T const& operator*() const& { return *checked(); }
    T& operator*() & { return const_cast<T&>(*checked()); }
    T&& operator*() && { return std::move(**this); }
    T const* operator->() const { return checked(); }
    T* operator->() { return &get(); }

    template <class U>
    T orDefault(U&& otherwise) const& {
        return present() ? *value_ : static_cast<T>(std::forward<U>(otherwise));
    }
    template <class U>
    T orDefault(U&& otherwise) && {
        return present() ? std::move(*value_) : static_cast<T>(std::forward<U>(otherwise));
    }

    /// Returns function(value, args...), or an empty Optional if there is no value. `function` may be a member pointer.
    template <class F, class... Args>
    auto map(F&& function, Args&&... args) const
        -> Optional<std::remove_cvref_t<std::invoke_result_t<F, T const&, Args...>>> {
        if (!present())
            return {};
        return std::apply(std::forward<F>(function), std::forward_as_tuple(*value_, std::forward<Args>(args)...));
    }
    /// map() of an overloaded function of the value: `text.map<StringRef>(&StringRef::substr, 2)`.
    template <class R, class C = T, class... Args>
    Optional<std::remove_cvref_t<R>> map(R (C::*function)(Args...) const, Args&&... args) const {
        return map([&](T const& value) -> decltype(auto) { return (value.*function)(std::forward<Args>(args)...); });
    }
    /// Like map(), for a function that returns an Optional.
    template <class F, class... Args>
    auto flatMap(F&& function, Args&&... args) const
        -> std::remove_cvref_t<std::invoke_result_t<F, T const&, Args...>> {
        if (!present())
            return {};
        return std::apply(std::forward<F>(function), std::forward_as_tuple(*value_, std::forward<Args>(args)...));
    }
    /// Like map() and flatMap(), for a value that is a pointer or a Reference: `function` is called with the object to
    /// which the value points. The result is empty if the value is null.
    template <class F, class... Args, class Pointer = T>
    auto mapRef(F&& function, Args&&... args) const
        -> Optional<std::remove_cvref_t<std::invoke_result_t<F, decltype(*std::declval<Pointer const&>()), Args...>>> {
        if (!present() || !*value_)
            return {};
        return std::apply(std::forward<F>(function), std::forward_as_tuple(**value_, std::forward<Args>(args)...));
    }
    template <class F, class... Args, class Pointer = T>
    auto flatMapRef(F&& function, Args&&... args) const
        -> std::remove_cvref_t<std::invoke_result_t<F, decltype(*std::declval<Pointer const&>()), Args...>> {
        if (!present() || !*value_)
            return {};
        return std::apply(std::forward<F>(function), std::forward_as_tuple(**value_, std::forward<Args>(args)...));
    }
    /// Returns the value, converted explicitly to a U; an empty Optional if there is no value.
    template <class U>
    Optional<U> castTo() const {
        return map([](T const& value) { return static_cast<U>(value); });
    }

    template <class... Args>
    T& emplace(Args&&... args) {
        return value_.emplace(std::forward<Args>(args)...);
    }
    void reset() { value_.reset(); }

    /// Two empty Optionals are equal. An empty Optional comes before every value.
    friend bool operator==(Optional const& a, Optional const& b)
        requires std::equality_comparable<T>
    {
        return a.value_ == b.value_;
    }
    friend auto operator<=>(Optional const& a, Optional const& b)
        requires std::three_way_comparable<T>
    {
        return a.value_ <=> b.value_;
    }

private:
    /// Returns the address of the value. The operators pass no `caller`.
    T const* checked(detail::Caller caller = detail::Caller()) const {
        FLOW_ASSERT_AT(caller, value_.has_value(), "Optional::get() of nothing");
        return &*value_;
    }

    std::optional<T> value_;
};

template <class T>
Optional(T) -> Optional<T>;

} // namespace flow

template <class T>
struct std::hash<flow::Optional<T>> {
    std::size_t operator()(flow::Optional<T> const& optional) const {
        return optional.present() ? std::hash<T>()(optional.get()) : 0;
    }
};
