#pragma once
// Passes the events of this thread to its sink. Without a sink, but with MILLRACE_LOG, to standard error.

#include "flow/trace/sink.h"

#include <optional>
#include <string_view>

namespace flow::trace {

/// The value of MILLRACE_LOG.
struct EnvironmentLog {
    TraceLevels levels;
    std::optional<TraceFormat> format;
};
/// Returns null if MILLRACE_LOG is not set, or empty. The first call reads it, and reports wrong words.
EnvironmentLog const* environmentLog();
/// Writes a line to standard error, without a buffer.
void writeToStandardError(std::string_view line);

/// Returns true if events of this severity and area are written. Sets traceMinimum if it is not set.
bool takes(Severity severity, std::string_view area);
void receive(std::string_view line, Severity severity);

/// Makes trace events of failed assertions, dropped errors and uncaught errors. Uncaught errors and failed assertions
/// also flush all files. Only the program's first call acts.
void hearOfErrors();

} // namespace flow::trace
