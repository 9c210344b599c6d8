#pragma once
// The exceptions of failed cells: how an exception that is not an Error passes from a computation to its waiter.
//
//     catch (...) { cell->error = keepCaught(cell); }       // unknown_error, and the cell keeps the exception
//     shareException(to, from);                             // a cell that fails with the error of another one
//     if (cell->isError()) throwErrorOf(cell);              // throws the exception, or the Error
//
// An exception exists as long as the block of a cell that keeps it (flow/memory/detail/kept_exception.h). Only a cell
// with unknown_error can have one, so other errors cost nothing more. The exception belongs to one Error, with its code
// and sentence: a later unknown_error of the same cell does not throw it.

#include "flow/core/cell.h"
#include "flow/core/result.h"

#include <exception>

namespace flow::detail {

/// Returns currentError(). If the handled exception is not an Error, the cell keeps it. For catch blocks.
[[gnu::cold]] Error keepCaught(Cell* cell) noexcept;
/// Makes the cell keep the exception under its error, which is unknown_error. A null exception drops an earlier one.
void keepException(Cell* cell, Error error, std::exception_ptr exception) noexcept;
/// Returns the exception that the cell keeps under `error`; null if there is none.
std::exception_ptr keptException(Cell const* cell, Error error) noexcept;
inline std::exception_ptr keptException(Cell const* cell) noexcept {
    return keptException(cell, cell->error);
}

/// Throws an exception that a failed computation has kept under `error`.
[[noreturn, gnu::cold]] void rethrow(std::exception_ptr exception, Error error);

inline bool mayHaveException(Error error) {
    return error.code() == error_code_unknown_error;
}

/// Makes `to` keep the exception that `from` keeps. The error of `from` must be unknown_error.
FLOW_RARE void shareKept(Cell* to, Cell const* from) noexcept;
/// Called when `to` fails, or may fail, with the error of `from`.
FLOW_INLINE void shareException(Cell* to, Cell const* from) noexcept {
    if (mayHaveException(from->error)) [[unlikely]]
        shareKept(to, from);
}
/// Does takeError(from) and shareException(to, from). Not inlined, or gcc would no longer inline the body of an actor.
FLOW_RARE Error takeErrorFor(Cell* to, Cell* from) noexcept;

// The next functions throw the exception that the cell keeps. If it keeps none, they return the Error, and the caller
// throws it: then the Error passes one stack frame less. The caller stores the Error in a variable first, because a
// call that may throw inside a throw expression makes the unwinding of the caller's frame slower.

/// `error` is the error of the cell, or an earlier one.
[[gnu::cold]] Error errorToThrow(Cell const* cell, Error error);
[[gnu::cold]] Error errorToThrow(Cell* cell);
/// Does the same, but first releases the caller's reference to the cell.
[[gnu::cold]] Error takeErrorToThrow(Cell* cell);
/// Throws errorToThrow(cell), for functions that are inlined into many others.
[[noreturn, gnu::cold]] void throwErrorOf(Cell* cell);
/// Does takeErrorToThrow() if the cell keeps an exception; else does nothing.
[[gnu::cold]] void throwIfKept(Cell* cell);

} // namespace flow::detail
