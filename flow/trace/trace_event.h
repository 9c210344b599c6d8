#pragma once
// TraceEvent: one line of JSON about something that happened.
//
//     TraceEvent("PeerConnected", id).detail("Address", address).detail("Attempts", n);
//     TraceEvent(SevWarn, "ReadFailed").error(e).suppressFor(5.0);
//
//     {"DateTime":"2026-11-30T11:52:30.123456Z","Area":"net/rpc","Time":12.5,"Severity":10,"Type":"PeerConnected",
//      "ID":"...","Address":"10.0.0.1:4500","Attempts":3}                                       (without this break)
//
// The line is written at the end of the statement, to the sink of this thread (flow/trace/sink.h). Without a sink, and
// for severities that the sink takes of no area, an event costs a load and a branch, besides making its arguments.
// "DateTime" is the date in UTC. "Time" is the current loop's time, and missing without a loop. In a simulation both
// are simulated, so that two runs write equal lines. "Area" is the folder of the source (flow/trace/levels.h), and
// missing if the source's path has none. Values become text by toText() (flow/base/to_text.h), which you can specialise
// for your types; numbers and booleans keep their JSON types.

#include "flow/base/error.h"
#include "flow/base/seconds.h"
#include "flow/base/uid.h"
#include "flow/trace/detail/json.h"
#include "flow/trace/sink.h"

#include <memory>
#include <source_location>
#include <utility>

namespace flow {

/// An interval with a begin and an end: two events of the same type with the same ID, pairID.
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
    /// Makes an event that will not be written.
    TraceEvent() = default;
    explicit TraceEvent(const char* type, UID id = UID(), Place place = Place::current())
        : TraceEvent(SevInfo, type, id, place) {}
    TraceEvent(Severity severity, const char* type, UID id = UID(), Place place = Place::current()) {
        if (severity >= trace::traceMinimum) [[unlikely]]
            begin(severity, type, id, place);
    }
    /// Makes an event of an area that has a name of its own.
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
    /// Lets an event be a state variable of an actor. A moved-from event is not written.
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

    /// Adds a key and its value, in the order of the calls. A line has each key only once: `_` is appended to a key as
    /// long as the line has the same key, for example "Type". `_` is also appended to an empty key, and to "Time" and
    /// "Area", which are reserved for the event even if it lacks them.
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
    /// Formats the value as printf does, to at most 1023 bytes.
    [[gnu::format(printf, 3, 4)]] TraceEvent& detailf(const char* key, const char* pattern, ...);

    /// Adds the details "Error", "ErrorDescription" and "ErrorCode", and for an injected fault "ErrorIsInjectedFault".
    /// An Error that was not set adds nothing. If the error is actor_cancelled, which is no failure, and
    /// `includeCancelled` is false, the event is not written.
    TraceEvent& error(Error error, bool includeCancelled = false);
    TraceEvent& errorUnsuppressed(Error failure) { return error(failure, true); }

    /// Writes at most one event of this type and thread in `seconds` of the loop's time, or of the machine's without a
    /// loop. If `withCount`, the next event of this type that is written has the number of suppressed events, as
    /// "SuppressedEventCount".
    TraceEvent& suppressFor(Seconds seconds, bool withCount = true);
    /// Writes the event with this probability, which is added as "SampleRate" if `withRate`. Takes no number from
    /// deterministicRandom(), so that a simulation runs the same with and without a sink.
    TraceEvent& sample(double probability, bool withRate = true);
    /// Adds "Backtrace" with the text of machineStack() (flow/diag/machine_stack.h). If an actor or another computation
    /// runs, also adds "AsyncStack" with asyncStack() (flow/inspect/async_stack.h). Both keys begin with `prefix`.
    TraceEvent& backtrace(std::string_view prefix = {});

    /// Cuts the texts of later details after `bytes` bytes, and adds "...". With 0, the default, texts stay whole.
    TraceEvent& setMaxFieldLength(int bytes);
    /// Replaces an event of more than `bytes` by an event of SevWarnAlways and type "TraceEventOverflow", with the
    /// first 300 bytes as "TraceFirstBytes". With 0, the default, an event is written whatever its length.
    TraceEvent& setMaxEventLength(int bytes);
    /// Makes trace::latestEvent(key) return this event, until this thread has a later event with that key.
    TraceEvent& trackLatest(std::string_view key);

    /// Returns true if the event will be written. Use it to skip work that only the event needs.
    bool isEnabled() const { return event_ != nullptr; }
    /// Turns the event off: it will not be written.
    void disable() { event_.reset(); }
    /// Writes the event now; it takes no more details.
    void log() {
        if (event_)
            end();
    }

private:
    struct Event {
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
/// Returns the line of the last event of this thread that was written with trackLatest(key); empty if there was none.
std::string latestEvent(std::string_view key);
/// Adds this detail at the end of each later event of this thread. A later call with the same key replaces the value.
void addToEachEvent(std::string key, std::string value);
} // namespace trace

} // namespace flow
