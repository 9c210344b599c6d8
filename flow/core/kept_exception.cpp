#include "flow/core/detail/kept_exception.h"

#include "flow/base/detail/foreign_exception.h"
#include "flow/core/detail/ending_watch.h"
#include "flow/memory/detail/kept_exception.h"

#include <bit>

namespace flow::detail {
namespace {

/// A watch that exists as long as cells of this thread keep exceptions. The functions of cell.cpp test for a watch in
/// any case, and search for exceptions only if there is one.
class ExceptionWatch final : public EndingWatch {
public:
    void add() noexcept {
        if (!std::exchange(isAdded_, true))
            addEndingWatch(*this);
    }
    void failed(void const*, Error) noexcept override { removeIfUnused(); }
    void cancelled(void const*) noexcept override { removeIfUnused(); }

private:
    void removeIfUnused() noexcept {
        if (memory::KeptException::blocksOfThread != 0)
            return;
        isAdded_ = false;
        removeEndingWatch(*this);
    }
    bool isAdded_ = false;
};
constinit thread_local ExceptionWatch exceptionWatch;

std::uint32_t markOf(Error error) {
    return std::bit_cast<std::uint32_t>(error);
}
void* blockOf(Cell const* cell) {
    return const_cast<Cell*>(cell)->valueAddress();
}

} // namespace

void keepException(Cell* cell, Error error, std::exception_ptr exception) noexcept {
    if (!exception)
        return memory::KeptException::clear(blockOf(cell));
    exceptionWatch.add();
    memory::KeptException::keep(blockOf(cell), cell->sizeClass, markOf(error), std::move(exception));
}

std::exception_ptr keptException(Cell const* cell, Error error) noexcept {
    return mayHaveException(error) ? memory::KeptException::find(blockOf(cell), markOf(error)) : nullptr;
}

Error keepCaught(Cell* cell) noexcept {
    Error error = currentError();
    if (cell->has(Cell::kHasFrame))
        error = failureOf(cell, error); // the error of a library's coroutine has no chain yet
    if (mayHaveException(error) && handlesForeignException())
        keepException(cell, error, std::current_exception());
    return error;
}

void rethrow(std::exception_ptr exception, Error error) {
    noteRethrown(exception, error);
    std::rethrow_exception(std::move(exception));
}

void shareKept(Cell* to, Cell const* from) noexcept {
    keepException(to, from->error, keptException(from));
}

Error takeErrorFor(Cell* to, Cell* from) noexcept {
    shareException(to, from);
    return takeError(from);
}

Error errorToThrow(Cell const* cell, Error error) {
    if (std::exception_ptr exception = keptException(cell, error))
        rethrow(std::move(exception), error);
    return error;
}

Error errorToThrow(Cell* cell) {
    return errorToThrow(cell, readError(cell));
}

void throwErrorOf(Cell* cell) {
    Error error = errorToThrow(cell);
    throw error;
}

Error takeErrorToThrow(Cell* cell) {
    std::exception_ptr exception = keptException(cell);
    Error error = takeError(cell);
    if (exception)
        rethrow(std::move(exception), error);
    return error;
}

void throwIfKept(Cell* cell) {
    if (keptException(cell))
        (void)takeErrorToThrow(cell);
}

} // namespace flow::detail
