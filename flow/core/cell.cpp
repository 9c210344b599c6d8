// The life of a cell from the moment it is set. Its status is set first, and then its waiters run, newest first. The
// functions that complete a cell return the last waiter, which the caller runs by a tail call, so that a chain of any
// length needs constant stack. While the other waiters run, a reference of the caller keeps the cell alive.
//
// finishFrame() (cell.h) ends a frame that has destroyed its state itself. failFrame() destroys the frame, and then
// completes its cell with an error; if a waiter of the cell propagates errors, the loop of wakeWithError() destroys
// this waiter too. lastFutureGone() cancels the frame of the cell: it pushes this frame, and then each frame for which
// only pushed frames wait, onto a FrameStack. The innermost frame ends first. Each frame resumes with actor_cancelled,
// or is destroyed if it propagates cancels. A frame that runs at the moment is only marked: its next wait fails.
//
// Destructors and waiters may call these functions again, so each list is read anew after each call.

#include "flow/core/cell.h"

#include "flow/base/stack.h"
#include "flow/core/detail/ending_watch.h"
#include "flow/core/detail/frame_stack.h"
#include "flow/core/detail/kept_exception.h"
#include "flow/core/in_place.h"

namespace flow {

class EndingWatches {
public:
    [[gnu::cold]] static void failed(void const* code, Error error) noexcept;
    [[gnu::cold]] static void cancelled(void const* code) noexcept;
    static void add(EndingWatch& watch) noexcept;
    static void remove(EndingWatch& watch) noexcept;
};

} // namespace flow

