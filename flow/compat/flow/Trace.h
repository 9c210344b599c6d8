#pragma once
// Trace events under the old header name.
//
//     openTraceFile(NetworkAddress(), 10 << 20, 10 << 20, "logs", "trace"); // this thread's, to its end:
//     logs/trace.json

#include "../../flow.h"

#include <cstdint>
#include <memory>
#include <string>

using flow::SevDebug;
using flow::Severity;
using flow::SevError;
using flow::SevInfo;
using flow::SevWarn;
using flow::SevWarnAlways;
using flow::Traceable;
using flow::TraceEvent;
using flow::TraceInterval;

inline constexpr flow::Severity SevVerbose = static_cast<flow::Severity>(0);
inline constexpr flow::Severity SevSample = static_cast<flow::Severity>(1);
inline constexpr flow::Severity SevFRTestInfo = static_cast<flow::Severity>(9);
inline constexpr flow::Severity SevMaxUsed = flow::SevError;
inline constexpr flow::Severity SevMax = static_cast<flow::Severity>(1000000);

namespace flow::compat {
inline thread_local std::unique_ptr<TraceFile> traceFile;
} // namespace flow::compat

inline void closeTraceFile() {
    flow::compat::traceFile.reset();
}
/// Appends to one file, whatever its size: no new file begins at rollSize. The address and the log group are not used.
/// Throws io_error.
template <class Address = std::nullptr_t>
void openTraceFile(Address const&, [[maybe_unused]] std::uint64_t rollSize, [[maybe_unused]] std::uint64_t mostBytes,
                   std::string const& directory = ".", std::string const& name = "trace",
                   [[maybe_unused]] std::string const& logGroup = "default") {
    closeTraceFile();
    flow::compat::traceFile = std::make_unique<flow::TraceFile>(directory + "/" + name + ".json");
}
inline void flushTraceFileVoid() {
    if (flow::trace::traceSink)
        flow::trace::traceSink->flush();
}
/// The same; ready at once.
inline flow::Future<flow::Void> flushTraceFile() {
    flushTraceFileVoid();
    return flow::Void();
}

/// Events about requests, by the numbers of those. They are written at once, as Flow's are under simulation, so that
/// none is left for dump().
class TraceBatch {
public:
    void addEvent(char const* name, std::uint64_t id, char const* location) {
        flow::TraceEvent(name).detail("ID", hex(id)).detail("Location", location);
    }
    /// From here on what happens to the first is part of the second.
    void addAttach(char const* name, std::uint64_t id, std::uint64_t to) {
        flow::TraceEvent(name).detail("ID", hex(id)).detail("To", hex(to));
    }
    void dump() { flushTraceFileVoid(); }

private:
    static std::string hex(std::uint64_t id) { return flow::format("%016llx", static_cast<unsigned long long>(id)); }
};
inline TraceBatch g_traceBatch;
