#pragma once
// Units: a counter of units, such as the free places of a ThreadChannel, for tasks of several loops and for threads
// that block. Waiters get units in order. The owner's mutex guards the Units and each Ticket.
//
//     LoopTicket<Op>* ticket = new LoopTicket<Op>(mutex, units);   // in Op::park(); an operation has one ticket
//     ticket->park(waiter, *this);
//     units.begin(*ticket);                                        // under the mutex
//     ...                                                          // a turn of the loop resumes the waiter
//     delete ticket;                                               // in Op::take(), which uses the unit
//     units.end();                                                 // under the mutex
//
// give() passes a unit to a ticket and calls the ticket: its loop gets a message, or its thread wakes up. If the waiter
// leaves before it resumes, the unit immediately goes to the next ticket. The message is posted under the mutex, so
// that no loop can be destroyed between reading its ticket and the post.

#include "flow/base/assert.h"
#include "flow/base/intrusive_list.h"
#include "flow/loop/detail/posted.h"
#include "flow/wait/source.h"

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>

namespace flow::threads {

/// The wait of a task or of a thread.
struct Ticket : ListLink {
    virtual void wake() noexcept = 0;

    bool isCalled = false;

protected:
    Ticket() : ListLink{nullptr, nullptr} {}
    ~Ticket() = default;
};

class Units {
public:
    explicit Units(std::size_t free) : free_(free) { waiting_.reset(); }
    Units(Units const&) = delete;
    Units& operator=(Units const&) = delete;
    ~Units() { FLOW_ASSERT(tickets_ == 0, "a ThreadChannel is destroyed while a task or a thread waits for it"); }

    /// Takes a unit if one is free. Overtakes no ticket: while a ticket waits, no unit is free.
    bool take() {
        if (free_ == 0)
            return false;
        --free_;
        return true;
    }
    /// Gives a unit to the first ticket; without a ticket, the unit is free.
    void give() noexcept {
        if (waiting_.isEmpty())
            ++free_;
        else
            callFirst();
    }
    /// Begins a wait. Calls the ticket when it has a unit. If `expectsNothing`, calls the ticket now, without a unit.
    void begin(Ticket& ticket, bool expectsNothing) noexcept {
        ++tickets_;
        pushBack(waiting_, ticket);
        if (expectsNothing || take())
            call(ticket);
    }
    /// Ends the wait of a called ticket.
    void end() noexcept { --tickets_; }
    /// Ends the wait of a ticket in any state, and gives its unit back.
    void withdraw(Ticket& ticket) noexcept {
        --tickets_;
        if (ticket.isCalled)
            give();
        else
            ticket.unlink();
    }
    /// Calls all tickets, without a unit.
    void callAll() noexcept {
        while (!waiting_.isEmpty())
            callFirst();
    }
    /// Blocks the thread until it has a unit, or until callAll().
    void block(std::unique_lock<std::mutex>& lock, bool expectsNothing);

private:
    void callFirst() noexcept { call(*static_cast<Ticket*>(waiting_.next)); }
    static void call(Ticket& ticket) noexcept {
        ticket.unlink();
        ticket.isCalled = true;
        ticket.wake();
    }

    std::size_t free_;
    std::size_t tickets_ = 0;
    ListLink waiting_;
};

/// The wait of one operation in place on the current loop. It is the source of its only waiter.
template <class Op>
class LoopTicket final : public Source<Op>,
                         public Ticket,
                         public Posted,
                         public LoopOwned,
                         public FastAllocated<LoopTicket<Op>> {
public:
    LoopTicket(std::mutex& mutex, Units& units)
        : mutex_(mutex), units_(units), home_(Loop::current()), guard_(std::in_place, home_) {
        LoopOwned::end = [](LoopOwned* owned) {
            auto* ticket = static_cast<LoopTicket*>(owned);
            ticket->abandonAll();
            ticket->withdraw();
        };
        home_.add(*this);
        this->wakeWhenFirstLeaves(kPriority);
    }
    ~LoopTicket() { leaveLoop(); }

    /// Called when the waiter has left without a unit. Destroys the ticket now, or when the posted message arrives.
    void withdraw() noexcept {
        {
            std::lock_guard lock(mutex_);
            units_.withdraw(*this);
        }
        if (!isCalled)
            delete this;
        else
            leaveLoop();
    }

private:
    static constexpr TaskPriority kPriority = TaskPriority::DefaultOnMainThread;

    void wake() noexcept override { this->template postTo<&LoopTicket::arrive, &LoopTicket::drop>(home_, kPriority); }
    void arrive() {
        if (guard_)
            this->wakeFirst(); // Op::take() destroys the ticket
        else
            delete this;
    }
    void drop() { delete this; }
    void leaveLoop() noexcept {
        if (LoopOwned::isLinked())
            LoopOwned::unlink();
        guard_.reset();
    }

    std::mutex& mutex_;
    Units& units_;
    Loop& home_;
    std::optional<WorkGuard> guard_; // empty after withdraw()
};

} // namespace flow::threads
