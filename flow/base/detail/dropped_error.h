#pragma once
// reportDroppedBy(): reports an error that no code receives. The caller gives a text, which the report has instead of
// the name of a function.
//
//     reportDroppedBy("the server at 127.0.0.1:8080", error);

#include "flow/base/error.h"

namespace flow {

/// Calls the DroppedErrorHandler with `where`, but not for an error that only says that something has ended: see
/// isReported().
void reportDroppedBy(const char* where, Error error) noexcept;

} // namespace flow
