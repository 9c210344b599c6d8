#pragma once
// Errors and assertions under the old header name. An Error that was not set has the code invalid_error_code.

#include "../../flow.h"
#include "../assertions.h"

#include <cstdio>
#include <source_location>

using flow::default_error_or;
using flow::Error;
using flow::ErrorOr;

#define FLOW_ENTRY(name, code, description)                                                                            \
    using flow::name;                                                                                                  \
    using flow::error_code_##name;
FLOW_ERROR_TABLE(FLOW_ENTRY)
#undef FLOW_ENTRY

using flow::actor_cancelled;
using flow::error_code_actor_cancelled;
/// Returns an internal_error to throw. Prints `message` to standard error, and writes an event of SevError with it.
inline flow::Error internal_error_msg(char const* message,
                                      std::source_location where = std::source_location::current()) {
    std::fprintf(stderr, "Internal Error @ %s %u: %s\n", where.file_name(), where.line(), message);
    flow::Error error = flow::internal_error(where);
    flow::TraceEvent(flow::SevError, "InternalError")
        .error(error)
        .detail("Message", message)
        .detail("File", where.file_name())
        .detail("Line", where.line());
    return error;
}
inline constexpr int invalid_error_code = flow::Error().code();
