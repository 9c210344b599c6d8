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
// After the first call for a signal, the only effect of the signal in this process is to end such waits. When the last
// loop that has called signals() for it ends, the signal's old action is restored. When a signal comes, all its waiters
// get it, on each loop. A signal without a waiter is kept for the next waiter on that loop; several signals of one kind
// are kept as one. The wait is an operation in place: if it loses a race, it leaves the signal to the next waiter.
//
// A loop on which signals() was called does not end for lack of work, since a signal may come. A simulation must not
// call it: signals belong to the machine. Cancel-safe.

#include "flow/wait/source.h"

#include <concepts>
#include <cstdint>

namespace flow {

namespace detail {
struct SignalGroup;
}

struct [[nodiscard]] Signals {
    using Result = int;
    detail::SignalGroup* group;
    std::uint64_t since; // earlier arrivals count only if no waiter has taken them

    bool isReady() const;
    void park(WaiterNode& waiter);
    /// Returns the number of the signal. If several have come, this is the first of them.
    int take() const;
};

/// A set of signal numbers. It is not an initializer_list: gcc 12 does not translate one inside a co_await.
class SignalSet {
public:
    template <std::same_as<int>... Numbers>
    constexpr SignalSet(Numbers... numbers) {
        (add(numbers), ...);
    }
    /// Returns a bit for each number, 1 << (number - 1). Returns 0 if one of the numbers cannot be a signal.
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

/// Waits for the next of these signals on this loop. Throws client_invalid_operation if one of them cannot be caught,
/// platform_error if 64 other loops wait for signals already, and std::bad_alloc.
Signals signals(SignalSet numbers);

} // namespace flow
