#pragma once
// The JSON of OTLP, version 1: ExportTraceServiceRequest. Ids are hexadecimal, times are strings of nanoseconds.
//
//     std::string text = otlpHead(resource);
//     for (SpanData const& span : spans)
//         appendOtlp(text, span);
//     text += kOtlpEnd;

#include "flow/trace/span.h"

namespace flow::net::http::detail {

/// Returns the text up to the first span.
std::string otlpHead(std::vector<trace::Attribute> const& resource);
/// Appends a span, with a comma if it is not the first one.
void appendOtlp(std::string& out, trace::SpanData const& span);
inline constexpr std::string_view kOtlpEnd = "]}]}]}";
/// Returns the number of spans that the collector has refused, from its answer.
std::uint64_t rejectedSpans(std::string_view answer);

} // namespace flow::net::http::detail
