#pragma once
// LiveBlocks: a registry of the result cells that this thread makes while the registry exists, by group, oldest first.
// A simulation uses it to end all actors of a process, also unreachable ones, and to report the waits of all actors.
//
//     LiveBlocks liveBlocks;
//     CellGroup group;
//     CellGroup* before = liveBlocks.enter(&group);    // cells that are made from here on belong to it
//     Future<Void> running = serve();
//     liveBlocks.enter(before);
//     group.destroyFrames();                        // destroys the actor and all that it started; none resumes
//
//     StoppedMachine stopped(group);                // the same in steps, for a caller that holds futures
//     stopped.destroyDetached();
//     running = Future<Void>();
//
// Without a LiveBlocks there is no cost. With a LiveBlocks, every allocation is several times as slow. Cells that were
// made before the registry, or by other threads, are not in it.

#include "flow/core/cell.h"
#include "flow/memory/allocation_watch.h"

#include <unordered_map>
#include <utility>

namespace flow {

/// A group of cells, such as all cells of one simulated process.
class CellGroup : NonCopyable {
public:
    CellGroup() { entries_.reset(); }
    /// Unlinks the remaining cells, which then belong to no group.
    ~CellGroup() {
        while (!entries_.isEmpty())
            entries_.next->unlink();
    }

    /// Ends every unfinished computation of the group, as ~StoppedMachine() does.
    void destroyFrames() noexcept;

    /// Calls visit(Cell*) for each cell, oldest first. `visit` must neither make nor free cells.
    template <class Visit>
    void forEach(Visit&& visit) const {
        for (ListLink const* link = entries_.next; link != &entries_; link = link->next)
            visit(static_cast<Entry const*>(link)->cell);
    }
    bool isEmpty() const { return entries_.isEmpty(); }
    void moveTo(CellGroup& other) noexcept;

private:
    friend class LiveBlocks;
    friend class StoppedMachine;
    struct Entry : ListLink {
        explicit Entry(detail::Cell* c) : cell(c) {}
        detail::Cell* cell;
    };

    ListLink entries_; // oldest first
};

/// While a StoppedMachine exists, the computations of a group do not run, as if their machine had stopped: no handler
/// runs, no waiter is resumed, and futures stay unset forever. (Only fibers run: their wait throws actor_cancelled,
/// since nothing else destroys the objects on a stack.) When it is made, none of these computations may run.
///
/// A computation is destroyed, not cancelled, when its last future is released. Its objects are destroyed in the order
/// of its code: first the operand of its wait; then its locals, the last one first (with a local future, also the
/// computation behind it); then its parameters. Objects that are older than the future still exist then. Destructors
/// run; if they start computations, these are destroyed too.
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

    /// Destroys the computations without futures, newest first: uncancellable computations that nothing awaits.
    void destroyDetached() noexcept { destroy(Which::Detached); }
    /// Destroys the other computations too, newest first. Their futures belong to code outside of the group, or to each
    /// other. Afterwards nothing waits for any cell of the group.
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

    /// Puts new cells into `group` from now on; with null, into no group. Returns the previous group.
    CellGroup* enter(CellGroup* group) { return std::exchange(current_, group); }

private:
    void allocated(void* block, void* cell) noexcept final;
    void released(void* block) noexcept final;

    CellGroup* current_ = nullptr;
    // The key is the block. nondeterminism: it is never iterated over.
    std::unordered_map<void*, CellGroup::Entry> entries_;
};

} // namespace flow