namespace flow::detail {
namespace {

/// Returns a code address of the actor: its `resume`, or its `destroy` if it is a coroutine that has ended.
const void* codeOf(Waiter const* frame) noexcept {
    return frame->resume ? reinterpret_cast<const void*>(frame->resume) : reinterpret_cast<const void*>(frame->destroy);
}

constinit thread_local EndingWatch* endingWatch = nullptr; // the newest watch, which links to the older ones

constinit thread_local Cell cancelledByThread = {.waiters = {nullptr, nullptr},
                                                 .futures = 1,
                                                 .promises = 1,
                                                 .error = actor_cancelled(),
                                                 .flags = Cell::kError,
                                                 .sizeClass = memory::kSystemClass,
                                                 .prefixUnits = 0
#if FLOW_CHECKED
                                                 ,
                                                 .owner = nullptr,
                                                 .filler = nullptr
#endif
};

} // namespace

const char FLOW_SETTINGS = 0;

Error withAwaitersOf(Cell* cell, Error error) noexcept {
    Waiter* frame = cell->frame();
    auto* resume = frame->resume;
    if (!resume) // gcc clears it before unhandled_exception(), but the chain names a coroutine by it
        frame->resume = frame->destroy;
    auto codes = reinterpret_cast<std::uintptr_t>(frame->resume);
    if (!cell->waiters.isEmpty())
        codes += 3 * reinterpret_cast<std::uintptr_t>(Waiter::of(cell->waiters.next)->resume);
    Error failure = error.withAwaiters(cell, reinterpret_cast<void const*>(codes));
    frame->resume = resume;
    return failure;
}

void runHandedOver() noexcept {
    while (handedOver) {
        Waiter* next = opaque(std::exchange(handedOver, nullptr));
        noteRunning(next);
        next->resume(next);
    }
}

void detach(Waiter* waiter) noexcept {
    Link* before = waiter->link.isLinked() ? waiter->link.prev : nullptr;
    if (before)
        waiter->link.unlink();
    if (waiter->awaited.isTimer()) {
        FastAllocator<sizeof(TimerSlot)>::release(waiter->awaited.timer());
        waiter->awaited = {};
    } else if (waiter->awaited.isOperation()) {
        waiter->awaited = {};
        if (before && hearsOfLeaving(before)) [[unlikely]]
            firstHasLeft(before);
    } else if (waiter->awaited.isGroup()) {
        BranchGroup* group = waiter->awaited.group();
        for (std::uint32_t i = 0; i < group->count; ++i)
            detach(&group->branches[i]);
    }
}

namespace {

Cell* takeFrom(BranchGroup* group) noexcept {
    // Removes the branches without a cell, so that n calls together take n steps. Always keeps one branch.
    while (group->count > 1 && group->branches->awaited.isNothing()) {
        ++group->branches;
        --group->count;
    }
    for (std::uint32_t i = 0; i < group->count; ++i)
        if (Cell* cell = takeAwaited(&group->branches[i]))
            return cell;
    return nullptr;
}

} // namespace

Cell* takeAwaited(Waiter* waiter) noexcept {
    if (waiter->awaited.isGroup()) [[unlikely]]
        return takeFrom(waiter->awaited.group());
    Cell* cell = waiter->awaited.anyCell();
    waiter->awaited = {};
    return cell;
}

namespace {

/// The number of waits of one cancelled frame: the frame that waited last. Such a frame never suspends, so one count
/// for the thread is enough.
struct CancelledWaits {
    Waiter const* frame = nullptr;
    int count = 0;
};
constinit thread_local CancelledWaits cancelledWaits;

/// Ends a frame that another cancelled frame drops. Keeps the count of the other frame: that frame may be in a loop.
[[gnu::noinline, gnu::cold]] void runWithin(Waiter* frame) noexcept {
    CancelledWaits outer = std::exchange(cancelledWaits, {});
    run(frame);
    cancelledWaits = outer;
}

/// Ends a cancelled frame for a FrameStack: resumes it with actor_cancelled, or destroys it if it propagates cancels.
struct Cancelling {
    /// True if the cell has a frame that can be cancelled and was not cancelled yet.
    static bool mayEnd(Cell const* cell) noexcept {
        return (cell->flags & (Cell::kHasFrame | Cell::kCancelled | Cell::kUncancellable)) == Cell::kHasFrame;
    }
    /// Marks the frame as cancelled, and unlinks a parked frame. False if the frame runs: then its next wait fails.
    FLOW_INLINE static bool begin(Cell* cell, Waiter* frame) noexcept {
        cell->flags |= Cell::kCancelled;
        if (endingWatch) [[unlikely]]
            EndingWatches::cancelled(codeOf(frame));
        if (frame->link.isLinked()) {
            if (frame->awaited.isTimer() || frame->awaited.isOperation())
                detach(frame);
            else
                frame->link.unlink();
        } else if (frame->awaited.isGroup()) {
            detach(frame);
        } else {
            forgetCancelledWaits();
            return false;
        }
        return true;
    }
    static void end(Waiter* frame) noexcept {
        if (Cell::of(frame)->has(Cell::kPropagates)) {
            frame->awaited = {};
            if (Waiter* last = failFrame(frame, actor_cancelled()))
                run(last);
        } else {
            frame->awaited = cancelledCell();
            if (cancelledWaits.frame) [[unlikely]]
                return runWithin(frame);
            run(frame);
            cancelledWaits.frame = nullptr;
        }
    }
};

// The destructor of a state or a value may end further actors, and so destroy their states: such calls nest as deep as
// the data. Waiters that wake other waiters nest too. An inner call cannot be delayed: later, an object that it needs
// may be gone. If little stack is left, withRoom() makes the inner call on another stack.

} // namespace

void freeWithCare(Cell* cell) noexcept {
    if (cell->isUnreadError()) {
        bool hadFrame = (cell->flags & Cell::kErrorOfFrame) == Cell::kErrorOfFrame;
        reportUnreadError(hadFrame ? codeOf(cell->frame()) : nullptr, cell->error);
    }
    if (cell->has(Cell::kDestroyValue))
        withRoom([cell] { reinterpret_cast<void (**)(Cell*)>(cell)[-1](cell); });
    memory::release(cell->valueAddress(), cell->sizeClass);
}

void freeUnseen(Cell* cell) noexcept {
    freeCell(cell);
}

namespace {

/// The rare part of errorStatus(): calls the watches, and reports an error that no future can receive.
[[gnu::noinline, gnu::cold]] std::uint8_t reportEnding(Cell* cell, std::uint32_t own) noexcept {
    if (endingWatch)
        EndingWatches::failed(codeOf(cell->frame()), cell->error);
    if (isReported(cell->error) && cell->futures > own)
        return Cell::kErrorOfFrame;
    reportDroppedError(codeOf(cell->frame()), cell->error);
    return Cell::kErrorOfFrame & ~Cell::kUnreadBit;
}

/// `isUnwatched` is true if the caller has just tested that there is no watch.
FLOW_INLINE std::uint8_t errorStatus(Cell* cell, std::uint32_t own, bool isUnwatched = false) noexcept {
    if (!isUnwatched && endingWatch) [[unlikely]]
        return reportEnding(cell, own);
    if (!isReported(cell->error))
        return Cell::kErrorOfFrame & ~Cell::kUnreadBit;
    return cell->futures > own ? Cell::kErrorOfFrame : reportEnding(cell, own);
}

/// Destroys the frame and stores the error in its cell. Returns the cell, which is not completed yet.
FLOW_INLINE Cell* endInError(Waiter* frame, Error error, bool isUnwatched = false) noexcept {
    Cell* cell = Cell::of(frame);
    frame = opaque(frame);
    frame->destroy(frame);
    cell->error = error;
    setEnded(cell, errorStatus(cell, 0, isUnwatched));
    return cell;
}
/// Like endInError(), with the error of the cell `failed`. Takes over a reference to `failed`.
[[gnu::noinline, gnu::cold]] Cell* endWatched(Waiter* frame, Cell* failed) noexcept {
    return endInError(frame, takeErrorFor(Cell::of(frame), failed));
}
FLOW_INLINE Cell* endInErrorOf(Waiter* frame, Cell* failed) noexcept {
    if (endingWatch) [[unlikely]] // as long as cells keep exceptions, there is a watch
        return endWatched(frame, failed);
    return endInError(frame, takeError(failed), true);
}

/// Ends a waiter with the error of the cell that it awaits. The waiter must propagate errors, and must be in no list.
Cell* propagateError(Waiter* waiter) noexcept {
    Cell* failed = waiter->awaited.anyCell();
    waiter->awaited = {};
    return endInErrorOf(waiter, failed);
}

/// Called when `waiter` has been removed from the list of a failed cell. Returns `waiter` for the caller to run. But if
/// `waiter` propagates the error, ends `waiter`, and returns the last of the waiters that wait for `waiter`, or null.
Waiter* propagated(Waiter* waiter) noexcept {
    return waiter->awaited.isPropagating() ? finishFrame(propagateError(waiter), Cell::kError) : waiter;
}

/// The part of wakeAllButLast() for an error. If the last waiter propagates it, ends its frame and wakes its waiters.
Waiter* wakeWithError(Cell* cell) noexcept {
    for (Cell* ended = nullptr;
         ;) { // the cell of a frame that failed here; keeps its promise reference until its waiters have run
        Waiter* last = nullptr;
        while (!cell->waiters.isEmpty()) { // a waiter that runs may cancel the waiters that are left
            last = takeFirst(cell->waiters);
            if (cell->waiters.isEmpty())
                break;
            if (Waiter* next = propagated(std::exchange(last, nullptr)))
                run(next);
        }
        if (ended)
            releasePromise(ended);
        if (!last || !last->awaited.isPropagating())
            return last;
        cell = ended = propagateError(last);
    }
}

Waiter* wakeWithValue(Cell* cell) noexcept {
    Link& waiters = cell->waiters;
    do {
        run(takeFirst(waiters));
        if (waiters.isEmpty()) // the waiters that were left have been cancelled meanwhile
            return nullptr;
    } while (waiters.next != waiters.prev);
    return takeFirst(waiters);
}

/// Calls `wake`, on a new stack if needed, because a waiter may wake further waiters: these calls nest.
template <Waiter* (*wake)(Cell*) noexcept>
[[gnu::noinline]] Waiter* wakeWithRoom(Cell* cell) noexcept {
    Waiter* last = nullptr;
    withRoom([cell, &last] { last = wake(cell); });
    return last;
}

FLOW_INLINE Waiter* completeEnded(Cell* cell) noexcept {
    if (!cell->waiters.isEmpty())
        return finishFrame(cell, Cell::kError);
    releasePromise(cell); // not finishFrame(): its freeUnseen() saves all registers, and often no future is left
    return nullptr;
}

} // namespace

Waiter* failFrame(Waiter* frame, Error error) noexcept {
    return completeEnded(endInError(frame, error));
}

Waiter* failFrameWith(Waiter* frame, Cell* failed) noexcept {
    return completeEnded(endInErrorOf(frame, failed));
}

Waiter* wakeAllButLast(Cell* cell) noexcept {
    return cell->isError() ? wakeWithRoom<wakeWithError>(cell) : wakeWithRoom<wakeWithValue>(cell);
}

Waiter* wakeAndRelease(Cell* cell) noexcept {
    Waiter* last = wakeAllButLast(cell);
    releasePromise(cell);
    return last;
}

void breakPromise(Cell* cell, Error error) noexcept {
    withRoom([cell, error] {
        cell->error = error;
        if (Waiter* last = complete(cell, Cell::kError))
            run(last);
    });
}

void cancel(Cell* cell) noexcept {
    checkThread(cell);
    lastFutureGone(cell);
}

bool startDormant(Cell* cell, StartKept how) {
    KeptFrame* frame = KeptFrame::of(cell);
    return frame->start(frame, how);
}

void lastFutureGone(Cell* cell) noexcept {
    if (!Cancelling::mayEnd(cell)) {
        if (machineStops) [[unlikely]]
            stoppedFutureGone(cell);
        return;
    }
    // always_inline: the lambda has two callers. If it were not inlined, each cancel would take 20 instructions more.
    withRoom([cell]() __attribute__((always_inline)) {
        FrameStack<Cancelling> stack;
        stack.push(cell);
        stack.unwind();
    });
}

std::uint8_t statusOfError(Cell* cell, std::uint32_t own) noexcept {
    return errorStatus(cell, own);
}

void countCancelledWait(Waiter* frame) noexcept {
    constexpr int kMost = 50'000;
    if (frame != cancelledWaits.frame)
        cancelledWaits = {frame, 0};
    if (++cancelledWaits.count < kMost)
        return;
    runningActor = codeOf(frame);
    FLOW_ASSERT(cancelledWaits.count < kMost,
                "an actor or coroutine was cancelled, and goes on waiting: a handler in a loop swallows "
                "actor_cancelled at every wait");
}

[[gnu::noinline]] void forgetCancelledWaits() noexcept { // inlined, it would make hot code save more registers
    cancelledWaits.frame = nullptr;
}

Cell* cancelledCell(Cell* operand, Waiter* frame) noexcept {
    if (frame)
        countCancelledWait(frame);
    if (operand)
        releaseFuture(operand);
#if FLOW_CHECKED
    cancelledByThread.owner = thisThread();
#endif
    ++cancelledByThread.futures;
    return &cancelledByThread;
}

std::uint32_t futureCount(Cell const* cell) noexcept {
    std::uint32_t waiters = 0; // each waiter holds a reference
    for (Link const* link = cell->waiters.next; link != &cell->waiters; link = link->next)
        ++waiters;
    return cell->futures - waiters + (waiters != 0 ? 1 : 0);
}

void abandon(Waiter* waiter) noexcept {
    detach(waiter);
    while (Cell* cell = takeAwaited(waiter))
        releaseFuture(cell);
    waiter->awaited = {};
}

} // namespace flow::detail

namespace flow {

void EndingWatches::failed(void const* code, Error error) noexcept {
    for (EndingWatch* each = detail::endingWatch; each; each = each->next_)
        each->failed(code, error);
}

void EndingWatches::cancelled(void const* code) noexcept {
    for (EndingWatch* each = detail::endingWatch; each; each = each->next_)
        each->cancelled(code);
}

void EndingWatches::add(EndingWatch& watch) noexcept {
    watch.next_ = std::exchange(detail::endingWatch, &watch);
}

void EndingWatches::remove(EndingWatch& watch) noexcept {
    for (EndingWatch** place = &detail::endingWatch; *place; place = &(*place)->next_)
        if (*place == &watch) {
            *place = watch.next_;
            return;
        }
}

void addEndingWatch(EndingWatch& watch) noexcept {
    EndingWatches::add(watch);
}

void removeEndingWatch(EndingWatch& watch) noexcept {
    EndingWatches::remove(watch);
}

} // namespace flow
