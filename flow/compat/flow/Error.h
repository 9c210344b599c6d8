#pragma once
// Errors and assertions under the old header name. The names are flow's; operation_cancelled is actor_cancelled.

#include "../../flow.h"

using flow::default_error_or;
using flow::Error;
using flow::ErrorOr;

#define FLOW_ERROR(name, code, description)                                                                            \
    using flow::name;                                                                                                  \
    using flow::error_code_##name;
FLOW_ERROR_TABLE(FLOW_ERROR)
#undef FLOW_ERROR

enum : std::uint16_t { error_code_operation_cancelled = flow::error_code_actor_cancelled };
inline constexpr flow::Error operation_cancelled() {
    return flow::actor_cancelled();
}
