#pragma once
// The memory layout of actors, coroutines, fibers and tasks. One block holds a computation's result cell and then its
// frame. The frame is also a list node: it is linked into the list of the object for which the computation waits.
//
//     value T            before the fixed part, in units of 16 bytes; nothing for empty types
//     Cell               32 bytes: waiters, reference counts, error, status
//     -------------------------------------------------------------------------------- the frame starts here
//     resume, destroy    as in the frames that GCC and Clang make for coroutines
//     next, prev         links: the list in which this computation is parked
//     awaited            the object for which it waits
//     ...                parameters and state
//
// A coroutine's promise starts at offset 16 of its frame, so the first members of the promise are these links: a
// coroutine frame *is* a Waiter. One indirect call resumes any Waiter. flow/coro/detail/frame_check.h tests the layout
// at start-up. Each object here belongs to the thread of the loop on which the object was made.

#include "flow/base/assert.h"
#include "flow/base/error.h"
#include "flow/base/intrusive_list.h"
#include "flow/memory/fast_allocator.h"

#include <cstddef>
#include <cstdint>

namespace flow::detail {

struct Cell;
struct Waiter;
struct TimerSlot;
struct BranchGroup;

/// The object for which a parked Waiter waits: nothing (the Waiter is ready, or runs), a cell with a future reference,
/// a slot in a timer queue, a group of branches, or an operation in place. An Awaited is one word, with the kind in the
/// low bits. turn() marks a call that was posted to a loop: the call waits only for its turn.
class Awaited {
public:
    constexpr Awaited() = default;
    Awaited(Cell* cell) : word_(reinterpret_cast<std::uintptr_t>(cell)) {}
    Awaited(TimerSlot* slot) : word_(reinterpret_cast<std::uintptr_t>(slot) | kTimer) {}
    Awaited(BranchGroup* group) : word_(reinterpret_cast<std::uintptr_t>(group) | kGroup) {}

    static Awaited turn() { return mark(kTurn); }
    /// Returns the mark of a coroutine that has left its body, with a value or an error, and now destroys its locals.
    static Awaited returned() { return mark(kReturned); }
    static Awaited failed() { return mark(kFailed); }
    /// Marks a cell. If the cell fails, the frame that waits for the cell is ended instead of resumed.
    static Awaited propagating(Cell* cell) {
        Awaited awaited;
        awaited.word_ = reinterpret_cast<std::uintptr_t>(cell) | kPropagates;
        return awaited;
    }

    /// Returns the mark of a waiter that is parked at a Source for the operation `op`, which is aligned to 8 bytes.
    static Awaited operation(void* op) {
        Awaited awaited;
        awaited.word_ = reinterpret_cast<std::uintptr_t>(op) | kTurn;
        return awaited;
    }
    /// Returns a copy with a mark: if the operation fails, the frame that waits for it is ended instead of resumed.
    Awaited propagating() const {
        Awaited awaited;
        awaited.word_ = word_ | kPropagates;
        return awaited;
    }

    bool isNothing() const { return word_ == 0; }
    bool isCell() const { return word_ != 0 && (word_ & kMask) == 0; }
    bool isTimer() const { return (word_ & kMask) == kTimer; }
    bool isGroup() const { return (word_ & kMask) == kGroup; }
    bool isTurn() const { return word_ == kTurn; }
    bool isReturned() const { return word_ == kReturned; }
    bool isFailed() const { return word_ == kFailed; }
    bool hasLeftBody() const { return isReturned() || isFailed(); }
    bool isOperation() const { return (word_ & kMask) == kTurn && word_ > kLastMark; }
    bool isPropagating() const { return word_ & kPropagates; }
    /// Returns the cell of a wait that is known not to be propagating; anyCell() is for both kinds.
    Cell* cell() const { return reinterpret_cast<Cell*>(word_); }
    Cell* anyCell() const { return reinterpret_cast<Cell*>(word_ & ~kPropagates); }
    TimerSlot* timer() const { return reinterpret_cast<TimerSlot*>(word_ & ~kMask); }
    void* operation() const { return reinterpret_cast<void*>(word_ & ~(kMask | kPropagates)); }
    BranchGroup* group() const { return reinterpret_cast<BranchGroup*>(word_ & ~kMask); }

private:
    static Awaited mark(std::uintptr_t word) {
        Awaited awaited;
        awaited.word_ = word;
        return awaited;
    }

