#include "flow/combine/quorum.h"

#include "flow/base/format.h"

namespace flow {

Error combine::tooFew(std::size_t count, std::size_t operands) {
    return client_invalid_operation().withSentence(
        format("some(): count is %zu; there are only %zu operands", count, operands));
}

namespace detail {

Future<Void> QuorumFrame::make(Cell* const* inputs, std::size_t count, std::size_t needed, Remaining remaining,
                               bool indifferent, std::size_t spare) {
    Cell const* failed = nullptr;
    std::size_t unready = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (needed == 0 && remaining == Remaining::Released)
            break;
        if (!inputs[i]->isReady()) {
            ++unready;
            continue;
        }
        if (inputs[i]->isError())
            (void)readError(inputs[i]);
        if (needed == 0)
            continue;
        if (!inputs[i]->isError() || indifferent) {
            --needed;
        } else if (spare == 0) {
            failed = inputs[i];
            needed = 0;
        } else {
            --spare;
        }
    }
    if (needed == 0 && (unready == 0 || remaining == Remaining::Released))
        return failed ? failedLike<Void>(failed) : Future<Void>(Void());
    Cell* cell = newCell<Void>(sizeof(QuorumFrame) + unready * sizeof(Waiter), 1, 1, Cell::kHasFrame);
    QuorumFrame& frame = of(cell);
    frame.resume = resumeCancelled;
    frame.destroy = nullptr;
    frame.link.next = nullptr;
    frame.group_ = {frame.branches(), static_cast<std::uint32_t>(unready), 0};
    frame.needed_ = static_cast<std::uint32_t>(needed);
    frame.parked_ = static_cast<std::uint32_t>(unready);
    frame.spare_ = static_cast<std::uint32_t>(spare);
    frame.remaining_ = remaining;
    frame.indifferent_ = indifferent;
    frame.awaited = &frame.group_;
    Waiter* branch = frame.branches();
    for (std::size_t i = 0; i < count; ++i) {
        if (inputs[i]->isReady())
            continue;
        branch->resume = fire;
        branch->owner = &frame;
        addFuture(inputs[i]);
        park(branch++, inputs[i]);
    }
    if (needed == 0) {
        if (failed) {
            cell->error = failed->error;
            shareException(cell, failed);
        }
        cell->setStatus(failed ? Cell::kError : Cell::kValue);
    }
    return Future<Void>::adopt(cell);
}

void QuorumFrame::fire(Waiter* branch) {
    auto* frame = static_cast<QuorumFrame*>(static_cast<Waiter*>(branch->owner));
    Cell* input = branch->awaited.cell();
    if (!input->isValue() || frame->needed_ <= 1) [[unlikely]] {
        if (Waiter* last = fireWithCare(branch))
            FLOW_HAND_OVER(last);
        return;
    }
    branch->awaited = {};
    --frame->parked_;
    --frame->needed_;
    releaseFuture(input);
}

Waiter* QuorumFrame::fireWithCare(Waiter* branch) noexcept {
    auto* frame = static_cast<QuorumFrame*>(static_cast<Waiter*>(branch->owner));
    Cell* cell = Cell::of(frame);
    Cell* input = branch->awaited.cell();
    branch->awaited = {};
    if (input->isError()) { // the errors of all inputs count as read, also if they do not decide
        if (!frame->isDecided())
            shareException(cell, input);
        (void)readError(input);
    }
    bool isLast = --frame->parked_ == 0;
    if (frame->isDecided()) { // the result is ready already, and its future keeps the frame
        if (isLast)
            retire(cell);
        releaseFuture(input);
        return nullptr;
    }
    std::uint8_t status = input->isError() && !frame->indifferent_ ? Cell::kError : Cell::kValue;
    if (status == Cell::kValue ? --frame->needed_ > 0 : frame->spare_ > 0) {
        frame->spare_ -= status != Cell::kValue;
        releaseFuture(input);
        return nullptr;
    }
    // Decides first, and then releases the input: the release may run code that completes inputs or drops the result.
    frame->needed_ = 0;
    cell->error = status == Cell::kError ? input->error : Error();
    addPromise(cell);
    if (isLast)
        retire(cell);
    else if (frame->remaining_ == Remaining::Released)
        releaseBranches(cell);
    releaseFuture(input);
    Waiter* last = complete(cell, status);
    releasePromise<Void>(cell);
    return last;
}

void QuorumFrame::resumeCancelled(Waiter* waiter) {
    Cell* cell = Cell::of(waiter);
    releaseFuture(waiter->awaited.cell());
    if (of(cell).isDecided())
        return retire(cell);
    waiter->awaited = {};
    cell->error = actor_cancelled();
    if (Waiter* last = finishFrame<Void>(cell, Cell::kError))
        FLOW_HAND_OVER(last);
}

void QuorumFrame::releaseBranches(Cell* cell) noexcept {
    QuorumFrame& frame = of(cell);
    frame.awaited = {}; // from here on a cancel finds nothing to do
    for (std::uint32_t i = 0; i < frame.group_.count; ++i)
        detach(&frame.branches()[i]);
    for (std::uint32_t i = 0; i < frame.group_.count; ++i)
        if (Cell* input = takeAwaited(&frame.branches()[i]))
            releaseFuture(input);
    retire(cell);
}

void QuorumFrame::retire(Cell* cell) noexcept {
    cell->frame()->awaited = {};
    cell->flags &= static_cast<std::uint8_t>(~Cell::kHasFrame);
    releasePromise<Void>(cell);
}

} // namespace detail
} // namespace flow
