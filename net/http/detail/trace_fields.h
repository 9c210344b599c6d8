#pragma once
// TraceFields: the fields of a head that name the span of the client. They are noted while the head is read: no request
// is searched for them later.

#include "net/http/detail/syntax.h"

#include <utility>

namespace flow::net::http::detail {

struct TraceFields {
    std::uint32_t at = 0, size = 0; // the value of the last "traceparent", in Headers::text()
    bool hasParent = false, hasSeveralParents = false, hasState = false;

    /// Stores the field if it is a trace field. Its value begins at `valueAt`.
    void note(std::string_view name, std::size_t valueAt, std::size_t valueSize) {
        if (isSameName(name, "traceparent")) {
            at = static_cast<std::uint32_t>(valueAt);
            size = static_cast<std::uint32_t>(valueSize);
            hasSeveralParents = std::exchange(hasParent, true);
        } else if (isSameName(name, "tracestate")) {
            hasState = true;
        }
    }
};

} // namespace flow::net::http::detail
