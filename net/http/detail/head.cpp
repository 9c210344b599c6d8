#include "net/http/detail/head.h"

#include "net/http/detail/syntax.h"

namespace flow::net::http::detail {
namespace {

/// The facts in the fields about the framing and the connection.
struct Facts {
    std::size_t hosts = 0, lengths = 0, codings = 0;
    std::uint64_t length = 0;
    bool isChunked = false;
    bool closes = false, keepsAlive = false;
    TraceFields* trace = nullptr; // null: not wanted
    std::string_view expectation;
};

/// Removes the first line from `text`, and returns it without its CRLF; nothing if the CRLF is missing.
std::optional<std::string_view> takeLine(std::string_view& text) {
    std::size_t end = text.find('\r');
    if (end == std::string_view::npos || end + 1 == text.size() || text[end + 1] != '\n')
        return {};
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 2);
    return line;
}

Refusal noteLength(std::string_view value, Facts& facts) {
    if (++facts.lengths > 1)
        return {400, "there are several Content-Length fields"};
    if (value.empty() || value.size() > 18)
        return {400, "Content-Length is not a number of bytes"};
    for (char c : value) {
        if (c < '0' || c > '9')
            return {400, "Content-Length is not a number of bytes"};
        facts.length = facts.length * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return {};
}

/// Stores a field that has a meaning for the parser. Its value begins at `valueAt`.
Refusal note(std::string_view name, std::string_view value, std::size_t valueAt, Facts& facts) {
    switch (name.size()) {
    case 4:
        if (!isSameName(name, "host"))
            return {};
        if (++facts.hosts > 1)
            return {400, "there are several Host fields"};
        return isAllOf(kHostChar, value) ? Refusal() : Refusal{400, "Host is no name of a host"};
    case 6:
        if (isSameName(name, "expect"))
            facts.expectation = value;
        return {};
    case 10:
        if (isSameName(name, "connection")) {
            anyElement(value, [&](std::string_view each) {
                facts.closes = facts.closes || isSameName(each, "close");
                facts.keepsAlive = facts.keepsAlive || isSameName(each, "keep-alive");
                return false;
            });
            return {};
        }
        [[fallthrough]];
    case 11:
        if (facts.trace)
            facts.trace->note(name, valueAt, value.size());
        return {};
    case 14:
        return isSameName(name, "content-length") ? noteLength(value, facts) : Refusal();
    case 17:
        if (!isSameName(name, "transfer-encoding"))
            return {};
        if (++facts.codings > 1)
            return {400, "there are several Transfer-Encoding fields"};
        facts.isChunked = isSameName(value, "chunked");
        return {};
    default:
        return {};
    }
}

Refusal parseFields(std::string_view fields, std::size_t most, Facts& facts) {
    char const* begin = fields.data();
    for (std::size_t count = 0; !fields.empty(); ++count) {
        if (count == most)
            return {431, "there are too many fields"};
        std::optional<std::string_view> line = takeLine(fields);
        if (!line)
            return {400, "a line does not end in CRLF"};
        if (line->starts_with(' ') || line->starts_with('\t'))
            return {400, "a line begins with a blank"};
        std::size_t colon = line->find(':');
        if (colon == std::string_view::npos)
            return {400, "a field has no colon"};
        std::string_view name = line->substr(0, colon), value = trimmed(line->substr(colon + 1));
        if (!isToken(name))
            return {400, "the name of a field is no token"};
        if (!isAllOf(kValueChar, value))
            return {400, "the value of a field has a control character"};
        if (Refusal refusal = note(name, value, static_cast<std::size_t>(value.data() - begin), facts))
            return refusal;
    }
    return {};
}

Refusal parseVersion(std::string_view text, Version& version) {
    if (text == "HTTP/1.1")
        version = Version::Http11;
    else if (text == "HTTP/1.0")
        version = Version::Http10;
    else if (text.size() == 8 && text.starts_with("HTTP/") && text[6] == '.')
        return {505, "the version is neither HTTP/1.1 nor HTTP/1.0"};
    else
        return {400, "the version is missing"};
    return {};
}

bool isTarget(std::string_view target, std::string_view method) {
    if (target.empty() || !isAllOf(kTargetChar, target))
        return false;
    if (method == "CONNECT")
        return isAllOf(kHostChar, target) && target.find(':') != std::string_view::npos;
    return target.starts_with('/') || (target == "*" && method == "OPTIONS") ||
           isSameName(target.substr(0, 7), "http://") || isSameName(target.substr(0, 8), "https://");
}

Refusal parseRequestLine(std::string_view line, Request& request) {
    std::size_t first = line.find(' '), last = line.rfind(' ');
    if (first == std::string_view::npos || first == last)
        return {400, "the first line has no method, target and version"};
    std::string_view method = line.substr(0, first), target = line.substr(first + 1, last - first - 1);
    if (!isToken(method))
        return {400, "the method is no token"};
    if (Refusal refusal = parseVersion(line.substr(last + 1), request.version))
        return refusal;
    if (!isTarget(target, method))
        return {400, "the target is no path and no address"};
    request.method = method;
    request.target = target;
    return {};
}

/// Sets `framing`. `other` is the kind without Content-Length and Transfer-Encoding.
Refusal frame(Facts const& facts, Version version, Framing::Kind other, Framing& framing) {
    framing.keepsAlive = version == Version::Http11 ? !facts.closes : facts.keepsAlive && !facts.closes;
    framing.kind = other;
    if (facts.codings != 0) {
        if (facts.lengths != 0)
            return {400, "there are both Content-Length and Transfer-Encoding"};
        if (version != Version::Http11)
            return {400, "HTTP/1.0 has no Transfer-Encoding"};
        if (!facts.isChunked)
            return {501, "the only known coding is \"chunked\""};
        framing.kind = Framing::Kind::Chunked;
    } else if (facts.lengths != 0) {
        framing.kind = facts.length == 0 ? Framing::Kind::None : Framing::Kind::Length;
        framing.length = facts.length;
    }
    return {};
}

std::string_view withoutEnd(std::string_view head) {
    return head.substr(0, head.size() - 2);
}

} // namespace

Refusal checkRequestLine(std::string_view line) {
    std::optional<std::string_view> text = takeLine(line);
    if (!text)
        return {400, "the first line does not end in CRLF"};
    Request request;
    return parseRequestLine(*text, request);
}

Refusal parseRequest(Bytes const& head, std::size_t mostFields, Request& request, Framing& framing) {
    std::string_view text = withoutEnd(head.toStringView());
    while (text.starts_with("\r\n"))
        text.remove_prefix(2);
    std::optional<std::string_view> line = takeLine(text);
    if (!line)
        return {400, "the first line does not end in CRLF"};
    if (Refusal refusal = parseRequestLine(*line, request))
        return refusal;
    Facts facts;
    facts.trace = &framing.trace;
    if (Refusal refusal = parseFields(text, mostFields, facts))
        return refusal;
    if (request.version == Version::Http11 && facts.hosts == 0)
        return {400, "there is no Host field"};
    request.headers = Headers::ofCheckedLines(Bytes(StringRef(text), head.arena()));
    if (Refusal refusal = frame(facts, request.version, Framing::Kind::None, framing))
        return refusal;
    bool isContinue = isSameName(facts.expectation, "100-continue");
    if (!facts.expectation.empty() && !isContinue)
        return {417, "the only known expectation is \"100-continue\""};
    framing.expectsContinue = isContinue && request.version == Version::Http11 && framing.kind != Framing::Kind::None;
    return {};
}

Refusal parseResponse(Bytes const& head, std::size_t mostFields, std::string_view method, Response& response,
                      Framing& framing) {
    std::string_view text = withoutEnd(head.toStringView());
    std::optional<std::string_view> line = takeLine(text);
    if (!line)
        return {502, "the first line does not end in CRLF"};
    if (Refusal refusal = parseVersion(line->substr(0, 8), response.version))
        return refusal;
    std::string_view rest = line->substr(8); // " 200 OK"; some servers omit the second blank
    auto isDigit = [&](std::size_t at) { return rest[at] >= '0' && rest[at] <= '9'; };
    if (rest.size() < 4 || rest[0] != ' ' || !isDigit(1) || !isDigit(2) || !isDigit(3) || rest[1] == '0' ||
        (rest.size() > 4 && rest[4] != ' ') || !isAllOf(kValueChar, rest))
        return {502, "the first line has no status"};
    response.status = (rest[1] - '0') * 100 + (rest[2] - '0') * 10 + (rest[3] - '0');
    Facts facts;
    if (Refusal refusal = parseFields(text, mostFields, facts))
        return refusal;
    response.headers = Headers::ofCheckedLines(Bytes(StringRef(text), head.arena()));
    if (Refusal refusal = frame(facts, response.version, Framing::Kind::UntilEnd, framing))
        return refusal;
    if (method == "HEAD" || response.status < 200 || response.status == 204 || response.status == 304 ||
        (method == "CONNECT" && response.status < 300))
        framing.kind = Framing::Kind::None;
    else if (framing.kind == Framing::Kind::UntilEnd)
        framing.keepsAlive = false;
    return {};
}

Refusal parseTrailers(Bytes const& lines, std::size_t mostFields, Headers& trailers) {
    Facts facts;
    if (Refusal refusal = parseFields(lines.toStringView(), mostFields, facts))
        return refusal;
    trailers = Headers::ofCheckedLines(lines);
    return {};
}

} // namespace flow::net::http::detail
