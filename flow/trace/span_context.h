#pragma once
// SpanContext: the part of a span that travels between processes, as the W3C recommendation "Trace Context" writes it.
//
//     std::optional<SpanContext> parent = SpanContext::parse(headers.get("traceparent"), headers.get("tracestate"));
//     request.headers.set("traceparent", span.traceparent());
//
//     traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
//                  version, trace id, span id, flags: 01 if the trace is sampled
//     tracestate:  vendor=value,tenant@vendor=value            entries of other systems, which are passed on
//
// A text that breaks a rule gives no context: then a new trace begins, as the recommendation asks. A version above 00
// is read as 00, and may have more behind the flags. A wrong tracestate is dropped, but the traceparent is used.

#include "flow/base/uid.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flow::trace {

struct SpanContext {
    UID traceId = {};
    std::uint64_t spanId = 0;
    bool isSampled = false;
    std::string state = {}; // tracestate; at most kStateBytes

    static constexpr std::size_t kStateBytes = 512, kStateMembers = 32;

    /// Returns nothing if `traceparent` is not valid. Several fields "tracestate" are joined by commas.
    static std::optional<SpanContext> parse(std::string_view traceparent, std::string_view tracestate = {});
    std::string traceparent() const;
    /// The span id as in `traceparent`: 16 digits. The trace id is traceId.toString(): 32 digits.
    std::string spanIdText() const { return UID(spanId, 0).shortString(); }
    /// For toText(), and so for the log.
    std::string toString() const { return traceId.toString(); }
};

/// Returns the text without blanks and empty members; "" if it breaks a rule. If the text has more than kStateBytes
/// bytes, members are left out: first the members of more than 128 bytes, then the last members.
std::string checkedTracestate(std::string_view text);

} // namespace flow::trace
