#pragma once
// LiveBlocks: a registry of every result cell that this thread makes while it exists, by group, in the order of making.
// It is how a simulation ends a process with actors that nothing else can reach, and how it reports which actor waits
// for which.
//
//     LiveBlocks liveBlocks;
//     CellGroup group;
//     CellGroup* before = liveBlocks.enter(&group);    // cells that are made from here on belong to it
//     Future<Void> running = serve();
//     liveBlocks.enter(before);
//     group.destroyFrames();                        // destroys the actor and all that it started; none resumes
//
//     StoppedMachine stopped(group);                // the same in steps, for a caller that holds futures of it
//     stopped.destroyDetached();
//     running = Future<Void>();
//
// Costs nothing while none exists. Every allocation is several times as slow while one does. Cells that were made
// before it are not in the registry, nor are cells of other threads.

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

    /// Ends every unfinished computation of the group, as ~StoppedMachine() does.
    void destroyFrames() noexcept;

    /// Calls visit(Cell*) for each cell, oldest first. It must neither make nor free any.
    template <class Visit>
    void forEach(Visit&& visit) const {
        for (ListLink const* link = entries_.next; link != &entries_; link = link->next)
            visit(static_cast<Entry const*>(link)->cell);
    }
    bool isEmpty() const { return entries_.isEmpty(); }
    /// From here on all cells of this group belong to `other`.
    void moveTo(CellGroup& other) noexcept;

private:
    friend class LiveBlocks;
    friend class StoppedMachine;
    struct Entry : ListLink {
        explicit Entry(detail::Cell* c) : cell(c) {}
        detail::Cell* cell;
    };

    ListLink entries_; // by age
};

/// While it exists, the computations of a group do not run, as if their machine had stopped: no handler runs, no waiter
/// is resumed, and futures stay unset forever. (Fibers are the exception: their wait throws actor_cancelled, since
/// nothing else destroys the objects on a stack.) No computation of the group may be running when it is made.
///
/// A computation is destroyed where a cancel would reach it: when its last future goes. So the objects that it owns go
/// in the order that its code has chosen: first the operand of its wait, then its locals, the last one first (with a
/// future or a collection of futures also the computations behind them), then its parameters. An object that is older
/// than the future of an owner is still there. Destructors run; computations that they start end as well.
class StoppedMachine : NonCopyable {
public:
    explicit StoppedMachine(CellGroup& cells) noexcept : cells_(cells), before_(detail::machineStops) {
        detail::machineStops = true;
        stop();
    }
    ~StoppedMachine() {
        destroyRest();
        detail::machineStops = before_;
    }

    /// Destroys the computations of which no future is left, newest first: uncancellable ones that nothing awaits.
    void destroyDetached() noexcept { destroy(Which::Detached); }
    /// Destroys the computations that are left, newest first: something outside of the group has futures of them, or
    /// they have futures of each other. Afterwards nothing waits for any cell of the group.
    void destroyRest() noexcept {
        destroyDetached();
        destroy(Which::All);
    }

private:
    enum class Which : bool { Detached, All };

    void stop() noexcept;
    void destroy(Which which) noexcept;

    CellGroup& cells_;
    bool before_;
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
