#pragma once
// Turns: what is taken in each turn of a loop, and for how many turns another actor waits for its own.
//
//     Turns turns;                             // of the current loop
//     ... turns.note(bytes) ...                // for each operation
//     co_await turns.watch();
//     turns.check(clients);

#include "flow/core/detail/turn_budget.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/step_watch.h"
#include "flow/wait/delay.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <utility>

namespace flow::test {

/// The bytes and operations of servers in each turn of the loop, and the turns of another actor.
class Turns final : StepWatch {
public:
    static constexpr int kTurns = 12;
    /// Each task that was woken has one operation more, with bytes that may be rounded down to none.
    static constexpr std::size_t kMostOperations = TurnBudget::kOperations + 64;
    static constexpr std::size_t kMostBytes = kMostOperations * TurnBudget::kBytesOfOne;
    /// The number of bytes that one operation takes at most.
    static constexpr std::size_t kLargest = 256 * 1024;

    /// `beforeTurn`: the bytes that one turn may find received already, of all connections together.
    explicit Turns(std::size_t beforeTurn = kLargest) : loop_(Loop::current()), beforeTurn_(beforeTurn) {
        loop_.add(*this);
    }
    Turns(Turns const&) = delete;
    Turns& operator=(Turns const&) = delete;
    ~Turns() { loop_.remove(*this); }

    void note(std::size_t bytes) {
        bytes_ += bytes;
        ++operations_;
        all_ += bytes + 1;
    }
    /// True if there were enough, or will be none.
    bool isOver() const { return seen_ >= kTurns || bytes_ > kFar || operations_ > 100'000; }
    /// Has its turns as long as something is taken.
    Future<Void> watch() {
        for (std::size_t last = 0; !isOver();) {
            std::size_t turn = turns_;
            co_await delay(0);
            longest_ = std::max(longest_, turns_ - turn);
            if (std::exchange(last, all_) != all_)
                ++seen_;
            else
                co_await delay(0.0001); // in a simulation time has to pass
        }
    }
    void check(int clients) const {
        CHECK(seen_ >= kTurns);
        CHECK(mostBytes_ <= kMostBytes + beforeTurn_);
        CHECK(mostOperations_ <= kMostOperations);
        CHECK(longest_ <= 2 * static_cast<std::size_t>(clients) + 10); // those with news, and those that were put off
    }
    /// Turns of the loop.
    std::size_t count() const { return turns_; }
    /// True if all of this was done in several turns.
    bool areSeveral() const { return mostOperations_ <= kMostOperations; }

private:
    void turnBegins() noexcept override {
        ++turns_;
        mostBytes_ = std::max(mostBytes_, std::exchange(bytes_, 0));
        mostOperations_ = std::max(mostOperations_, std::exchange(operations_, 0));
    }
    void begins(WaiterNode*, TaskPriority) noexcept override {}

    static constexpr std::size_t kFar = 64 << 20; // one that never lets go stops here

    Loop& loop_;
    std::size_t const beforeTurn_;
    std::size_t bytes_ = 0, operations_ = 0, mostBytes_ = 0, mostOperations_ = 0, all_ = 0;
    std::size_t turns_ = 0, longest_ = 0; // of the loop
    int seen_ = 0;
};

} // namespace flow::test
