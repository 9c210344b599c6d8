#pragma once
// Bursts: limits the events of each type that a sink takes in a second, and counts those that are left out. If a burst
// stops, no later event of its type has its count: then the sink's file takes it, on another thread.

#include "flow/base/non_copyable.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace flow::trace {

/// Limits the events of a type.
class Suppression {
public:
    /// Counts an event. Returns how many events were left out before it. Returns nothing if this event is left out: if
    /// `most` events were written in the `seconds` that began with the first of them.
    std::optional<std::int64_t> admit(double seconds, int most);

private:
    friend class Bursts;

    double until_ = 0;
    int written_ = 0;
    std::int64_t leftOut_ = 0;
    bool isSimulated_ = false; // until_ is a time of a simulated loop
};

class Bursts : NonCopyable {
public:
    /// Does what Suppression::admit() does for a type, with one second.
    std::optional<std::int64_t> admit(std::string_view type, int most);
    /// Makes admit() wake the thread of OpenFiles, which then calls takeCounts().
    void setCounted() { isCounted_ = true; }
    /// Calls `write` with a line of JSON for each count of a second that is over, or at the end for each count, and
    /// sets the count to 0. Returns true if another second will be over. Simulated seconds are over at the end only.
    bool takeCounts(bool atEnd, std::function<void(std::string_view line)> const& write);

    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }
    /// Sets all counts to 0. The caller has called lock().
    void forget() noexcept;

private:
    std::mutex mutex_;
    std::map<std::string, Suppression, std::less<>> types_;
    bool isCounted_ = false;
};

} // namespace flow::trace
