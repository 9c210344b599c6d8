#pragma once
// Parses the heads of messages, strictly (RFC 9110 and 9112), in one pass over the bytes.
//
//     Bytes head = co_await connection->readUntil("\r\n\r\n"_sr, limit);
//     Request request;
//     Framing framing;
//     if (Refusal refusal = parseRequest(head, 100, request, framing))
//         refuse(refusal.status, refusal.reason);
//
// Two programs that read the same bytes differently are what request smuggling needs. So a head is refused that has:
// a line that does not end in CRLF, a bare CR, a NUL or another control character; a blank before a colon, or at the
// beginning of a line (obs-fold); other than one blank between the parts of the first line; no Host, or several;
// several Content-Length fields (also equal ones), or one that is not a number; a Content-Length beside a
// Transfer-Encoding; several Transfer-Encoding fields, or one in HTTP/1.0. A coding other than "chunked" alone gets the
// status 501.

#include "net/http/message.h"

namespace flow::net::http::detail {

/// Why a message is refused.
struct Refusal {
    int status = 0; // with which a server answers; 0: it is not refused
    char const* reason = "";

    explicit operator bool() const { return status != 0; }
};

/// How the end of a body is found, and what the head says about the connection.
struct Framing {
    enum class Kind : std::uint8_t { None, Length, Chunked, UntilEnd };

    Kind kind = Kind::None;
    bool keepsAlive = false;      // the connection may go on afterwards
    bool expectsContinue = false; // the client waits for "100 Continue" before it sends the body
    std::uint64_t length = 0;     // of a body with Kind::Length, which is not 0

    std::optional<std::uint64_t> size() const {
        return kind == Kind::None ? 0 : kind == Kind::Length ? std::optional(length) : std::nullopt;
    }
};

/// Parses the head of a request, up to and with its empty line; empty lines may come before it. Sets method, target,
/// version and headers, which refer to the bytes.
Refusal parseRequest(Bytes const& head, std::size_t mostFields, Request& request, Framing& framing);
/// Checks the first line of a head alone, with its end: a client that sends something else may never send an empty
/// line.
Refusal checkRequestLine(std::string_view line);
/// Parses the head of a response to a request with this method. Sets status, version and headers.
Refusal parseResponse(Bytes const& head, std::size_t mostFields, std::string_view method, Response& response,
                      Framing& framing);
/// Parses the lines of trailers, without the empty line.
Refusal parseTrailers(Bytes const& lines, std::size_t mostFields, Headers& trailers);

} // namespace flow::net::http::detail
