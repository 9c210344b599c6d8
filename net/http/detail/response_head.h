#pragma once
// Checks a response, and writes its head for HTTP/1.1.

#include "net/http/detail/body_io.h"

namespace flow::net::http::detail {

struct ResponseHead {
    Framed framed = Framed::Plain;
    bool hasBody = false;          // the body must be sent after the head
    bool closes = false;           // the connection ends after the response
    char const* mistake = nullptr; // the reason why the response must not be sent; null: none
};

/// Appends the head to `out`. `closes`: the connection will end in any case. `date`: the Date line, or "".
ResponseHead writeResponseHead(std::string& out, Response const& response, std::string_view method, Version version,
                               bool closes, std::string_view date);

} // namespace flow::net::http::detail
