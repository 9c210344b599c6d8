#include "flow/wait/delay.h"

namespace flow {
using namespace detail;
namespace {

/// Completes the cell of a future that was made from a delay. Called when the delay ends or is cancelled.
void completeDelay(Waiter* frame) {
    Cell* cell = Cell::of(frame);
    Cell* cancelled = frame->awaited.cell();
    frame->awaited = {};
    if (cancelled) {
        releaseFuture(cancelled);
        cell->error = actor_cancelled();
    }
    if (Waiter* last = finishFrame<Void>(cell, cancelled ? Cell::kError : Cell::kValue))
        FLOW_HAND_OVER(last);
}

} // namespace

Delay::operator Future<Void>() const {
    Cell* cell = newCell<Void>(sizeof(Waiter), 1, 1, Cell::kHasFrame);
    Future<Void> future = Future<Void>::adopt(cell);
    Waiter* frame = cell->frame();
    *frame = {};
    frame->resume = completeDelay;
    try {
        Loop::current().parkUntil(frame, deadline_, priority_);
    } catch (...) { // no memory for the timer: nothing is parked, so nothing is left to cancel
        cell->flags = Cell::kUnset;
        cell->promises = 0;
        throw;
    }
    return future;
}

Yield::operator Future<Void>() const {
    if (Loop::current().shouldYield())
        return delay(0, priority_);
    return Void();
}

} // namespace flow
