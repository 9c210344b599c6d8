#pragma once
// Seconds: a length of time. It is made from a number of seconds or from a std::chrono duration, and reads as a double.
//
//     co_await delay(0.5);
//     co_await delay(500ms);                         // using namespace std::chrono_literals
//     TransportOptions options{.timeout = 5s};
//     double left = options.timeout - spent;
//
// This header does not include <chrono>: programs that use it do. A Seconds is passed in a register, as a double is.

namespace flow {

class Seconds {
public:
    constexpr Seconds() = default;
    constexpr Seconds(double seconds) : value_(seconds) {}
    template <class Duration>
        requires requires(Duration duration) {
            typename Duration::rep;
            Duration::period::num;
            duration.count();
        }
    constexpr Seconds(Duration duration)
        : value_(static_cast<double>(duration.count()) * static_cast<double>(Duration::period::num) /
                 static_cast<double>(Duration::period::den)) {}

    constexpr operator double() const { return value_; }

private:
    double value_ = 0;
};

} // namespace flow
