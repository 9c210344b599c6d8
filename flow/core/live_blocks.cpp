#include "flow/core/detail/live_blocks.h"

#include "flow/base/stack.h"
#include "flow/core/detail/frame_stack.h"

namespace flow {
using namespace detail;
namespace {

/// Ends a frame of a stopped machine for a FrameStack. The frame has been detached, and is marked as cancelled and as
/// uncancellable. A task may have both marks too, so mayEnd() tests kForeignClass: only tasks have it.
struct Stopping {
    static constexpr std::uint8_t kMarks = Cell::kHasFrame | Cell::kCancelled | Cell::kUncancellable;

    static bool mayEnd(Cell const* cell) noexcept {
        return (cell->flags & kMarks) == kMarks && cell->sizeClass != memory::kForeignClass;
    }
    /// Removes a mark, so that nothing ends the frame again. Detaches the frame once more: a destructor that gave back
    /// a lock, for example, may have put the frame into the loop's queue.
    static bool begin(Cell* cell, Waiter* frame) noexcept {
        cell->flags &= static_cast<std::uint8_t>(~Cell::kUncancellable);
        detach(frame);
        return true;
    }
    static void end(Waiter* frame) noexcept {
        if (!frame->destroy) { // a frame of the library: a cancel ends it. Only a fiber then still runs users' code
            frame->awaited = cancelledCell();
            return run(frame);
        }
        Cell* cell = Cell::of(frame);
        frame->awaited = {};
        opaque(frame)->destroy(frame);
        cell->flags = static_cast<std::uint8_t>((cell->flags & Cell::kDestroyValue) | Cell::kUnset);
        releasePromise(cell);
    }
};

void moveAll(Link& from, Link& to) noexcept {
    if (from.isEmpty())
        return;
    Link& first = *from.next;
    Link& last = *from.prev;
    from.reset();
    first.prev = to.prev;
    last.next = &to;
    to.prev->next = &first;
    to.prev = &last;
}

} // namespace

void detail::stoppedFutureGone(Cell* cell) noexcept {
    if (!Stopping::mayEnd(cell))
        return;
    withRoom([cell] {
        FrameStack<Stopping> stack;
        stack.push(cell);
        stack.unwind();
    });
}

/// Detaches all waiters and marks all frames: afterwards neither a cell nor a cancel resumes a waiter.
void StoppedMachine::stop() noexcept {
    for (Link* link = cells_.entries_.next; link != &cells_.entries_; link = link->next) {
        Cell* cell = static_cast<CellGroup::Entry*>(link)->cell;
        while (!cell->waiters.isEmpty())
            takeFirst(cell->waiters);
        if (cell->has(Cell::kHasFrame) && !Stopping::mayEnd(cell)) {
            cell->flags |= Stopping::kMarks;
            detach(cell->frame());
        }
    }
}

void StoppedMachine::destroy(Which which) noexcept {
    Link& entries = cells_.entries_;
    Link all; // oldest first
    all.reset();
    while (!entries.isEmpty()) {
        stop();          // again, for what destructors have started
        Link seen, done; // the end of a frame may free cells: their entries leave these lists
        seen.reset();
        done.reset();
        moveAll(entries, seen);
        while (!seen.isEmpty()) {
            auto* newest = static_cast<CellGroup::Entry*>(seen.prev);
            newest->unlink();
            pushFront(done, *newest);
            if (which == Which::All || newest->cell->futures == 0)
                stoppedFutureGone(newest->cell);
        }
        moveAll(done, all);
    }
    moveAll(all, entries);
}

void CellGroup::destroyFrames() noexcept {
    StoppedMachine stopped(*this);
}

void CellGroup::moveTo(CellGroup& other) noexcept {
    moveAll(entries_, other.entries_);
}

LiveBlocks::~LiveBlocks() {
    for (auto& [block, entry] : entries_)
        if (entry.isLinked())
            entry.unlink();
}

void LiveBlocks::allocated(void* block, void* cell) noexcept {
    if (!cell || !current_)
        return;
    auto [place, isNew] = entries_.try_emplace(block, static_cast<Cell*>(cell));
    FLOW_ASSERT(isNew, "a block is allocated twice");
    pushBack(current_->entries_, place->second);
}

void LiveBlocks::released(void* block) noexcept {
    auto place = entries_.find(block);
    if (place == entries_.end())
        return;
    if (place->second.isLinked())
        place->second.unlink();
    entries_.erase(place);
}

} // namespace flow
