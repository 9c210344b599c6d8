#include "net/http/detail/otlp_json.h"

#include "flow/base/parse_number.h"
#include "flow/trace/detail/json.h"

namespace flow::net::http::detail {
namespace {

using trace::Attribute;

void appendTime(std::string& out, std::int64_t nanoseconds) {
    out += '"';
    out += std::to_string(nanoseconds);
    out += '"';
}

void appendValue(std::string& out, Attribute::Value const& value) {
    if (auto* text = std::get_if<std::string>(&value)) {
        out += R"({"stringValue":)";
        appendJsonString(out, *text);
    } else if (auto* number = std::get_if<std::int64_t>(&value)) {
        out += R"({"intValue":)";
        appendTime(out, *number);
    } else if (auto* real = std::get_if<double>(&value)) {
        out += R"({"doubleValue":)";
        if (std::isfinite(*real))
            appendJsonValue(out, *real);
        else
            out += std::isnan(*real) ? "\"NaN\"" : *real > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    } else {
        out += std::get<bool>(value) ? R"({"boolValue":true)" : R"({"boolValue":false)";
    }
    out += '}';
}

void appendAttributes(std::string& out, std::vector<Attribute> const& attributes) {
    out += R"("attributes":[)";
    for (Attribute const& each : attributes) {
        out += &each == &attributes.front() ? R"({"key":)" : R"(,{"key":)";
        appendJsonString(out, each.key);
        out += R"(,"value":)";
        appendValue(out, each.value);
        out += '}';
    }
    out += ']';
}

void appendEvents(std::string& out, std::vector<trace::SpanEvent> const& events) {
    out += R"(,"events":[)";
    for (trace::SpanEvent const& each : events) {
        out += &each == &events.front() ? R"({"timeUnixNano":)" : R"(,{"timeUnixNano":)";
        appendTime(out, each.time);
        out += R"(,"name":)";
        appendJsonString(out, each.name);
        out += ',';
        appendAttributes(out, each.attributes);
        out += '}';
    }
    out += ']';
}

void appendCount(std::string& out, std::string_view name, std::uint32_t count) {
    if (count != 0)
        out.append(",\"").append(name).append("\":").append(std::to_string(count));
}

} // namespace

std::string otlpHead(std::vector<Attribute> const& resource) {
    std::string out = R"({"resourceSpans":[{"resource":{)";
    appendAttributes(out, resource);
    return out + R"(},"scopeSpans":[{"scope":{"name":"millrace"},"spans":[)";
}

void appendOtlp(std::string& out, trace::SpanData const& span) {
    out += out.ends_with('[') ? R"({"traceId":")" : R"(,{"traceId":")";
    out.append(span.context.traceId.toString()).append(R"(","spanId":")").append(span.context.spanIdText());
    if (span.parentId != 0)
        out.append(R"(","parentSpanId":")").append(UID(span.parentId, 0).shortString());
    out += '"';
    if (!span.context.state.empty()) {
        out += R"(,"traceState":)";
        appendJsonString(out, span.context.state);
    }
    out += R"(,"name":)";
    appendJsonString(out, span.name);
    out.append(R"(,"kind":)").append(std::to_string(static_cast<int>(span.kind)));
    out += R"(,"startTimeUnixNano":)";
    appendTime(out, span.begin);
    out += R"(,"endTimeUnixNano":)";
    appendTime(out, span.end);
    out += ',';
    appendAttributes(out, span.attributes);
    appendCount(out, "droppedAttributesCount", span.droppedAttributes);
    if (!span.events.empty())
        appendEvents(out, span.events);
    appendCount(out, "droppedEventsCount", span.droppedEvents);
    if (span.status != trace::SpanStatus::Unset) {
        out.append(R"(,"status":{"code":)").append(std::to_string(static_cast<int>(span.status)));
        if (!span.message.empty()) {
            out += R"(,"message":)";
            appendJsonString(out, span.message);
        }
        out += '}';
    }
    out += '}';
}

std::uint64_t rejectedSpans(std::string_view answer) {
    constexpr std::string_view kName = "\"rejectedSpans\"";
    std::size_t at = answer.find(kName);
    if (at == std::string_view::npos)
        return 0;
    answer.remove_prefix(at + kName.size());
    answer.remove_prefix(std::min(answer.find_first_not_of(" \t\r\n:\""), answer.size())); // a number, or a string
    return parseNumber<std::uint64_t>(answer.substr(0, answer.find_first_not_of("0123456789"))).value_or(0);
}

} // namespace flow::net::http::detail
