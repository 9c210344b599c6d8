#include "flow/lib/all.h"

namespace flow::detail {

Cell* QuorumFrame::create(std::size_t count, std::size_t needed, bool indifferent) {
    Cell* cell = newCell<Void>(sizeof(QuorumFrame) + count * sizeof(Waiter), 1, 1, Cell::kHasFrame);
    QuorumFrame& frame = of(cell);
    frame.resume = resumeCancelled;
    frame.destroy = nullptr;
    frame.link.next = nullptr;
    frame.group_ = {frame.branches(), 0, 0};
    frame.needed_ = needed;
    frame.indifferent_ = indifferent;
    // Parked from the start, so that dropping the future at any point releases what has been added.
    frame.awaited = &frame.group_;
    return cell;
}

void QuorumFrame::add(Cell* input) {
    Waiter& branch = branches()[group_.count++];
    branch.resume = fire;
    branch.owner = this;
    branch.link.next = nullptr;
    branch.awaited = input;
}

Future<Void> QuorumFrame::start(Cell* cell) noexcept {
    QuorumFrame& frame = of(cell);
    Future<Void> future = Future<Void>::adopt(cell);
    Error error;
    for (std::uint32_t i = 0; i < frame.group_.count && frame.needed_ > 0; ++i) {
        Cell* input = frame.branches()[i].awaited.cell();
        if (!input->isReady())
            continue;
        --frame.needed_;
        error = frame.errorOf(input);
        if (error.isValid())
            break;
    }
    if (frame.needed_ == 0 || error.isValid()) {
        finish(cell, error); // nobody waits yet: there is nobody to hand over to
        return future;
    }
    for (std::uint32_t i = 0; i < frame.group_.count; ++i) {
        Waiter& branch = frame.branches()[i];
        if (!branch.awaited.cell()->isReady())
            park(&branch, branch.awaited.cell());
    }
    // Those that were counted above. All others are parked by now: the death of a value may complete one of them, and
    // with that decide the quorum, which leaves nothing to release.
    for (std::uint32_t i = 0; i < frame.group_.count && cell->has(Cell::kHasFrame); ++i) {
        Waiter& branch = frame.branches()[i];
        if (!branch.link.isLinked())
            if (Cell* input = takeAwaited(&branch))
                releaseFuture(input);
    }
    return future;
}

void QuorumFrame::fire(Waiter* branch) {
    auto* frame = static_cast<QuorumFrame*>(static_cast<Waiter*>(branch->owner));
    Cell* input = branch->awaited.cell();
    Error error = frame->errorOf(input);
    if (!error.isValid() && --frame->needed_ > 0) {
        branch->awaited = {};
        return releaseFuture(input);
    }
    // The input is released with the others, when none of them can fire any more: its value's death may complete one.
    if (Waiter* last = finish(Cell::of(frame), error))
        FLOW_HAND_OVER(last);
}

void QuorumFrame::resumeCancelled(Waiter* frame) {
    releaseFuture(frame->awaited.cell());
    frame->awaited = {};
    if (Waiter* last = finish(Cell::of(frame), actor_cancelled()))
        FLOW_HAND_OVER(last);
}

Waiter* QuorumFrame::finish(Cell* cell, Error error) noexcept {
    QuorumFrame& frame = of(cell);
    frame.awaited = {}; // from here on a cancel finds nothing to do
    for (std::uint32_t i = 0; i < frame.group_.count; ++i)
        detach(&frame.branches()[i]);
    for (std::uint32_t i = 0; i < frame.group_.count; ++i)
        if (Cell* input = takeAwaited(&frame.branches()[i]))
            releaseFuture(input);
    cell->error = error;
    return finishFrame(cell, error.isValid() ? Cell::kError : Cell::kValue);
}

} // namespace flow::detail
