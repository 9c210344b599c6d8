#pragma once
// RateLimit: a token bucket. It limits the number of steps in a second, and the number of steps at once.
//
//     RateLimit limit({.perSecond = 100, .burst = 10});
//     co_await limit.take();                               // waits until there is a token, and takes it
//     co_await limit.take(message.parts());                // takes several tokens, at most `burst`
//     if (!limit.tryTake())                                // never waits
//         refuse(client);
//
// The bucket is full at first. It gets `perSecond` tokens a second, evenly, and holds at most `burst`. take() is an
// operation in place, for actors, coroutines and fibers. If it loses a race, or is cancelled, it has taken no token,
// and the waiters behind it move up. Waiters are served in order: no take() overtakes another, even for fewer tokens,
// and tryTake() takes nothing while there is a waiter. Time is the loop's clock, real or simulated. A RateLimit belongs
// to one thread. Its destructor fails the waiters with broken_promise.

#include "flow/base/assert.h"
#include "flow/base/error.h"
#include "flow/base/format.h"
#include "flow/wait/timed_source.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <source_location>

namespace flow {

class RateLimit {
public:
    struct Options {
        double perSecond;      // more than 0
        std::size_t burst = 1; // at least 1
    };

    struct Take {
        using Result = Void;
        RateLimit* limit;
        std::size_t tokens;

        bool isReady() const { return limit->waiting_.isReady(*this); }
        void park(WaiterNode& waiter) { limit->waiting_.park(waiter, *this); }
        Void take() const {
            limit->remove(tokens);
            return Void();
        }
        double readyAt() const { return limit->timeOf(tokens); }
    };

    /// Throws invalid_option_value if an option is out of its range.
    explicit RateLimit(Options options) : options_(options), tokens_(static_cast<double>(options.burst)) {
        if (!(options.perSecond > 0 && std::isfinite(options.perSecond)))
            throw wrongOption("RateLimit", "perSecond", format("%g", options.perSecond),
                              "it must be more than 0, and finite");
        if (options.burst == 0)
            throw wrongOption("RateLimit", "burst", "0", "it must be at least 1");
    }

    Take take(std::size_t tokens = 1, std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, tokens <= options_.burst, "RateLimit: more tokens at once than its burst");
        return {this, tokens};
    }
    /// Takes the tokens and returns true if that is possible without a wait.
    bool tryTake(std::size_t tokens = 1, std::source_location caller = std::source_location::current()) {
        if (!take(tokens, caller).isReady())
            return false;
        remove(tokens);
        return true;
    }

private:
    /// Returns the time at which the bucket has `tokens` tokens. It may be in the past.
    double timeOf(std::size_t tokens) const {
        return counted_ + (static_cast<double>(tokens) - tokens_) / options_.perSecond;
    }
    void remove(std::size_t tokens) {
        double full = static_cast<double>(options_.burst), grown = (now() - counted_) * options_.perSecond;
        tokens_ = std::min(full, tokens_ + grown) - static_cast<double>(tokens);
        counted_ = now();
    }

    Options options_;
    double tokens_; // the tokens in the bucket at the time `counted_`
    double counted_ = 0;
    TimedSource<Take> waiting_;
};

} // namespace flow
