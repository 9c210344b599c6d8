#pragma once
// LocalClock: the time of a simulated process, as a function of the world's time.
//
//     LocalClock clock(0.0, 17.5);                // at 0 of the world's time it shows 17.5
//     clock.setRate(10.0, 1.001);                 // from 10 on it gains a millisecond a second
//     double shown = clock.at(20.0);              // 37.51
//
// The clock never goes back, but the calendar may: see jumpSystem().

#include "flow/loop/loop.h"

namespace flow {

class LocalClock {
public:
    LocalClock() = default;
    LocalClock(double worldTime, double shown) : since_(worldTime), shown_(shown) {}

    double at(double worldTime) const { return shown_ + (worldTime - since_) * rate_; }
    /// Returns the world's time at which the clock will show `shown`; it may be off by a rounding error.
    double worldTimeAt(double shown) const { return since_ + (shown - shown_) / rate_; }
    /// Returns the calendar time, in seconds since 1970: wallTime() in the process. A jump or a rate of the clock does
    /// not change it.
    double systemAt(double worldTime) const { return Loop::kVirtualDate + worldTime + systemOffset_; }

    double rate() const { return rate_; }
    void setRate(double worldTime, double rate) {
        shown_ = at(worldTime);
        since_ = worldTime;
        rate_ = rate;
    }
    /// Sets the clock ahead by `seconds`, which must not be negative.
    void jump(double worldTime, double seconds) {
        shown_ = at(worldTime) + seconds;
        since_ = worldTime;
    }
    /// Sets the calendar ahead, or back if `seconds` is negative.
    void jumpSystem(double seconds) { systemOffset_ += seconds; }

private:
    double since_ = 0; // the world's time when the clock was last set
    double shown_ = 0; // the time that the clock showed at since_
    double rate_ = 1;
    double systemOffset_ = 0;
};

} // namespace flow
