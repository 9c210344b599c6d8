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
// From the first call for a signal on, the signal does nothing else in this process than end such waits; when the last
// loop that has called for it ends, its former action is restored. All waiters get a signal when it comes, on each
// loop. A signal without a waiter is kept for the next waiter on that loop; several of one kind are kept as one. An
// operation in place: a wait that loses a race leaves the signal to the next waiter.
//
// A loop that has called it does not end for lack of work, since a signal may come. Not in a simulation: signals are
// the machine's. Cancel-safe.

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
    /// The number of the signal: if there are several, the one that has come first.
    int take() const;
};

/// Numbers of signals. Not an initializer_list: gcc 12 does not translate one inside a co_await.
class SignalSet {
public:
    template <std::same_as<int>... Numbers>
    constexpr SignalSet(Numbers... numbers) {
        (add(numbers), ...);
    }
    /// A bit each, 1 << (number - 1); 0 if one of them is no signal's.
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
/// and std::bad_alloc.
Signals signals(SignalSet numbers);

} // namespace flow
