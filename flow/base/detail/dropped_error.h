#pragma once
// reportDroppedBy(): calls the DroppedErrorHandler with a text instead of an actor's name, if isReported(error).
//
//     reportDroppedBy("the server at 127.0.0.1:8080", error);
//     reportDroppedBy("the server at 127.0.0.1:8080", error,
//                     [](TraceEvent& event, void const* of) { ... event.detail(...) }, &request);

#include "flow/base/error.h"

namespace flow {

class TraceEvent;

void reportDroppedBy(const char* where, Error error) noexcept;
/// If the error becomes an event of the log, calls add(event, of), which may add details to it.
void reportDroppedBy(const char* where, Error error, void (*add)(TraceEvent&, void const*), void const* of) noexcept;

} // namespace flow
