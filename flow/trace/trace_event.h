#pragma once
// TraceEvent: a line of JSON that describes an event of the program.
//
//     TraceEvent("PeerConnected", id).detail("Address", address).detail("Attempts", n);
//     TraceEvent(SevWarn, "ReadFailed").error(e).suppressFor(5.0);
//
//     {"DateTime":"2026-11-30T11:52:30.123456Z","Area":"net/rpc","Time":12.5,"Severity":10,"Type":"PeerConnected",
//      "ID":"...","Address":"10.0.0.1:4500","Attempts":3}                                       (without this break)
//
// The line is written at the end of the statement, to the sink of this thread (flow/trace/sink.h). Without a sink, and
// for severities that no area of the sink takes, an event costs a load and a branch, besides making its arguments.
// "DateTime" is the date in UTC. "Time" is the time of the current loop, if there is one. In a simulation both are
// simulated, so that two runs write equal lines. "Area": see flow/trace/levels.h. Values become text by toText()
// (flow/base/to_text.h), which you can specialise; numbers and booleans keep their types.

#include "flow/base/error.h"
#include "flow/base/seconds.h"
#include "flow/base/uid.h"
#include "flow/memory/fast_allocator.h"
#include "flow/trace/detail/json.h"
#include "flow/trace/sink.h"

#include <memory>
#include <source_location>
#include <utility>

namespace flow {

class RequestContext;

/// An interval: two events of the same type with the same ID, pairID.
///
///     TraceInterval recovery("Recovery");
///     TraceEvent(recovery.begin(), id);                         // "BeginPair":"..."
///     TraceEvent(recovery.end(), id).detail("Files", n);        // "EndPair":"..."
class TraceInterval {
public:
    explicit TraceInterval(const char* what) : type(what) {}
    TraceInterval& begin();
    TraceInterval& end() { return *this; }

    const char* type;
    UID pairID;
    int count = -1; // the number of events of this interval; -1 before begin()
    Severity severity = SevInfo;
};

class TraceEvent {
    using Place = std::source_location;

public:
    /// Makes a disabled event.
    TraceEvent() = default;
    explicit TraceEvent(const char* type, UID id = UID(), Place place = Place::current())
        : TraceEvent(SevInfo, type, id, place) {}
    TraceEvent(Severity severity, const char* type, UID id = UID(), Place place = Place::current()) {
        if (severity >= trace::traceMinimum) [[unlikely]]
            begin(severity, type, id, place);
    }
    /// Makes an event of a named area.
    TraceEvent(TraceArea area, Severity severity, const char* type, UID id = UID()) {
        if (severity >= trace::traceMinimum) [[unlikely]]
            begin(severity, type, id, area);
    }
    explicit TraceEvent(TraceInterval& interval, UID id = UID(), Place place = Place::current())
        : TraceEvent(interval.severity, interval, id, place) {}
    TraceEvent(Severity severity, TraceInterval& interval, UID id = UID(), Place place = Place::current())
        : TraceEvent(severity, interval.type, id, place) {
        detail(interval.count++ == 0 ? "BeginPair" : "EndPair", interval.pairID);
    }
    /// Events can be moved, to be state variables of actors. A moved-from event is not written.
    TraceEvent(TraceEvent&&) noexcept = default;
    /// Writes the event that this object held before.
    TraceEvent& operator=(TraceEvent&& other) noexcept {
        TraceEvent before(std::move(*this));
        event_ = std::move(other.event_);
        return *this;
    }
    ~TraceEvent() {
        if (event_) [[unlikely]]
            end();
    }

    /// Adds a key and its value. A key that the line already has, an empty key, and the reserved keys "Time" and "Area"
    /// get a `_` at the end, or several `_` until the key is new.
    template <class T>
    TraceEvent& detail(std::string_view key, T const& value) {
        if (event_) [[unlikely]] {
            appendKey(key);
            if constexpr (kIsJsonNumber<T>)
                appendJsonValue(event_->line, value);
            else
                appendText(toText(value));
        }
        return *this;
    }
    /// Adds a value that is formatted as by printf, with at most 1023 bytes.
    [[gnu::format(printf, 3, 4)]] TraceEvent& detailf(const char* key, const char* pattern, ...);

    /// Adds "Error", "ErrorDescription" and "ErrorCode", and for an injected fault "ErrorIsInjectedFault". An invalid
    /// Error adds nothing. If the error is actor_cancelled and `includeCancelled` is false, disables the event.
    TraceEvent& error(Error error, bool includeCancelled = false);
    TraceEvent& errorUnsuppressed(Error failure) { return error(failure, true); }

    /// Adds the values of a request that have a name in the log, such as its id and its trace: see
    /// flow/trace/request_value.h.
    TraceEvent& request(RequestContext const& request);

    /// Writes at most one event of this type and thread per `seconds` of the loop's time, or of the machine's. If
    /// `withCount`, the next event has the number of suppressed events as "SuppressedEventCount".
    TraceEvent& suppressFor(Seconds seconds, bool withCount = true);
    /// Writes the event with this probability, and adds it as "SampleRate" if `withRate`. Draws no number from
    /// deterministicRandom(), so that a simulation runs the same with and without a sink.
    TraceEvent& sample(double probability, bool withRate = true);
    /// Adds "Backtrace" with machineStack() (flow/diag/machine_stack.h). If an actor or another computation runs, also
    /// adds "AsyncStack" with asyncStack() (flow/inspect/async_stack.h). Both keys begin with `prefix`.
    TraceEvent& backtrace(std::string_view prefix = {});

    /// Cuts the texts of later details after `bytes` bytes, and adds "...". 0, the default: no limit.
    TraceEvent& setMaxFieldLength(int bytes);
    /// Replaces an event of more than `bytes` bytes by an event of SevWarnAlways and type "TraceEventOverflow", with
    /// the first 300 bytes as "TraceFirstBytes". 0, the default: no limit.
    TraceEvent& setMaxEventLength(int bytes);
    /// Makes trace::latestEvent(key) return this event, until this thread has a later event with that key.
    TraceEvent& trackLatest(std::string_view key);

    /// Returns true if the event will be written. Use it to skip work that only the event needs.
    bool isEnabled() const { return event_ != nullptr; }
    /// Disables the event: it will not be written.
    void disable() { event_.reset(); }
    /// Writes the event now; it takes no more details.
    void log() {
        if (event_)
            end();
    }

private:
    struct Event : FastAllocated<Event> {
        Event(const char* type, Severity severity) : type(type), severity(severity) {}
        std::string line;
        const char* type;
        Severity severity;
        std::size_t longestText = 0; // 0: no limit
        std::size_t longestLine = 0;
        std::string latest = {}; // the key of trackLatest(); empty: none
    };

    void begin(Severity severity, const char* type, UID id, Place place);
    void begin(Severity severity, const char* type, UID id, TraceArea area);
    void end() noexcept;
    void appendKey(std::string_view key);
    void appendText(std::string text);

    std::unique_ptr<Event> event_;
};

namespace trace {
/// Returns the line of this thread's last event that was written with trackLatest(key); empty if there was none.
std::string latestEvent(std::string_view key);
/// Adds this detail to each later event of this thread. A later call with the same key replaces the value.
void addToEachEvent(std::string key, std::string value);
} // namespace trace

} // namespace flow
