#include "flow/lib/all.h"

namespace flow::detail {

Cell* QuorumFrame::create(std::size_t count, std::size_t needed, bool indifferent) {
    Cell* cell = newCell<Void>(sizeof(QuorumFrame) + count * sizeof(Waiter), 1, 1, Cell::kHasFrame);
    QuorumFrame& frame = of(cell);
    frame.resume = resumeCancelled;
    frame.destroy = nullptr;
    frame.link.next = nullptr;
    frame.group_ = {frame.branches(), static_cast<std::uint32_t>(count), 0};
    frame.needed_ = static_cast<std::uint32_t>(needed);
    frame.parked_ = static_cast<std::uint32_t>(count);
    frame.indifferent_ = indifferent;
    frame.awaited = &frame.group_;
    return cell;
}

Future<Void> QuorumFrame::make(Cell* const* inputs, std::size_t count, std::size_t needed, bool indifferent) {
    std::size_t values = 0; // at the front
    while (values < needed && inputs[values]->isValue())
        ++values;
    needed -= values;
    std::size_t unready = 0;
    for (std::size_t i = values; i < count && needed > 0; ++i) {
        if (!inputs[i]->isReady())
            ++unready;
        else if (inputs[i]->isError() && !indifferent)
            return inputs[i]->error;
        else
            --needed;
    }
    if (needed == 0)
        return Void();
    Cell* cell = create(unready, needed, indifferent);
    QuorumFrame& frame = of(cell);
    Waiter* branch = frame.branches();
    for (std::size_t i = values; i < count; ++i) {
        if (inputs[i]->isReady())
            continue;
        branch->resume = fire;
        branch->owner = &frame;
        addFuture(inputs[i]);
        park(branch++, inputs[i]);
    }
    return Future<Void>::adopt(cell);
}

void QuorumFrame::fire(Waiter* branch) {
    auto* frame = static_cast<QuorumFrame*>(static_cast<Waiter*>(branch->owner));
    Cell* input = branch->awaited.cell();
    --frame->parked_;
    Error error;
    if (input->isError() && !frame->indifferent_) [[unlikely]]
        error = input->error;
    else if (--frame->needed_ > 0) {
        branch->awaited = {};
        return releaseFuture(input);
    }
    // The input is released with the others, when none of them can fire any more: its value's death may complete one.
    if (frame->parked_ == 0) {
        frame->awaited = {};
        branch->awaited = {};
        releaseFuture(input);
    }
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
    if (frame.parked_ != 0) {
        for (std::uint32_t i = 0; i < frame.group_.count; ++i)
            detach(&frame.branches()[i]);
        for (std::uint32_t i = 0; i < frame.group_.count; ++i)
            if (Cell* input = takeAwaited(&frame.branches()[i]))
                releaseFuture(input);
    }
    cell->error = error;
    return finishFrame<Void>(cell, error.isValid() ? Cell::kError : Cell::kValue);
}

} // namespace flow::detail
