#pragma once
// The conditions of a request: If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since and If-Range.

#include "net/http/headers.h"

#include <cstdint>
#include <string_view>

namespace flow::net::http::detail {

/// What a server knows of the thing that a request names.
struct Validators {
    std::string_view tag;      // an entity tag with its quotes; a weak one begins with W/
    std::int64_t modified = 0; // seconds since 1970
};

/// Returns 0 if the request is to be answered, 304 if the client has the thing already, or 412 if a condition fails.
/// The order of the checks is the one of RFC 9110, 13.2.2. The method is GET or HEAD.
int failedCondition(Headers const& headers, Validators const& now);
/// Returns false if the field If-Range says that the ranges are for another version of the thing.
bool rangesAreFor(Headers const& headers, Validators const& now);

} // namespace flow::net::http::detail
