#include "flow/wait/yielded.h"

#include "flow/wait/detail/pending.h"

namespace flow {
namespace detail {
namespace {

bool mustYield() {
    return yieldRules ? yieldRules->needed() : hasLoop() && Loop::current().shouldYield();
}
Future<Void> pause() {
    return yieldRules ? yieldRules->pause() : Future<Void>(delay(0, TaskPriority::DefaultYield));
}
/// Starts a pause and returns its cell. Returns null if the pause is over already, or if there is no memory for it:
/// then the frames run without a delay, because nothing would wake them later.
Cell* tryToPause() noexcept {
    try {
        Future<Void> turn = pause();
        return turn.isReady() ? nullptr : std::move(turn).release();
    } catch (...) {
        return nullptr;
    }
}

/// A frame that is parked behind all other waiters: first of the future, and then perhaps of a pause.
struct YieldedFrame : Waiter {
    Error error;  // the error of the future, once the future is ready
    bool isFirst; // true until the first frame of a pause has run: that frame does not call mustYield()

    static YieldedFrame& of(Cell* cell) { return *static_cast<YieldedFrame*>(cell->frame()); }

    /// Parks this frame behind the waiters of the cell. Takes one future reference.
    void parkBehind(Cell* cell) {
        awaited = cell;
        pushBack(cell->waiters, link);
    }

    static void fire(Waiter* waiter) {
        auto& frame = *static_cast<YieldedFrame*>(waiter);
        Cell* own = Cell::of(waiter);
        Cell* input = waiter->awaited.cell();
        Error error = frame.error;
        if (input->isError()) {
            shareException(own, input);
            error = readError(input);
        }
        if (own->has(Cell::kCancelled)) {
            // a cancelled frame leaves `isFirst` of the next frame as it is
        } else if (frame.isFirst) {
            forEach(input, [](YieldedFrame& next) { next.isFirst = false; });
        } else if (mustYield()) {
            if (Cell* turn = tryToPause())
                return frame.putOff(input, error, turn);
        }
        waiter->awaited = {};
        releaseFuture(input);
        own->error = error;
        if (Waiter* last = finishFrame<Void>(own, error.isValid() ? Cell::kError : Cell::kValue))
            FLOW_HAND_OVER(last);
    }

    /// Calls `act` for each yielded frame that waits for the cell. `act` may unlink the frame.
    template <class F>
    static void forEach(Cell* cell, F act) {
        Link* end = &cell->waiters;
        for (Link *link = end->next, *next; link != end; link = next) {
            next = link->next;
            if (Waiter::of(link)->resume == fire)
                act(*static_cast<YieldedFrame*>(Waiter::of(link)));
        }
    }

    /// Parks this frame, and all frames behind it, at the pause `turn`.
    void putOff(Cell* input, Error found, Cell* turn) {
        auto move = [=](YieldedFrame& frame) {
            frame.error = found;
            frame.isFirst = true;
            frame.parkBehind(turn);
        };
        move(*this);
        forEach(input, [=](YieldedFrame& next) {
            next.link.unlink();
            addFuture(turn);
            move(next);
            releaseFuture(input); // not the last reference: the frame that fired still has one
        });
        releaseFuture(input);
    }
};

} // namespace
} // namespace detail

Future<Void> yieldedFuture(Future<Void> what, std::source_location caller) {
    using namespace detail;
    validCell(what, caller);
    if (what.isReady())
        return what.isError() || !mustYield() ? what : pause();
    Cell* cell = newCell<Void>(sizeof(YieldedFrame), 1, 1, Cell::kHasFrame);
    YieldedFrame& frame = YieldedFrame::of(cell);
    frame.resume = YieldedFrame::fire;
    frame.destroy = nullptr;
    frame.error = Error();
    frame.isFirst = false;
    frame.parkBehind(std::move(what).release());
    return Future<Void>::adopt(cell);
}

} // namespace flow
