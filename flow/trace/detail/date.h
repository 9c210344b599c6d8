#pragma once
// The date and time of trace events as text: "2026-11-30T11:52:30.123456Z", ISO 8601, UTC.

#include <cstdint>
#include <string>

namespace flow::trace {

/// Returns the date as microseconds since 1970: that of this thread's loop, which is simulated in a simulation; without
/// a loop that of the machine.
std::int64_t currentDate();
/// Appends the text of a date. It keeps the text of this thread's last date, and changes only the digits that differ in
/// a later date: a call costs a few nanoseconds.
void appendDate(std::string& out, std::int64_t microseconds);

} // namespace flow::trace
