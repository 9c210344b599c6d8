#pragma once
// Posted: an object that puts itself into a loop's queue, from its own thread, another one or a signal handler. It is
// Loop::post() for objects that must not allocate, or go both ways.
//
//     struct Job : Posted {
//         void send(Loop& home) { postTo<&Job::arrive, &Job::drop>(home, TaskPriority::Default); }
//         void arrive();                             // on the loop's thread, once; may destroy the job
//         void drop();                               // instead, if the loop ends before: destroys it
//     };
//
// While it is on its way it belongs to the loop, and neither function throws. Either may post it again.

#include "flow/loop/loop_machine.h"

namespace flow {

class Posted : detail::Waiter {
public:
    Posted(Posted const&) = delete;
    Posted& operator=(Posted const&) = delete;

protected:
    Posted() : Waiter{nullptr, {nullptr}, {nullptr, nullptr}, detail::Awaited::turn()} {}
    ~Posted() = default;

    /// Any thread and any signal handler may call it; the loop must still exist.
    template <auto Arrive, auto Drop, class = decltype(Arrive)>
    void postTo(LoopMachine& loop, TaskPriority priority) noexcept {
        prepare<Arrive, Drop>();
        loop.putIntoInbox(*this, priority);
    }
    /// postTo() on the loop's own thread, without the way through its inbox.
    template <auto Arrive, auto Drop, class = decltype(Arrive)>
    void queueAt(LoopMachine& loop, TaskPriority priority) noexcept {
        prepare<Arrive, Drop>();
        loop.makeReady(this, priority);
    }
    /// Takes an object that queueAt() has put there out of the queue: it is free again, and not called.
    void takeBack() noexcept { link.unlink(); }

private:
    template <class Object>
    static void call(void (Object::*function)(), Waiter* waiter) {
        (static_cast<Object*>(static_cast<Posted*>(waiter))->*function)();
    }
    // The type is for gcc 12, where a pointer to a member of a local class or lambda does not make a function template
    // local: functions of equal names in two files would be taken for one.
    template <auto Arrive, auto Drop, class = decltype(Arrive)>
    void prepare() noexcept {
        resume = [](Waiter* waiter) { call(Arrive, waiter); };
        destroy = [](Waiter* waiter) { call(Drop, waiter); };
    }
};

} // namespace flow
