#pragma once
// Parses the heads of messages strictly (RFC 9110 and 9112), in one pass over the bytes.
//
//     Bytes head = co_await connection->readUntil("\r\n\r\n"_sr, limit);
//     Request request;
//     Framing framing;
//     if (Refusal refusal = parseRequest(head, 100, request, framing))
//         refuse(refusal.status, refusal.reason);
//
// Request smuggling needs two programs that read the same bytes differently. So these heads are refused: a line that
// does not end in CRLF; a bare CR, a NUL or another control character; a blank before a colon, or at the beginning of a
// line (obs-fold); anything but one blank between the parts of the first line; no Host, or several; several
// Content-Length fields (also equal ones), or one that is not a number; a Content-Length beside a Transfer-Encoding;
// several Transfer-Encoding fields, or one in HTTP/1.0. A Transfer-Encoding other than "chunked" gets the status 501.

#include "net/http/detail/trace_fields.h"
#include "net/http/message.h"

namespace flow::net::http::detail {

struct Refusal {
    int status = 0; // of the server's answer; 0: the message is not refused
    char const* reason = "";

    explicit operator bool() const { return status != 0; }
};

/// The end of the body, and the facts about the connection in the head.
struct Framing {
    enum class Kind : std::uint8_t { None, Length, Chunked, UntilEnd };

    Kind kind = Kind::None;
    bool keepsAlive = false;      // the connection may be used for another message
    bool expectsContinue = false; // the client waits for "100 Continue" before it sends the body
    TraceFields trace = {};
    std::uint64_t length = 0; // with Kind::Length; never 0

    std::optional<std::uint64_t> size() const {
        return kind == Kind::None ? 0 : kind == Kind::Length ? std::optional(length) : std::nullopt;
    }
};

/// Parses a whole head; empty lines may come before it. Sets method, target, version and headers to parts of `head`.
Refusal parseRequest(Bytes const& head, std::size_t mostFields, Request& request, Framing& framing);
/// Checks the first line of a head before the rest has come, since other protocols may never send an empty line.
Refusal checkRequestLine(std::string_view line);
/// Parses the head of the response to a request with `method`. Sets status, version and headers.
Refusal parseResponse(Bytes const& head, std::size_t mostFields, std::string_view method, Response& response,
                      Framing& framing);
/// Parses the lines of trailers, without the empty line.
Refusal parseTrailers(Bytes const& lines, std::size_t mostFields, Headers& trailers);

} // namespace flow::net::http::detail
