#pragma once
// TurnBudget: the number of waits for ready operations that may still go on at once in this turn of the loop. When none
// is left, the next waiter parks although its operation is ready, and resumes in a later turn, as after delay(0). So an
// operation that is always ready does not keep the loop from timers, other connections and other waiters.
//
//     if (op.isReady() && TurnBudget::takeOne()) ...      // it does not suspend
//     TurnBudget::useBytes(count);                        // for an operation that moved many bytes
//     while (!TurnBudget::isSpent() && read()) ...        // a program's own loop over input that is always ready
//
// It counts operations and bytes, never time, so that a simulation repeats itself. Code that runs before the first
// turn, or between two runs of a loop, counts as one turn; on a thread without a loop there is no limit. An operation
// that stays ready, such as a future, is not counted: a wait for it never suspends. Each thread has one, since a thread
// runs one turn at a time.

#include "flow/base/inline.h"

#include <cstddef>
#include <limits>

namespace flow {

class TurnBudget {
public:
    /// In one turn, so many waits for ready operations go on at once.
    static constexpr int kOperations = 256;
    /// The number of bytes that count as one operation.
    static constexpr std::size_t kBytesOfOne = 512;

    /// Counts an operation that is ready. True: its waiter goes on at once. False: the turn ends with the running step.
    FLOW_INLINE static bool takeOne() noexcept {
        if (--left_ != 0) [[likely]] // written so, it is one instruction and a jump, with clang and with gcc
            return true;
        return hasNoLimit();
    }
    /// True if takeOne() would be false. That ends the turn, too.
    FLOW_INLINE static bool isSpent() noexcept {
        if (left_ > 1) [[likely]]
            return false;
        return !hasNoLimit();
    }
    FLOW_INLINE static void use(int operations) noexcept {
        if ((left_ -= operations) <= 0) [[unlikely]]
            (void)hasNoLimit();
    }
    FLOW_INLINE static void useBytes(std::size_t bytes) noexcept { use(static_cast<int>(bytes / kBytesOfOne)); }

    /// Called when a turn begins: restores the full budget.
    FLOW_INLINE static void begin() noexcept { left_ = kFull; }
    /// Called when this thread gets a loop: begins to count.
    static void limit() noexcept {
        if (left_ > kFull)
            left_ = kFull;
    }

    /// Keeps the budget until its destructor restores it. Saved(kNoLimit) is for work that must be done in one go.
    class Saved {
    public:
        Saved() = default;
        explicit Saved(int meanwhile) { left_ = meanwhile; }
        Saved(Saved const&) = delete;
        Saved& operator=(Saved const&) = delete;
        ~Saved() { left_ = before_; }
        /// Makes the destructor restore a full budget instead.
        void renew() { before_ = kFull; }

    private:
        int before_ = left_;
    };
    static constexpr int kNoLimit = std::numeric_limits<int>::max();

private:
    static constexpr int kFull = kOperations + 1;
    /// Called when nothing is left. True on a thread without a loop; otherwise the current turn ends with the running
    /// step.
    FLOW_RARE static bool hasNoLimit() noexcept;

    static inline constinit thread_local int left_ = kNoLimit; // operations left, plus 1; at least 1
};

} // namespace flow
