#pragma once
// signals: waits for signals of the operating system.
//
//     int which = co_await signals({SIGTERM, SIGINT});
//     auto first = co_await race(serve(), signals({SIGTERM, SIGINT}));
//     for (;;) {
//         co_await signals({SIGHUP});
//         reload();
//     }
//
// After the first signals() for a signal, the signal only ends waits of signals(); its usual action does not run. When
// the last loop that called signals() for it ends, the old action is restored. All waiters of a signal get it, on each
// loop. A loop without a waiter keeps a signal for the next waiter. It keeps equal signals as one signal. The wait is
// an operation in place: a wait that loses a race leaves the signal to the next waiter.
//
// A loop on which signals() was called does not end for lack of work, since a signal may come. A simulation must not
// call signals(): a simulated machine has no signals. Cancel-safe.

#include "flow/wait/source.h"

#include <concepts>
#include <cstdint>

namespace flow {

namespace detail {
struct SignalGroup;
/// Returns how often this process has got a signal for which signals() was called. Any thread may call this.
std::uint64_t signalsSoFar(int number) noexcept;
} // namespace detail

struct [[nodiscard]] Signals {
    using Result = int;
    detail::SignalGroup* group;
    std::uint64_t since; // arrivals up to this number count only if no waiter has taken them

    bool isReady() const;
    void park(WaiterNode& waiter);
    /// Returns the number of the signal. If several signals have come, returns the number of the first.
    int take() const;
    void describe(Description& out) const;
};

/// A set of signal numbers. It replaces an initializer_list, which gcc 12 cannot compile inside a co_await.
class SignalSet {
public:
    template <std::same_as<int>... Numbers>
    constexpr SignalSet(Numbers... numbers) {
        (add(numbers), ...);
    }
    /// Returns the set: bit (number - 1) stands for a number. Returns 0 if one of the numbers cannot be a signal.
    constexpr std::uint64_t mask() const { return isValid_ ? mask_ : 0; }

private:
    constexpr void add(int number) {
        if (number < 1 || number > 64)
            isValid_ = false;
        else
            mask_ |= std::uint64_t{1} << (number - 1);
    }

    std::uint64_t mask_ = 0;
    bool isValid_ = true;
};

/// Waits for the next of these signals on this loop. Throws client_invalid_operation if the set is empty or a signal in
/// it cannot be caught, platform_error if 64 other loops have called signals() and not ended, and std::bad_alloc.
Signals signals(SignalSet numbers);

} // namespace flow
