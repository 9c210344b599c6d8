#pragma once
// TurnBudget: how many operations may still be ready at once in this turn of the loop. When none is left, the next one
// parks although it is ready, and goes on in a later turn, as after delay(0). So no operation that is always ready
// keeps the loop from timers, other connections and other waiters.
//
//     if (op.isReady() && TurnBudget::takeOne()) ...      // it does not suspend
//     TurnBudget::useBytes(count);                        // of an operation that moved many
//     while (!TurnBudget::isSpent() && read()) ...        // a loop of one's own that reads what is always there
//
// It counts operations and bytes, never time, so that a simulation repeats itself. What runs before the first turn, or
// between two runs of a loop, counts as one turn; on a thread without a loop there is no limit. What is ready once and
// for good, such as a future, is not counted: a wait for it never suspends. Each thread has one, since a thread runs
// one turn at a time.

#include "flow/base/inline.h"

#include <cstddef>
#include <limits>

namespace flow {

class TurnBudget {
public:
    /// So many operations of a turn are ready at once.
    static constexpr int kOperations = 256;
    /// So many bytes count as one more.
    static constexpr std::size_t kBytesOfOne = 512;

    /// True if an operation that is ready goes on at once. False ends the turn with the running task.
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

    /// A turn begins.
    FLOW_INLINE static void begin() noexcept { left_ = kFull; }
    /// There is a loop from here on.
    static void limit() noexcept {
        if (left_ > kFull)
            left_ = kFull;
    }

    /// Its destructor brings back what was left. With kNoLimit nothing is counted meanwhile: for what must be done in
    /// one go.
    class Saved {
    public:
        Saved() = default;
        explicit Saved(int meanwhile) { left_ = meanwhile; }
        Saved(Saved const&) = delete;
        Saved& operator=(Saved const&) = delete;
        ~Saved() { left_ = before_; }
        /// Brings back a full one instead.
        void renew() { before_ = kFull; }

    private:
        int before_ = left_;
    };
    static constexpr int kNoLimit = std::numeric_limits<int>::max();

private:
    static constexpr int kFull = kOperations + 1;
    /// None is left. True on a thread without a loop; else the turn under way ends with the running task.
    FLOW_RARE static bool hasNoLimit() noexcept;

    static inline constinit thread_local int left_ = kNoLimit; // and one more; at least 1
};

} // namespace flow
