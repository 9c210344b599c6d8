#pragma once
// Source<Op>: the list of waiters for one event, oldest first. Operations in place park at a source; see
// flow/core/in_place.h for the operation's side and an example.
//
//     Source<Take> source;
//     source.park(waiter, *this);          // in Take::park()
//     source.wakeInTurn();                 // something has come: the first waiter resumes in a turn of its own
//
// A waiter that is cancelled, or that loses a race, leaves the list by itself. The source then does nothing, unless its
// owner has called wakeWhenFirstLeaves(). The loop's queue holds the source, and not a waiter: if the waiter that is
// woken leaves before its turn, the next waiter gets the turn. wakeFirst() and failAll() must be the last act of a
// function of the owner, since the waiter that runs may destroy the source. A source belongs to one thread.

#include "flow/core/description.h"
#include "flow/core/in_place.h"
#include "flow/loop/loop.h"

namespace flow {

namespace detail {

/// Fails the wait of a waiter. The waiter must have been taken out of its list.
void failWaiter(Waiter* waiter, Error error) noexcept;

/// The part of a Source that does not depend on the operation.
class SourceBase {
public:
    SourceBase(SourceBase const&) = delete;
    SourceBase& operator=(SourceBase const&) = delete;

    bool isWaitedFor() const { return !waiters_.isEmpty(); }
    /// Resumes the first waiter, inside this call. There must be a waiter, and its operation must be ready.
    void wakeFirst() {
        Waiter* first = takeFirst(waiters_);
        first->awaited = {};
        run(first);
    }
    /// Called when an operation may have become ready. Resumes the waiters oldest first, each in its own turn at this
    /// priority, up to the first operation that is not ready. But if the oldest operation is not ready, and Op has a
    /// function `bool mayOvertake(Op& older)`, the next ones are tested too, as long as they may overtake the oldest.
    void wakeInTurn(TaskPriority priority = TaskPriority::DefaultYield) {
        if (!isWaitedFor())
            return;
        priority_ = priority;
        if (!hasTurn() && hasLoop())
            Loop::current().makeReady(&turn_, priority);
    }
    /// Calls wakeInTurn() for an event from outside, such as bytes on a socket: see LoopMachine::priorityOfNews().
    void wakeForNews(TaskPriority usual) {
        if (isWaitedFor() && hasLoop())
            wakeInTurn(Loop::current().priorityOfNews(usual));
    }
    /// From here on wakeInTurn() is called if the first waiter leaves the list before its turn. The priority is this
    /// one, or the priority of a later wakeInTurn(). An operation needs this if it may be ready while an operation in
    /// front of it is not. If no waiter is left then, and Op has a function `static void noneWaits(Source<Op>&)`, this
    /// function is called immediately. It may destroy the source, and must run no waiter.
    void wakeWhenFirstLeaves(TaskPriority priority) {
        hearing_ = kHearsOfLeaving;
        priority_ = priority;
    }
    /// Fails all waiters with the error, oldest first. Must be the last act of the caller.
    void failAll(Error error) noexcept { failAll(error, error); }
    /// Fails the first waiter with `first` and the others with `others`. Must be the last act of the caller.
    void failAll(Error first, Error others) noexcept;
    /// Makes all waiters wait forever. Called when the awaited object has ended with its loop or simulated process.
    void abandonAll() noexcept;

    /// Returns the first waiter of the source to which `turn` belongs; null if there is no such source or waiter.
    static Waiter const* firstOf(Waiter const* turn);
    /// Returns the source at which a waiter has just parked.
    static SourceBase& of(Waiter& parked) {
        auto* source =
            reinterpret_cast<SourceBase*>(reinterpret_cast<char*>(parked.link.next) - offsetof(SourceBase, waiters_));
        FLOW_CHECK(source->turn_.owner == source, "a waiter is not the last of the source at which it has just parked");
        return *source;
    }
    /// Returns the source at which `parked` is parked; null if it is not parked at a source.
    static SourceBase const* sourceOf(Waiter const* parked);
    /// Returns the function that runs the turn of this source, or null. The symbol of the function names the operation.
    static void const* codeOf(Waiter const* parked);

protected:
    explicit SourceBase(void (*turn)(Waiter*)) : turn_{turn, {}, {nullptr, nullptr}, Awaited::operation(this)} {
        waiters_.reset();
        turn_.owner = this;
    }
    /// Fails the remaining waiters with broken_promise.
    ~SourceBase() {
        if (turn_.link.isLinked())
            turn_.link.unlink();
        if (isWaitedFor())
            failAll(broken_promise());
    }

