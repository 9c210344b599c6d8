#pragma once
// The date and time of trace events as text: "2026-11-30T11:52:30.123456Z", ISO 8601, UTC.

#include <cstdint>
#include <string>

namespace flow::trace {

/// Returns the microseconds since 1970 by the clock of this thread's loop, or of the machine if there is no loop.
std::int64_t currentDate();
/// Appends the text of a date in a few nanoseconds: only digits that differ from this thread's last date are written.
void appendDate(std::string& out, std::int64_t microseconds);

} // namespace flow::trace
