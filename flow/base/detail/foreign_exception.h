#pragma once
// Exceptions that are neither an Error nor derived from Error. The functions return whether such an exception is being
// handled, and with which error its future has failed.
//
//     noteRethrown(exception, cell->error);      // before the library throws it out of a failed future
//     try { ... } catch (...) { Error first = rethrownError(); }
//
// So the exception keeps the Error that it became first, with the origin, while it passes from one future to the next.
// Each thread notes only the last such exception. Errors of other exceptions have the place where they are caught.

#include "flow/base/error.h"

#include <exception>

namespace flow::detail {

bool handlesForeignException() noexcept;

/// Notes that this thread throws `exception` next, and that the exception has become `error`.
void noteRethrown(std::exception_ptr const& exception, Error error) noexcept;
/// Returns the error of the exception that is being handled, if it was noted last; else Error().
Error rethrownError() noexcept;

} // namespace flow::detail
