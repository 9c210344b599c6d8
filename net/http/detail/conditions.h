#pragma once
// The conditions of a request: If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since and If-Range.

#include "net/http/headers.h"

#include <cstdint>
#include <string_view>

namespace flow::net::http::detail {

/// The version of a resource.
struct Validators {
    std::string_view tag;      // an entity tag with quotes; a weak one begins with W/
    std::int64_t modified = 0; // seconds since 1970
};

/// Returns 304 if the client has this version, 412 if a condition fails, and otherwise 0. The checks have
/// the order of RFC 9110, 13.2.2. The method must be GET or HEAD.
int failedCondition(Headers const& headers, Validators const& now);
/// False if If-Range names another version, so that the ranges do not count.
bool rangesAreFor(Headers const& headers, Validators const& now);

} // namespace flow::net::http::detail
