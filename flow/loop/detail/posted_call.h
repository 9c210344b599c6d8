#pragma once
// PostedCall: a function that Loop::post() has put into an inbox. Destroys itself when it runs, or when the loop ends.

#include "flow/base/error.h"
#include "flow/loop/detail/inbox.h"

#include <utility>

namespace flow {

template <class F>
struct PostedCall : detail::Waiter, FastAllocated<PostedCall<F>> {
    explicit PostedCall(F&& f) : call(std::move(f)) {
        resume = run;
        destroy = drop;
        awaited = detail::Awaited::turn();
    }

    F call;

private:
    static PostedCall* of(detail::Waiter* waiter) { return static_cast<PostedCall*>(waiter); }
    static void drop(detail::Waiter* waiter) { delete of(waiter); }
    /// Returns the function to call, and deletes `self`.
    static F taken(PostedCall* self) {
        struct Owner {
            PostedCall* self;
            ~Owner() { delete self; }
        } owner{self};
        return std::move(self->call);
    }
    static void run(detail::Waiter* waiter) {
        try {
            taken(of(waiter))();
        } catch (...) {
            reportDroppedError(reinterpret_cast<const void*>(&run), currentError());
        }
    }
};

} // namespace flow
