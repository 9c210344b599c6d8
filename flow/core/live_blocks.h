#pragma once
// LiveBlocks: a registry of every result cell that this thread makes while it exists, by group, in the order of making.
// It is how a simulation ends a process with actors that nothing else can reach, and how it reports which actor waits
// for which.
//
//     LiveBlocks liveBlocks;
//     CellGroup group;
//     CellGroup* before = liveBlocks.enter(&group);    // what is made from here on belongs to the group
//     Future<Void> running = serve();
//     liveBlocks.enter(before);
//     group.destroyFrames();                        // destroys the actor and all that it started; none resumes
//
// Costs nothing while none exists. Every allocation is several times as slow while one does. Cells that were made
// before are not in it, nor are those of other threads.

#include "flow/core/cell.h"
#include "flow/memory/allocation_watch.h"

#include <unordered_map>
#include <utility>

namespace flow {

/// Cells that belong together.
class CellGroup : NonCopyable {
public:
    CellGroup() { entries_.reset(); }
    /// Cells that are left belong to no group from here on.
    ~CellGroup() {
        while (!entries_.isEmpty())
            entries_.next->unlink();
    }

    /// Ends every unfinished computation of the group as if the machine had stopped: states and parameters are
    /// destroyed, no handler runs, no waiter is resumed, and futures that are left stay unset forever. None of
    /// them may be running. Afterwards nothing waits for any cell of the group.
    void destroyFrames() noexcept;

    /// Calls visit(Cell*) for each cell, oldest first. It must neither make nor free any.
    template <class Visit>
    void forEach(Visit&& visit) const {
        for (ListLink const* link = entries_.next; link != &entries_; link = link->next)
            visit(static_cast<Entry const*>(link)->cell);
    }
    bool isEmpty() const { return entries_.isEmpty(); }
    /// From here on all its cells belong to `other`.
    void moveTo(CellGroup& other) noexcept;

private:
    friend class LiveBlocks;
    struct Entry : ListLink {
        explicit Entry(detail::Cell* c) : cell(c) {}
        detail::Cell* cell;
    };

    void stopFrames() noexcept;

    ListLink entries_;
};

class LiveBlocks : memory::AllocationWatch {
public:
    ~LiveBlocks() override;

    /// From here on new cells belong to the group; null: to none. Returns the group before.
    CellGroup* enter(CellGroup* group) { return std::exchange(current_, group); }

private:
    void allocated(void* block, void* cell) noexcept final;
    void released(void* block) noexcept final;

    CellGroup* current_ = nullptr;
    // By block. nondeterminism: it is never iterated over.
    std::unordered_map<void*, CellGroup::Entry> entries_;
};

} // namespace flow
