#pragma once
// Seconds: a length of time, made from a number of seconds or from a std::chrono duration. It converts to double.
//
//     co_await delay(0.5);
//     co_await delay(500ms);                         // using namespace std::chrono_literals
//     TransportOptions options{.timeout = 5s};
//     double left = options.timeout - spent;
//     options.timeout *= 2;
//     if (options.timeout < 5s) ...
//
// `condition ? options.timeout : 1.0` does not compile, because each of the two types converts to the other: write
// Seconds(1). This header does not include <chrono>. A Seconds is passed in a register, like a double.

#include <compare>

namespace flow {

namespace detail {
template <class T>
concept ChronoDuration = requires(T duration) {
    typename T::rep;
    T::period::num;
    duration.count();
};
} // namespace detail

class Seconds {
public:
    constexpr Seconds() = default;
    constexpr Seconds(double seconds) : value_(seconds) {}
    template <detail::ChronoDuration Duration>
    constexpr Seconds(Duration duration)
        : value_(static_cast<double>(duration.count()) * static_cast<double>(Duration::period::num) /
                 static_cast<double>(Duration::period::den)) {}

    constexpr operator double() const { return value_; }

    constexpr Seconds& operator+=(Seconds other) { return *this = value_ + other.value_; }
    constexpr Seconds& operator-=(Seconds other) { return *this = value_ - other.value_; }
    constexpr Seconds& operator*=(double factor) { return *this = value_ * factor; }
    constexpr Seconds& operator/=(double divisor) { return *this = value_ / divisor; }

    /// Operators for a std::chrono duration. All other operators are operators of double.
    template <detail::ChronoDuration Duration>
    friend constexpr Seconds operator+(Seconds a, Duration b) {
        return a += b;
    }
    template <detail::ChronoDuration Duration>
    friend constexpr Seconds operator-(Seconds a, Duration b) {
        return a -= b;
    }
    template <detail::ChronoDuration Duration>
    friend constexpr bool operator==(Seconds a, Duration b) {
        return a.value_ == Seconds(b).value_;
    }
    template <detail::ChronoDuration Duration>
    friend constexpr std::partial_ordering operator<=>(Seconds a, Duration b) {
        return a.value_ <=> Seconds(b).value_;
    }

private:
    double value_ = 0;
};

} // namespace flow
