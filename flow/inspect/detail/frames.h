#pragma once
// Frames: finds the unfinished computations of this thread without a registry.
//
//     Frames frames = Frames::ofThread();
//     for (Frame const& each : frames) use(each.waiter);
//     Frame const* owner = frames.holding(branch);       // the frame that contains a branch of a choose
//
// ofThread() reads the blocks of the allocator. It recognises a frame by three facts: the cell has the status of an
// unfinished computation, the cell's size class and offset fit its block, and `resume` points to code. Blocks above 4
// KiB and blocks of other memory resources are not read: a frame in such a block is found only through another frame,
// if one waits for the other, or through the tree of tasks. A Frames is valid until other code runs on this thread.

#include "flow/core/detail/live_blocks.h"
#include "flow/core/detail/task_tree.h"

#include <cstdint>
#include <vector>

namespace flow::inspect {
using namespace flow::detail;

struct Frame {
    char* begin; // the begin of the frame's block; the value is before the frame
    char* end;
    Waiter* waiter;
    std::size_t number; // the position in the order of creation if known, else in the order of addresses

    Cell* cell() const { return Cell::of(waiter); }
};

class Frames {
public:
    /// Returns the frames of this thread, and of its loop if it has one.
    static Frames ofThread();
    /// Returns the frames of a group of cells.
    static Frames of(CellGroup const& cells);

    std::size_t size() const { return frames_.size(); }
    std::vector<Frame const*> inOrder() const;
    Frame const* begin() const { return frames_.data(); }
    Frame const* end() const { return frames_.data() + frames_.size(); }
    /// Returns the frame with `address` in its block, or null.
    Frame const* holding(void const* address) const;
    Frame const* of(Waiter const* frame) const;
    /// Returns the frame to which `waiter` belongs: `waiter` is the frame, a part of it, or a branch on its fiber's
    /// stack. Returns null for other waiters, such as callbacks.
    Frame const* ownerOf(Waiter const* waiter) const;

private:
    void sort();
    void addReachable();

    struct Region { // a part of the address space, of 256 KiB
        std::uintptr_t region;
        std::size_t first; // index of the first frame that begins in the region
    };
    static std::uintptr_t regionOf(void const* address) { return reinterpret_cast<std::uintptr_t>(address) >> 18; }

    std::vector<Frame> frames_; // sorted by address
    std::vector<Region> regions_;
};

/// Returns true if `waiter` is the frame of an unfinished computation. Reads the cell in front of it.
bool isFrame(Waiter const* waiter);

/// Returns true if `frame` is the frame of a Task or a Fork.
bool isTask(Waiter const* frame);
/// Calls visit() for each parked waiter of a frame: the frame itself, or its branches.
template <class Visit>
void forEachParked(Waiter const* frame, Visit&& visit) {
    if (!frame->awaited.isGroup())
        return visit(frame);
    BranchGroup const* group = frame->awaited.group();
    for (std::uint32_t i = 0; i < group->count; ++i)
        if (group->branches[i].link.isLinked()) // a ready branch is not linked; its group waits for other branches
            visit(static_cast<Waiter const*>(&group->branches[i]));
}

} // namespace flow::inspect
