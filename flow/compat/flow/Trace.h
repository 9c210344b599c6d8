#pragma once
// Trace events under the old header name.
//
//     openTraceFile(NetworkAddress(), 10 << 20, 10 << 20, "logs", "trace"); // this thread's, to its end:
//     logs/trace.json

#include "../../flow.h"

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
