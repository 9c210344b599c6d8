#pragma once
// TurnBudget: the number of waits for ready operations that need not suspend in the rest of this turn of the loop. When
// it is 0, the next waiter parks although its operation is ready, and resumes in a later turn, as after delay(0). So an
// operation that is always ready does not keep the loop from timers, other connections and other waiters.
//
//     if (op.isReady() && TurnBudget::takeOne()) ...      // the wait does not suspend
//     TurnBudget::useBytes(count);                        // for an operation that moved many bytes
//     while (!TurnBudget::isSpent() && read()) ...        // a program's own loop over input that is always ready
//
// TurnBudget counts operations and bytes, never time: so each run of a simulation with the same seed is the same. Code
// that runs before the first turn, or between two runs of a loop, counts as one turn; on a thread without a loop there
// is no limit. An operation that stays ready, such as a future, is not counted: a wait for it does not suspend. Each
// thread has its own budget, since a thread runs one turn at a time.

#include "flow/base/inline.h"

#include <cstddef>
#include <limits>

namespace flow {

class TurnBudget {
public:
    /// The greatest number of waits for ready operations that go on without suspending in one turn.
    static constexpr int kOperations = 256;
    /// The number of bytes that count as one operation.
    static constexpr std::size_t kBytesOfOne = 512;

    /// Counts a ready operation. True if its waiter goes on; false if it must park, and the turn ends (see isSpent()).
    FLOW_INLINE static bool takeOne() noexcept {
        if (--left_ != 0) [[likely]] // clang and gcc make one instruction and a jump of this test
            return true;
        return hasNoLimit();
    }
    /// True if takeOne() would return false. Then this call ends the turn, as takeOne() does: the turn is over when
    /// the running code returns to the loop.
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
    /// Called when this thread gets a loop: from now on a turn has a limit.
    static void limit() noexcept {
        if (left_ > kFull)
            left_ = kFull;
    }

    /// Saves the budget; the destructor restores it. Saved(kNoLimit) is for work that must be done without suspending.
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
    /// Called when the budget is used up. True on a thread without a loop; else ends the turn, as isSpent() says.
    FLOW_RARE static bool hasNoLimit() noexcept;

    static inline constinit thread_local int left_ = kNoLimit; // operations left, plus 1; at least 1
};

} // namespace flow
