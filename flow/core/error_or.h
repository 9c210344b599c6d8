#pragma once
// ErrorOr<T>: a value or an error, as a plain value.
//
//     ErrorOr<int> answer = co_await tryGet(future);
//     if (answer.present()) use(answer.get()); else log(answer.getError());
//
// An ErrorOr<Error> that is made from an Error holds it as a value. ErrorOr<Error>::failed(e) holds e as an error.

#include "flow/base/assert.h"
#include "flow/base/error.h"

#include <concepts>
#include <tuple>
#include <utility>
#include <variant>

namespace flow {

template <class T>
class ErrorOr;

namespace detail {
template <class T>
inline constexpr bool kIsErrorOr = false;
template <class T>
inline constexpr bool kIsErrorOr<ErrorOr<T>> = true;
} // namespace detail

template <class T>
class ErrorOr {
public:
    using Element = T;

    /// Holds default_error_or.
    ErrorOr() : ErrorOr(kFailed, default_error_or()) {}
    ErrorOr(T value) : content_(std::in_place_index<0>, std::move(value)) {}
    ErrorOr(Error error)
        requires(!std::same_as<T, Error>)
        : ErrorOr(kFailed, error) {}
    /// Holds a T that is converted from `value`, such as a std::string from a literal.
    template <class U>
        requires(!std::same_as<std::remove_cvref_t<U>, T> && std::convertible_to<U, T> &&
                 !std::convertible_to<U, Error> && !detail::kIsErrorOr<std::remove_cvref_t<U>>)
    ErrorOr(U&& value) : content_(std::in_place_index<0>, std::forward<U>(value)) {}
    /// Converts an ErrorOr<U>, if a U converts to a T.
    template <class U>
        requires(!std::same_as<U, T> && std::convertible_to<U, T>)
    ErrorOr(ErrorOr<U> const& other)
        : ErrorOr(other.present() ? ErrorOr(static_cast<T>(other.get())) : failed(other.getError())) {}

    /// Returns an ErrorOr that holds `error` as an error, also if T is Error.
    static ErrorOr failed(Error error) { return ErrorOr(kFailed, error); }

    bool present() const { return content_.index() == 0; }
    bool isError() const { return !present(); }
    bool isError(int code) const { return isError() && getError().code() == code; }

    /// Returns the value; throws the error if there is no value.
    T const& get() const& {
        throwIfError();
        return std::get<0>(content_);
    }
    T& get() & {
        throwIfError();
        return std::get<0>(content_);
    }
    T get() && {
        throwIfError();
        return std::get<0>(std::move(content_));
    }
    T const& operator*() const& { return get(); }
    T& operator*() & { return get(); }
    T operator*() && { return std::move(*this).get(); }
    T const* operator->() const { return &get(); }
    T* operator->() { return &get(); }
    template <class U>
    T orDefault(U&& otherwise) const {
        return present() ? std::get<0>(content_) : static_cast<T>(std::forward<U>(otherwise));
    }
    Error getError(detail::Caller caller = detail::Caller::current()) const {
        FLOW_ASSERT_AT(caller, isError(), "ErrorOr::getError() on a value");
        return std::get<1>(content_);
    }

    /// Returns function(value, args...), or the error if there is no value. `function` may be a pointer to a member.
    template <class F, class... Args>
    auto map(F&& function, Args&&... args) const
        -> ErrorOr<std::remove_cvref_t<std::invoke_result_t<F, T const&, Args...>>> {
        using Result = ErrorOr<std::remove_cvref_t<std::invoke_result_t<F, T const&, Args...>>>;
        if (!present())
            return Result::failed(getError());
        return Result(std::apply(std::forward<F>(function), std::forward_as_tuple(get(), std::forward<Args>(args)...)));
    }
    /// map() of an overloaded function of the value: `text.map<StringRef>(&StringRef::substr, 2)`.
    template <class R, class C = T, class... Args>
    ErrorOr<std::remove_cvref_t<R>> map(R (C::*function)(Args...) const, Args&&... args) const {
        return map([&](T const& value) -> decltype(auto) { return (value.*function)(std::forward<Args>(args)...); });
    }
    /// Like map(), for a function that returns an ErrorOr.
    template <class F, class... Args>
    auto flatMap(F&& function, Args&&... args) const
        -> std::remove_cvref_t<std::invoke_result_t<F, T const&, Args...>> {
        using Result = std::remove_cvref_t<std::invoke_result_t<F, T const&, Args...>>;
        if (!present())
            return Result::failed(getError());
        return Result(std::apply(std::forward<F>(function), std::forward_as_tuple(get(), std::forward<Args>(args)...)));
    }
    /// Like map() and flatMap(), for a value that is a pointer or a Reference: `function` is called with the object to
    /// which the value points. A null pointer ends the program.
    template <class F, class... Args, class Pointer = T>
    auto mapRef(F&& function, Args&&... args) const
        -> ErrorOr<std::remove_cvref_t<std::invoke_result_t<F, decltype(*std::declval<Pointer const&>()), Args...>>> {
        using Result =
            ErrorOr<std::remove_cvref_t<std::invoke_result_t<F, decltype(*std::declval<Pointer const&>()), Args...>>>;
        if (!present())
            return Result::failed(getError());
        return Result(
            std::apply(std::forward<F>(function), std::forward_as_tuple(pointee(), std::forward<Args>(args)...)));
    }
    template <class F, class... Args, class Pointer = T>
    auto flatMapRef(F&& function, Args&&... args) const
        -> std::remove_cvref_t<std::invoke_result_t<F, decltype(*std::declval<Pointer const&>()), Args...>> {
        using Result = std::remove_cvref_t<std::invoke_result_t<F, decltype(*std::declval<Pointer const&>()), Args...>>;
        if (!present())
            return Result::failed(getError());
        return Result(
            std::apply(std::forward<F>(function), std::forward_as_tuple(pointee(), std::forward<Args>(args)...)));
    }
    /// Returns the value as an R; the same error if there is no value.
    template <class R>
    ErrorOr<R> castTo() const {
        return map([](T const& value) { return static_cast<R>(value); });
    }

    friend bool operator==(ErrorOr const& a, ErrorOr const& b)
        requires std::equality_comparable<T>
    {
        return a.content_ == b.content_;
    }

private:
    enum Failed { kFailed };

    ErrorOr(Failed, Error error) : content_(std::in_place_index<1>, error) {
        FLOW_ASSERT(error.isValid(), "an ErrorOr cannot be made from an Error that was not set");
    }

    decltype(auto) pointee() const {
        FLOW_ASSERT(static_cast<bool>(get()), "ErrorOr::mapRef() of a null pointer");
        return *get();
    }
    void throwIfError() const {
        if (isError())
            throw Error(std::get<1>(content_));
    }

    std::variant<T, Error> content_;
};

} // namespace flow
