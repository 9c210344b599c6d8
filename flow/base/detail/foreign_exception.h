#pragma once
// Exceptions that are neither an Error nor derived from Error: is one handled, and with which error did its future
// fail?
//
//     noteRethrown(exception, cell->error);      // before the library throws it out of a failed future
//     try { ... } catch (...) { Error first = rethrownError(); }
//
// So the exception keeps the Error that it became first, with the origin, while it passes from one future to the next.
// Each thread knows only the last such exception; later errors of others have the place where they are caught.

#include "flow/base/error.h"

#include <exception>

namespace flow::detail {

bool handlesForeignException() noexcept;

/// Notes that this thread throws the exception next, which has become `error`.
void noteRethrown(std::exception_ptr const& exception, Error error) noexcept;
/// Returns the error of the exception that is handled, if it is the last one that was noted; else Error().
Error rethrownError() noexcept;

} // namespace flow::detail
