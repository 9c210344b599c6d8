#pragma once
// Posted: an object that posts itself to a loop without an allocation, from any thread or a signal handler.
// Loop::post() allocates, and cannot send an object to a loop and back.
//
//     struct Job : Posted {
//         void send(Loop& home) { postTo<&Job::arrive, &Job::drop>(home, TaskPriority::Default); }
//         void arrive();                             // on the loop's thread, once; may destroy the job
//         void drop();                               // called instead if the loop ends first; here: destroys the job
//     };
//
// While the object is posted, the loop owns it. arrive() and drop() must not throw; each may post the object again.

#include "flow/loop/detail/loop_machine.h"

namespace flow {

class Posted : detail::Waiter {
public:
    Posted(Posted const&) = delete;
    Posted& operator=(Posted const&) = delete;

protected:
    Posted() : Waiter{nullptr, {nullptr}, {nullptr, nullptr}, detail::Awaited::turn()} {}
    ~Posted() = default;

    /// Posts this object to `target`. Any thread and any signal handler may call postTo(); the loop must still exist.
    template <auto Arrive, auto Drop, class = decltype(Arrive)>
    void postTo(LoopMachine& target, TaskPriority priority) noexcept {
        prepare<Arrive, Drop>();
        target.putIntoInbox(*this, priority);
    }
    /// Like postTo(), but for the loop's own thread: puts the object directly into the ready queue.
    template <auto Arrive, auto Drop, class = decltype(Arrive)>
    void queueAt(LoopMachine& target, TaskPriority priority) noexcept {
        prepare<Arrive, Drop>();
        target.makeReady(this, priority);
    }
    /// Undoes queueAt(). Neither Arrive nor Drop is called.
    void takeBack() noexcept { link.unlink(); }

private:
    template <class Object>
    static void call(void (Object::*function)(), Waiter* waiter) {
        (static_cast<Object*>(static_cast<Posted*>(waiter))->*function)();
    }
    // The parameter `class` is for gcc 12. Without it, a function template with a pointer to a member of a local class
    // or lambda has external linkage: the linker would merge two functions of different files with equal names.
    template <auto Arrive, auto Drop, class = decltype(Arrive)>
    void prepare() noexcept {
        resume = [](Waiter* waiter) { call(Arrive, waiter); };
        destroy = [](Waiter* waiter) { call(Drop, waiter); };
    }
};

} // namespace flow
