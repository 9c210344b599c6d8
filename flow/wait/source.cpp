#include "flow/wait/source.h"

namespace flow::detail {

// The `awaited` of a source's turn_ is the source itself. The `awaited` of a parked waiter may be an operation. The
// test of the address of turn_ below distinguishes the two.
Waiter const* SourceBase::firstOf(Waiter const* turn) {
    if (!turn->awaited.isOperation())
        return nullptr;
    auto* source = static_cast<SourceBase*>(turn->awaited.operation());
    if (&source->turn_ != turn || !source->isWaitedFor())
        return nullptr;
    return Waiter::of(source->waiters_.next);
}

// The list is a ring of the links of the waiters and the source's head, `waiters_`. The words behind a link show
// whether it is the head. The words are only compared, not used: behind the link of a waiter they may be anything.
__attribute__((no_sanitize("address", "thread"))) SourceBase const* SourceBase::sourceOf(Waiter const* parked) {
    constexpr int kMost = 1 << 20;
    Link const* link = parked->link.next;
    for (int i = 0; link && link != &parked->link && i < kMost; link = link->next, ++i) {
        auto* source =
            reinterpret_cast<SourceBase const*>(reinterpret_cast<char const*>(link) - offsetof(SourceBase, waiters_));
        if (source->turn_.owner == source && source->turn_.awaited.operation() == source)
            return source;
    }
    return nullptr;
}

void const* SourceBase::codeOf(Waiter const* parked) {
    SourceBase const* source = sourceOf(parked);
    return source ? reinterpret_cast<void const*>(source->turn_.resume) : nullptr;
}

void goOnLater(Waiter& parked) noexcept {
    if (parked.awaited.isOperation()) // otherwise it is parked at an object that resumes it later anyway
        SourceBase::of(parked).wakeInTurn(TaskPriority::DefaultDelay);
}

void SourceBase::abandonAll() noexcept {
    while (!waiters_.isEmpty()) {
        Waiter* waiter = takeFirst(waiters_);
        waiter->link.reset(); // the link points to itself, so that a cancel may unlink it
        waiter->awaited = {};
    }
}

void failWaiter(Waiter* waiter, Error error) noexcept {
    if (waiter->awaited.isPropagating()) {
        waiter->awaited = {};
        if (Waiter* last = failFrame(waiter, error))
            run(last);
        return;
    }
    Cell* failed;
    try {
        failed = newCell<Void>(0, 1, 0, Cell::kError);
        failed->error = error;
    } catch (std::bad_alloc const&) {
        failed = cancelledCell(); // this needs no memory
    }
    waiter->awaited = failed;
    run(waiter);
}

void firstHasLeft(Link* head) noexcept {
    auto* source = reinterpret_cast<SourceBase*>(reinterpret_cast<char*>(head) - offsetof(SourceBase, waiters_));
    static_assert(offsetof(SourceBase, hearing_) == offsetof(SourceBase, waiters_) + sizeof(Link));
    if (!source->isWaitedFor())
        source->turn_.resume(&source->turn_); // calls Op::noneWaits(), if there is one
    else if (!machineStops)
        source->wakeInTurn(source->priority_);
}

void SourceBase::failAll(Error first, Error others) noexcept {
    if (machineStops) [[unlikely]]
        return abandonAll();
    struct {
        Link waiters;
        std::uint32_t hearing = 0; // hearsOfLeaving() reads it if a waiter that runs cancels another
    } list;                        // a local list, since a waiter may destroy the source
    Link& failing = list.waiters;
    failing.reset();
    while (!waiters_.isEmpty()) {
        Waiter* waiter = takeFirst(waiters_);
        pushBack(failing, waiter->link);
    }
    while (!failing.isEmpty())
        failWaiter(takeFirst(failing), std::exchange(first, others));
}

} // namespace flow::detail
