#pragma once
// Where the events of this thread go: to its sink, or, with MILLRACE_LOG and without a sink, to standard error.

#include "flow/trace/sink.h"

#include <optional>
#include <string_view>

namespace flow::trace {

/// What MILLRACE_LOG says.
struct EnvironmentLog {
    TraceLevels levels;
    std::optional<TraceFormat> format;
};
/// Returns null if MILLRACE_LOG is not set, or empty. The first call reads the variable, and names its wrong words on
/// standard error.
EnvironmentLog const* environmentLog();
/// Writes a line to standard error at once.
void writeToStandardError(std::string_view line);

/// True if something receives events of this severity and area. Sets traceMinimum if it is not set.
bool takes(Severity severity, std::string_view area);
void receive(std::string_view line, Severity severity);

/// Makes trace events of failed assertions, of errors that nothing receives, and of uncaught errors, and then flushes
/// all files. Only the program's first call acts.
void hearOfErrors();

} // namespace flow::trace
