#pragma once
// Trace events under the old header name.
//
//     // From here on, the events of this thread go to logs/trace.json.
//     openTraceFile(NetworkAddress(), TRACE_DEFAULT_ROLL_SIZE, TRACE_DEFAULT_MAX_LOGS_SIZE, "logs", "trace");

#include "../../flow.h"

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

using flow::SevDebug;
using flow::Severity;
using flow::SevError;
using flow::SevInfo;
using flow::SevWarn;
using flow::SevWarnAlways;
using flow::Traceable;
using flow::TraceEvent;
using flow::TraceInterval;
/// The return type of detail() and other members in Flow.
using BaseTraceEvent = flow::TraceEvent;

#define TRACE_DEFAULT_ROLL_SIZE (10 << 20)
#define TRACE_DEFAULT_MAX_LOGS_SIZE (10 * TRACE_DEFAULT_ROLL_SIZE)

/// Makes events show values of `type` by printf. Use it at namespace scope.
#define FORMAT_TRACEABLE(type, pattern)                                                                                \
    template <>                                                                                                        \
    struct flow::Traceable<type> : std::true_type {                                                                    \
        static std::string toString(type const& value) {                                                               \
            return flow::format(pattern, value);                                                                       \
        }                                                                                                              \
    }

inline constexpr flow::Severity SevVerbose = static_cast<flow::Severity>(0);
inline constexpr flow::Severity SevSample = static_cast<flow::Severity>(1);
inline constexpr flow::Severity SevFRTestInfo = static_cast<flow::Severity>(9);
inline constexpr flow::Severity SevMaxUsed = flow::SevError;
inline constexpr flow::Severity SevMax = static_cast<flow::Severity>(1000000);

namespace flow::compat {
inline thread_local std::unique_ptr<TraceFile> traceFile;
} // namespace flow::compat

/// Adds a detail to each event of this thread.
inline void addUniversalTraceField(std::string const& name, std::string const& value) {
    flow::trace::addToEachEvent(name, value);
}
/// Adds the detail "LogGroup" to each event of this thread.
inline void setTraceLogGroup(std::string const& group) {
    flow::trace::addToEachEvent("LogGroup", group);
}

inline bool traceFileIsOpen() {
    return flow::compat::traceFile != nullptr;
}
inline void closeTraceFile() {
    flow::compat::traceFile.reset();
}
/// Opens the trace file of this thread. The address and both sizes have no effect. Throws io_error.
template <class Address = std::nullptr_t>
void openTraceFile(Address const&, [[maybe_unused]] std::uint64_t rollSize, [[maybe_unused]] std::uint64_t mostBytes,
                   std::string const& directory = ".", std::string const& name = "trace",
                   std::string const& logGroup = "default") {
    closeTraceFile();
    setTraceLogGroup(logGroup);
    flow::compat::traceFile = std::make_unique<flow::TraceFile>(directory + "/" + name + ".json");
}
inline void flushTraceFileVoid() {
    if (flow::trace::traceSink)
        flow::trace::traceSink->flush();
}
/// Like flushTraceFileVoid(), but returns a ready future.
inline flow::Future<flow::Void> flushTraceFile() {
    flushTraceFileVoid();
    return flow::Void();
}

/// Returns true if `format` is "json", the format of all trace files.
inline bool validateTraceFormat(std::string const& format) {
    return format == "json";
}
/// Like validateTraceFormat(). Another format makes an event of SevWarnAlways.
inline bool selectTraceFormatter(std::string const& format) {
    if (!validateTraceFormat(format))
        flow::TraceEvent(flow::SevWarnAlways, "UnrecognizedTraceFormat").detail("Format", format);
    return validateTraceFormat(format);
}
/// Returns true if `source` is "now", the time of the loop, which is the clock of all events.
inline bool validateTraceClockSource(std::string const& source) {
    return source == "now";
}
/// Like validateTraceClockSource(). Another clock makes an event of SevWarnAlways.
inline bool selectTraceClockSource(std::string const& source) {
    if (!validateTraceClockSource(source))
        flow::TraceEvent(flow::SevWarnAlways, "UnrecognizedTraceClockSource").detail("Source", source);
    return validateTraceClockSource(source);
}

/// Events about requests, by id. As in Flow under simulation, they are written at once, so dump() only flushes the
/// trace.
class TraceBatch {
public:
    void addEvent(char const* name, std::uint64_t id, char const* location) {
        flow::TraceEvent(name).detail("ID", hex(id)).detail("Location", location);
    }
    /// Makes later events of request `id` a part of request `to`.
    void addAttach(char const* name, std::uint64_t id, std::uint64_t to) {
        flow::TraceEvent(name).detail("ID", hex(id)).detail("To", hex(to));
    }
    void dump() { flushTraceFileVoid(); }

private:
    static std::string hex(std::uint64_t id) { return flow::format("%016llx", static_cast<unsigned long long>(id)); }
};
inline TraceBatch g_traceBatch;
