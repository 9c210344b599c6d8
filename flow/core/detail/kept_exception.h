#pragma once
// The exceptions of failed cells: how an exception that is no Error passes from a computation to its waiter.
//
//     catch (...) { cell->error = keepCaught(cell); }       // unknown_error, and the cell keeps the exception
//     shareException(to, from);                             // a cell that fails with the error of another one
//     if (cell->isError()) throwErrorOf(cell);              // throws the exception, or the Error
//
// An exception lives as long as the block of a cell that keeps it (flow/memory/detail/kept_exception.h). The code of
// the cell's error says that there may be one: so an Error of another code costs nothing more, and nobody else sees
// anything but unknown_error. The number of the error's sentence must be that of the exception, too: a cell that has
// kept the exception of an earlier wait does not fail with it.

#include "flow/core/cell.h"
#include "flow/core/result.h"

#include <exception>

namespace flow::detail {

/// Returns currentError(). If the exception that is handled is no Error, the cell keeps it. Called in a catch block.
[[gnu::cold]] Error keepCaught(Cell* cell) noexcept;
/// Makes the cell keep the exception under its error, which is unknown_error. A null exception drops an earlier one.
void keepException(Cell* cell, Error error, std::exception_ptr exception) noexcept;
/// Returns the exception that the cell keeps under `error`; null if there is none.
std::exception_ptr keptException(Cell const* cell, Error error) noexcept;
inline std::exception_ptr keptException(Cell const* cell) noexcept {
    return keptException(cell, cell->error);
}

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
/// Does takeError(from), for the cell `to`. Not inline: the body of an actor has it at each wait, and gcc would no
/// longer inline that body.
FLOW_RARE Error takeErrorFor(Cell* to, Cell* from) noexcept;

// The next functions throw the exception that the cell keeps, or return the Error, which the caller throws: so an Error
// that is thrown passes no stack frame more. The caller puts it into a variable first: a call that may throw inside a
// throw expression would make the unwinding of the caller's frame slower.

/// `error` is the error of the cell, or an earlier one.
[[gnu::cold]] Error errorToThrow(Cell const* cell, Error error);
[[gnu::cold]] Error errorToThrow(Cell* cell);
/// Releases the caller's reference to the cell first.
[[gnu::cold]] Error takeErrorToThrow(Cell* cell);
/// Throws errorToThrow(cell), for functions that are inlined into many others.
[[noreturn, gnu::cold]] void throwErrorOf(Cell* cell);
/// Does takeErrorToThrow() if the cell keeps an exception; otherwise nothing.
[[gnu::cold]] void throwIfKept(Cell* cell);

} // namespace flow::detail
