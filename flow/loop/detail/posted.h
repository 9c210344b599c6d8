#pragma once
// Posted: an object that puts itself into a loop's queue, from the loop's thread, another thread or a signal handler.
// Use it instead of Loop::post() if nothing may be allocated, or if an object goes to a loop and comes back.
//
//     struct Job : Posted {
//         void send(Loop& home) { postTo<&Job::arrive, &Job::drop>(home, TaskPriority::Default); }
//         void arrive();                             // on the loop's thread, once; may destroy the job
//         void drop();                               // called instead if the loop ends first; here: destroys the job
//     };
//
// While the object is on its way, it belongs to the loop. arrive() and drop() must not throw; each may post it again.

#include "flow/loop/detail/loop_machine.h"

namespace flow {

class Posted : detail::Waiter {
public:
    Posted(Posted const&) = delete;
    Posted& operator=(Posted const&) = delete;

protected:
    Posted() : Waiter{nullptr, {nullptr}, {nullptr, nullptr}, detail::Awaited::turn()} {}
    ~Posted() = default;

    /// Posts this object to `loop`. Any thread and any signal handler may call postTo(); the loop must still exist.
    template <auto Arrive, auto Drop, class = decltype(Arrive)>
    void postTo(LoopMachine& loop, TaskPriority priority) noexcept {
        prepare<Arrive, Drop>();
        loop.putIntoInbox(*this, priority);
    }
    /// Like postTo(), but for the loop's own thread: puts the object directly into the queue, and not into the inbox.
    template <auto Arrive, auto Drop, class = decltype(Arrive)>
    void queueAt(LoopMachine& loop, TaskPriority priority) noexcept {
        prepare<Arrive, Drop>();
        loop.makeReady(this, priority);
    }
    /// Takes the object out of the queue into which queueAt() has put it. Neither Arrive nor Drop is called.
    void takeBack() noexcept { link.unlink(); }

private:
    template <class Object>
    static void call(void (Object::*function)(), Waiter* waiter) {
        (static_cast<Object*>(static_cast<Posted*>(waiter))->*function)();
    }
    // The parameter `class` is for gcc 12. Without it, a function template with a pointer to a member of a local class
    // or lambda would not be local: the linker would merge two functions of different files with equal names.
    template <auto Arrive, auto Drop, class = decltype(Arrive)>
    void prepare() noexcept {
        resume = [](Waiter* waiter) { call(Arrive, waiter); };
        destroy = [](Waiter* waiter) { call(Drop, waiter); };
    }
};

} // namespace flow