    bool hasTurn() const { return turn_.link.isLinked() && turn_.link.next != &turn_.link; }

    friend void firstHasLeft(Link* head) noexcept;

    Link waiters_;
    std::uint32_t hearing_ = 0; // must be directly behind `waiters_`: see hearsOfLeaving()
    TaskPriority priority_ = TaskPriority::DefaultYield;
    Waiter turn_; // in the ready queue while a waiter must be resumed
};

template <class Op>
concept Overtakes = requires(Op const& op, Op& older) { op.mayOvertake(older); };

} // namespace detail

template <class Op>
class Source : public detail::SourceBase {
public:
    Source() : SourceBase(takeTurn) {}

    /// Parks a waiter. `op` must not move during the wait; an operation that is awaited does not move.
    void park(WaiterNode& waiter, Op& op) {
        static_assert(alignof(Op) >= 8, "an operation holds a pointer to what it waits for");
        waiter.awaited = detail::Awaited::operation(&op);
        detail::pushBack(waiters_, waiter.link);
    }
    /// Returns the operation of the first waiter. There must be a waiter.
    Op& first() const { return operationOf(WaiterNode::of(waiters_.next)); }
    /// Returns true if `op` is the first operation, or may overtake all operations in front of it. If an event is for
    /// only one waiter, the isReady() of the operations calls isNext(), so that no waiter is overtaken.
    bool isNext(Op const& op) {
        bool isNext = true;
        forEach([&](Op& older) {
            if (&older == &op)
                return false;
            isNext = false;
            if constexpr (detail::Overtakes<Op>)
                isNext = op.mayOvertake(older);
            return isNext;
        });
        return isNext;
    }
    /// Calls `function` with each waiting operation, oldest first, until it returns false. It must not wake a waiter.
    template <class F>
    void forEach(F&& function) const {
        for (detail::Link* each = waiters_.next; each != &waiters_; each = each->next)
            if (!function(operationOf(WaiterNode::of(each))))
                return;
    }

private:
    static void takeTurn(WaiterNode* turn) {
        if constexpr (Describes<Op>)
            static_assert(detail::kEmitted<&Source::describeOp>);
        auto* self = static_cast<Source*>(static_cast<SourceBase*>(turn->owner));
        if (!self->isWaitedFor()) {
            if constexpr (requires { Op::noneWaits(*self); })
                Op::noneWaits(*self);
            return;
        }
        WaiterNode* first = self->firstReady();
        if (!first)
            return;
        first->link.unlink();
        bool hasTurn = detail::Overtakes<Op> && self->hasTurn(); // true if firstReady() has put off an older operation
        if (self->isWaitedFor() && !hasTurn)
            Loop::current().makeReady(turn, self->priority_);
        first->awaited = {};
        FLOW_HAND_OVER(first);
    }

    static Op& operationOf(WaiterNode* waiter) { return *static_cast<Op*>(waiter->awaited.operation()); }
    /// Returns the first waiter that may resume; null if there is none.
    WaiterNode* firstReady() {
        WaiterNode* waiter = WaiterNode::of(waiters_.next);
        if (operationOf(waiter).isReady())
            return waiter;
        if constexpr (detail::Overtakes<Op>) {
            for (Op& oldest = operationOf(waiter); waiter->link.next != &waiters_;) {
                waiter = WaiterNode::of(waiter->link.next);
                if (!operationOf(waiter).mayOvertake(oldest))
                    return nullptr;
                if (operationOf(waiter).isReady())
                    return waiter;
            }
        }
        return nullptr;
    }

    [[gnu::used]] static void describeOp([[maybe_unused]] void const* op, [[maybe_unused]] Description& out) {
        if constexpr (Describes<Op>)
            static_cast<Op const*>(op)->describe(out);
    }
};

} // namespace flow
