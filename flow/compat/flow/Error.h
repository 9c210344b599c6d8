#pragma once
// Errors and assertions under the old header name. The names are flow's. An Error that was not set has the code
// invalid_error_code.

#include "../../flow.h"

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
inline constexpr int invalid_error_code = flow::Error().code();
