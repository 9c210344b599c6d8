#pragma once
// The head of a response of HTTP/1.1, with the checks of what a handler gives.

#include "net/http/detail/body_io.h"

namespace flow::net::http::detail {

struct ResponseHead {
    Framed framed = Framed::Plain;
    bool hasBody = false;          // the body is sent behind the head
    bool closes = false;           // the connection ends behind the response
    char const* mistake = nullptr; // what is wrong with the response, which must not be sent then
};

/// Appends the head of the response. `closes`: the connection is to end in any case. `date` is a line, or "".
ResponseHead writeResponseHead(std::string& out, Response const& response, std::string_view method, Version version,
                               bool closes, std::string_view date);

} // namespace flow::net::http::detail