    static constexpr std::uintptr_t kTimer = 1;
    static constexpr std::uintptr_t kGroup = 2;
    static constexpr std::uintptr_t kTurn = 3;
    static constexpr std::uintptr_t kMask = 3;
    static constexpr std::uintptr_t kPropagates = 4; // combined with a cell or an operation
    static constexpr std::uintptr_t kReturned = kTurn + 8, kFailed = kTurn + 16, kLastMark = kFailed; // no addresses
    std::uintptr_t word_ = 0;
};

/// A suspended computation, or a branch of its wait. `resume` continues the computation with the object in `awaited`.
struct Waiter {
    void (*resume)(Waiter*);
    union {
        void (*destroy)(Waiter*); // of a frame: ends the frame without resuming it
        void* owner;              // of a branch: the object that its `resume` needs
    };
    Link link;
    Awaited awaited;

    static Waiter* of(Link* link) {
        return reinterpret_cast<Waiter*>(reinterpret_cast<char*>(link) - 2 * sizeof(void*));
    }
};
static_assert(sizeof(Waiter) == 40 && offsetof(Waiter, link) == 16 && offsetof(Waiter, awaited) == 32);

/// One timer for which a waiter waits. The waiter's link is in a list of the timer queue. A cancel never reads a
/// TimerSlot: with a million timers, the cache miss of this read would be most of the cost of a cancel.
struct TimerSlot {
    double deadline;
    std::int32_t priority;
};

/// Several Waiters that together belong to one waiter: the branches of a choose, the inputs of a quorum.
struct BranchGroup {
    Waiter* branches;
    std::uint32_t count;  // the number of branches that are in use
    std::uint32_t winner; // the distance in bytes from the group to the branch that decided a choose
};

/// A result cell. Each frame has a cell in front of it. The cell of a Promise has no frame.
struct Cell {
    Link waiters;           // newest first: they run in reverse order of registration
    std::uint32_t futures;  // Future handles and parked waiters
    std::uint32_t promises; // Promise handles; 1 for an unfinished frame
    Error error;            // of a coroutine that has not ended: the place of its wait (flow/core/detail/wait_place.h)
    std::uint8_t flags;
    memory::SizeClass sizeClass; // the class of the whole block
    std::uint16_t prefixUnits;   // 16-byte units of value in front of the cell
#if FLOW_CHECKED
    const void* owner; // identifies the thread, or the simulated process, that made the cell
    const void* filler;
#endif

    static constexpr std::uint8_t kUnset = 0, kValue = 2, kError = 131, kNever = 128, kStatusMask = 131;
    static constexpr std::uint8_t kReadyBit = 2, kErrorBit = 1; // a bit each, since every wait tests them
    static constexpr std::uint8_t kUnreadBit = kError - 3;      // set if the error has not been read
    static constexpr std::uint8_t kErrorOfFrame = kError + 64;  // kError of an ended frame: its `resume` can be read
    static constexpr std::uint8_t kHasFrame = 4;                // an unfinished computation stands behind the cell
    static constexpr std::uint8_t kCancelled = 8;               // the frame has been cancelled
    static constexpr std::uint8_t kUncancellable = 16;          // the frame runs on without futures
    static constexpr std::uint8_t kDestroyValue = 32;           // a destructor pointer stands at the end of the prefix
    static constexpr std::uint8_t kPropagates = 64;             // a cancel destroys the frame at its current wait
    static constexpr std::uint8_t kDormant = kNever;            // kNever and kHasFrame: the operation is not started

    bool isReady() const { return flags & kReadyBit; }
    bool isError() const { return flags & kErrorBit; }
    bool isValue() const { return (flags & (kReadyBit | kErrorBit)) == kValue; }
    bool isUnset() const { return (flags & kStatusMask) == kUnset; }
    void setStatus(std::uint8_t status) { flags = static_cast<std::uint8_t>((flags & ~kStatusMask) | status); }
    bool has(std::uint8_t flag) const { return flags & flag; }
    bool isDormant() const { return (flags & (kStatusMask | kHasFrame)) == (kDormant | kHasFrame); }
    bool isUnreadError() const { return (flags & kError) == kError && !isStream(); }
    /// True for the cell of a stream: no other cell is uncancellable without a frame.
    bool isStream() const { return (flags & (kUncancellable | kHasFrame)) == kUncancellable; }

    Waiter* frame() { return reinterpret_cast<Waiter*>(this + 1); }
    void* valueAddress() { return reinterpret_cast<char*>(this) - prefixUnits * std::size_t{16}; }
    static Cell* of(Waiter* frame) { return reinterpret_cast<Cell*>(frame) - 1; }
};
static_assert(sizeof(Cell) == (FLOW_CHECKED ? 48 : 32), "the frame behind a cell must be aligned to 16 bytes");

} // namespace flow::detail
