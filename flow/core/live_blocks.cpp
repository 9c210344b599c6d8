#include "flow/core/live_blocks.h"

#include "flow/base/stack.h"

namespace flow {
using namespace detail;
namespace {

/// Of a frame that has been detached and cannot be cancelled any more.
void destroyFrame(Cell* cell) noexcept {
    Waiter* frame = cell->frame();
    while (Cell* awaited = takeAwaited(frame))
        releaseFuture(awaited);
    if (!frame->destroy) { // of the library: a cancel makes it clear up, and runs no code of users
        frame->awaited = cancelledCell();
        return run(frame);
    }
    frame->awaited = {};
    withRoom([frame] { opaque(frame)->destroy(frame); });
    cell->flags = static_cast<std::uint8_t>((cell->flags & Cell::kDestroyValue) | Cell::kUnset);
    releasePromise(cell);
}

/// Moves all blocks of `from` to `to`, which is not initialised before.
void moveAll(Link& from, Link& to) noexcept {
    to.reset();
    if (from.isEmpty())
        return;
    insertBetween(*from.prev, to, from);
    from.unlink();
    from.reset();
}

} // namespace

/// Afterwards no cell resumes a waiter, and no cancel does anything.
void CellGroup::stopFrames() noexcept {
    for (Link* link = entries_.next; link != &entries_; link = link->next) {
        Cell* cell = static_cast<Entry*>(link)->cell;
        while (!cell->waiters.isEmpty())
            takeFirst(cell->waiters);
        if (cell->has(Cell::kHasFrame)) {
            cell->flags |= Cell::kCancelled;
            detach(cell->frame());
        }
    }
}

void CellGroup::destroyFrames() noexcept {
    Link done; // what has been seen: a frame that ends takes others, also of these, out of either list
    done.reset();
    while (!entries_.isEmpty()) {
        stopFrames(); // again, for what destructors have started
        Link seen;
        moveAll(entries_, seen);
        while (!seen.isEmpty()) {
            auto* entry = static_cast<Entry*>(seen.next);
            entry->unlink();
            pushBack(done, *entry);
            if (entry->cell->has(Cell::kHasFrame))
                destroyFrame(entry->cell);
        }
    }
    moveAll(done, entries_);
}

void CellGroup::moveTo(CellGroup& other) noexcept {
    Link all;
    moveAll(entries_, all);
    while (!all.isEmpty()) {
        Link* first = all.next;
        first->unlink();
        pushBack(other.entries_, *first);
    }
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
