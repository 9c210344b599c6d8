#include "flow/wait/source.h"

namespace flow::detail {

// Its turn waits for the source itself, which nothing else does: what is parked waits for an operation.
Waiter const* SourceBase::firstOf(Waiter const* turn) {
    if (!turn->awaited.isOperation())
        return nullptr;
    auto* source = static_cast<SourceBase*>(turn->awaited.operation());
    if (&source->turn_ != turn || !source->isWaitedFor())
        return nullptr;
    return Waiter::of(source->waiters_.next);
}

void SourceBase::forsakeAll() noexcept {
    while (!waiters_.isEmpty()) {
        Waiter* waiter = takeFirst(waiters_);
        waiter->link.reset(); // parked nowhere, so that a cancel may unlink it
        waiter->awaited = {};
    }
}

void SourceBase::failAll(Error error) noexcept {
    Link failing; // a waiter that runs may destroy the source
    failing.reset();
    while (!waiters_.isEmpty()) {
        Waiter* waiter = takeFirst(waiters_);
        pushBack(failing, waiter->link);
    }
    while (!failing.isEmpty()) {
        Waiter* waiter = takeFirst(failing);
        if (waiter->awaited.isPropagating()) {
            waiter->awaited = {};
            if (Waiter* last = failFrame(waiter, error))
                run(last);
            continue;
        }
        Cell* failed;
        try {
            failed = newCell<Void>(0, 1, 0, Cell::kError);
            failed->error = error;
        } catch (std::bad_alloc const&) {
            failed = cancelledCell(); // what needs no memory
        }
        waiter->awaited = failed;
        run(waiter);
    }
}

} // namespace flow::detail
