#pragma once
// Smoother and TimerSmoother under the old header name: a smoothed total, which follows a sum slowly, and its rate.
//
//     Smoother bytes(5.0);                            // follows 63% of a change within 5 s
//     bytes.addDelta(4096);
//     bytes.smoothTotal(), bytes.smoothRate()         // 0 and 819.2 now; 2589 and 301 after 5 s
//
// The time must not go back. It comes from now() for a Smoother, from timer() for a TimerSmoother.

#include "../../../flow/compat/flow/network.h"

#include <cmath>

namespace flow::compat {

template <double (*kClock)()>
class SmootherOf {
public:
    explicit SmootherOf(double seconds) : eFoldingTime(seconds) { reset(0); }
    void reset(double value) {
        time = 0;
        total = estimate = value;
    }
    void setTotal(double value, double at = kClock()) { addDelta(value - total, at); }
    void addDelta(double delta, double at = kClock()) {
        update(at);
        total += delta;
    }
    double smoothTotal(double at = kClock()) {
        update(at);
        return estimate;
    }
    /// Returns the growth of smoothTotal() per second, at the time `at`.
    double smoothRate(double at = kClock()) {
        update(at);
        return (total - estimate) / eFoldingTime;
    }
    void update(double at) {
        estimate += (total - estimate) * (1 - std::exp((time - at) / eFoldingTime));
        time = at;
    }

    double eFoldingTime;
    double time, total, estimate;
};

} // namespace flow::compat

using Smoother = flow::compat::SmootherOf<::now>;
using TimerSmoother = flow::compat::SmootherOf<::timer>;
