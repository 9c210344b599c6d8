#pragma once
// Tap: an operation that is always ready, and what was drawn in each turn of the loop. Drinkers stop when it is shut.
//
//     Tap tap;
//     Future<Void> watching = tap.watch(20);           // shuts it when it has had 20 turns
//     while (tap.isOpen())
//         tap.got(co_await tap.draw());

#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "flow/wait/source.h"

#include <algorithm>

namespace flow::test {

class Tap {
public:
    struct Draw {
        using Result = int;
        Tap* tap;
        bool isReady() const { return true; }
        void park(WaiterNode& waiter) { tap->source_.park(waiter, *this); }
        int take() const { return tap->give(); }
    };

    Draw draw() { return {this}; }
    /// A drinker has drawn so much.
    void got(int amount) { got_ += amount; }
    bool isOpen() const { return isOpen_; }
    void shut() { isOpen_ = false; }

    /// Has so many turns of the loop, and then shuts the tap.
    Future<Void> watch(int turns, TaskPriority priority = TaskPriority::DefaultDelay) {
        int before = drawn_;
        for (; turns_ < turns && isOpen_; ++turns_) {
            co_await delay(0, priority);
            most_ = std::max(most_, drawn_ - before);
            before = drawn_;
        }
        shut();
    }
    int turns() const { return turns_; }
    /// The most that was drawn between two turns of the watch.
    int mostInTurn() const { return most_; }
    /// True if all that was drawn has come to a drinker.
    bool isEven() const { return drawn_ == got_; }

private:
    static constexpr int kMost = 1'000'000; // a loop that never lets go ends with a failure

    int give() {
        if (++drawn_ == kMost)
            shut();
        return 1;
    }

    int drawn_ = 0, got_ = 0, most_ = 0, turns_ = 0;
    bool isOpen_ = true;
    Source<Draw> source_;
};

} // namespace flow::test
