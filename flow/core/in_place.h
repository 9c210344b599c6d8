#pragma once
// Operation in place: a small value that names an event to wait for. Write one for an event that can be waited for
// again and again. For work that ends once and needs its own state, see flow/core/operation.h.
//
//     class Tickets {                                     // hands out numbers
//     public:
//         struct Take {                                   // satisfies InPlace
//             using Result = int;
//             Tickets* tickets;
//             bool isReady() const { return tickets->free_ != 0; }
//             void park(WaiterNode& waiter) { tickets->source_.park(waiter, *this); }
//             int take() const { return tickets->free_--; }
//         };
//         Take take() { return {this}; }
//         void add() { ++free_; source_.wakeInTurn(); }
//     private:
//         int free_ = 0;
//         Source<Take> source_;                           // flow/wait/source.h: the waiters, oldest first
//     };
//     int mine = co_await tickets.take();                 // a coroutine
//     int mine = wait(tickets.take());                    // an actor
//     auto first = co_await race(tickets.take(), delay(1.0));
//     Future<int> mine = keep(tickets.take());            // takes as soon as there is something to take
//
// Nothing is allocated: the waiting frame itself is parked, and the operation is stored in that frame. This holds for
// coroutines, actors (flow/wait/operation_room.h) and most races (flow/combine/race.h). An operation that loses a race
// or a choose, or is cancelled while it waits, has taken nothing: only the winner takes, when it resumes. A value that
// keep() has taken stays in the future until the future ends. An operation belongs to one thread.
//
// A wait for an operation that is ready does not suspend, unless some hundreds of operations were ready in the same
// turn of the loop. Then the waiter resumes in a later turn, as after delay(0): see flow/core/detail/turn_budget.h.

#include "flow/core/detail/turn_budget.h"
#include "flow/core/future.h"
#include "flow/core/result.h"

#include <concepts>
#include <type_traits>

namespace flow {

/// The node that is parked: a frame, a branch of a race, a callback. An operation passes it on to its source.
using WaiterNode = detail::Waiter;

/// An operation in place. isReady() only tests, and takes nothing. park() is called if the operation is not ready, and
/// also for a ready operation if its waiter must resume in a later turn (Source::park() serves both). park() runs no
/// waiter. Only the winner calls take(), before any other code runs. park() and take() may throw an Error.
template <class Op>
concept InPlace = std::is_trivially_copyable_v<Op> && sizeof(Op) <= 32 && requires(Op& op, WaiterNode& waiter) {
    typename Op::Result;
    { op.isReady() } -> std::same_as<bool>;
    op.park(waiter);
    { op.take() } -> std::same_as<typename Op::Result>;
};

/// An operation with a member `kEndsOnce`: once ready, it stays ready, as a future does. A wait then never suspends.
template <class Op>
concept EndsOnce = requires { Op::kEndsOnce; };

namespace detail {

/// Makes `parked`, which has just parked at a ready operation, resume in a later turn if the operation is ready then.
void goOnLater(Waiter& parked) noexcept;

/// True if the waiter of an operation that is ready goes on without suspending.
template <InPlace Op>
FLOW_INLINE bool goesOn() {
    return EndsOnce<Op> || TurnBudget::takeOne();
}

/// Parks the waiter, unless the operation is ready and goesOn() is true. Returns true if the waiter was parked.
template <InPlace Op>
FLOW_INLINE bool parkUnlessReady(Op& op, Waiter& waiter) {
    if (!op.isReady()) {
        op.park(waiter);
        return true;
    }
    if (goesOn<Op>()) [[likely]]
        return false;
    op.park(waiter);
    goOnLater(waiter);
    return true;
}

/// The frame that keep() makes; it waits for an operation. Before it is started, the frame is dormant: its link points
/// to itself, so a cancel treats the frame as parked.
struct KeptFrame : Waiter {
    /// Takes the value if the operation is ready. Otherwise parks the frame; with OnlyIfReady, leaves it dormant. True
    /// if the cell is ready now, with the value or an error.
    bool (*start)(KeptFrame*, StartKept);

    static KeptFrame* of(Cell* cell) { return static_cast<KeptFrame*>(cell->frame()); }
};

template <InPlace Op>
struct Kept : KeptFrame {
    using T = typename Op::Result;
    alignas(16) Op op;

    explicit Kept(Op const& given) : KeptFrame(), op(given) {
        resume = resumeKept;
        destroy = nullptr;
        KeptFrame::start = startKept;
        link.reset();
    }

    static Cell* create(Op const& op) {
        Cell* cell = newCell<T>(sizeof(Kept), 1, 1, Cell::kHasFrame | Cell::kDormant);
        ::new (cell->frame()) Kept(op);
        return cell;
    }

private:
    static bool startKept(KeptFrame* frame, StartKept how) {
        auto* kept = static_cast<Kept*>(frame);
        Cell* cell = Cell::of(frame);
        Error error;
        try {
            bool isReady = kept->op.isReady();
            if (!isReady || !goesOn<Op>()) {
                if (how == StartKept::OnlyIfReady)
                    return false;
                cell->setStatus(Cell::kUnset);
                kept->link.next = nullptr;
                kept->op.park(*kept);
                if (isReady)
                    goOnLater(*kept);
                return false;
            }
        } catch (...) {
            error = keepCaught(cell);
        }
        std::uint8_t status = error.isValid() ? Cell::kError : kept->take();
        if (error.isValid())
            cell->error = error;
        setEnded<T>(cell, status); // nothing waits yet
        cell->promises = 0;
        return true;
    }

    /// Takes the result into the cell. Returns the cell's new status.
    std::uint8_t take() noexcept {
        Cell* cell = Cell::of(this);
        try {
            if constexpr (kStored<T>)
                constructValue<T>(cell, op.take());
            else
                op.take();
            return Cell::kValue;
        } catch (...) {
            cell->error = keepCaught(cell);
            return Cell::kError;
        }
    }

    /// Called when the operation is ready, when its source fails it, and when the frame is cancelled.
    static void resumeKept(Waiter* waiter) {
        auto* kept = static_cast<Kept*>(waiter);
        Cell* cell = Cell::of(waiter);
        std::uint8_t status;
        if (Cell* failed = waiter->awaited.anyCell()) {
            waiter->awaited = {};
            cell->error = takeErrorFor(cell, failed);
            status = Cell::kError;
        } else {
            status = kept->take();
        }
        if (Waiter* last = finishFrame<T>(cell, status))
            FLOW_HAND_OVER(last);
    }
};

} // namespace detail

/// Returns a future of the operation. take() is called as soon as the operation is ready, even if nothing waits for the
/// future. A future that is dropped earlier takes nothing. Allocates one block.
template <InPlace Op>
[[nodiscard]] Future<typename Op::Result> keep(Op const& op) {
    detail::Cell* cell = detail::Kept<Op>::create(op);
    auto future = Future<typename Op::Result>::adopt(cell);
    detail::startDormant(cell, detail::StartKept::Always);
    return future;
}

} // namespace flow
