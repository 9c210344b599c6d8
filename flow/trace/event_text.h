#pragma once
// A trace event as a line for people.
//
//     std::string text;
//     appendEventText(text, line);
//
//     {"DateTime":"2026-11-30T11:52:30.123456Z","Area":"net/rpc","Time":2.5,"Severity":20,"Type":"Late","Peer":"a b"}
//     2026-11-30T11:52:30.123456Z WARN  net/rpc Late Peer="a b"
//
// "Time" is left out. Values with a blank, `=` or an escape stay JSON strings, so a line has no control characters.

#include <string>
#include <string_view>

namespace flow::trace {

/// Appends the text, without a newline. `line` is a line of a TraceEvent; another text is appended as it is.
void appendEventText(std::string& out, std::string_view line);

} // namespace flow::trace
