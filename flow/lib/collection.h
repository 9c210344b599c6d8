#pragma once
// ActorCollection: holds actors that nobody waits for one by one.
//
//     ActorCollection handlers(false);
//     loop choose {
//         when(Request r = waitNext(requests)) { handlers.add(handle(r)); }
//         when(wait(handlers.getResult())) { UNREACHABLE(); }        // raises the first error of any handler
//     }
//
// An actor that ends is dropped at once. When one fails, all others are cancelled and getResult() fails with its error.
// Destroying the collection cancels its actors; a result that somebody still holds then fails with actor_cancelled.
// Adding to a collection that has ended drops the actor.

#include "flow/core/future.h"

namespace flow {

class ActorCollection {
public:
    /// With `returnWhenEmptied`, getResult() is ready as soon as the last actor has ended (but not before the first
    /// add).
    explicit ActorCollection(bool returnWhenEmptied);
    ActorCollection(ActorCollection&&) noexcept = default;
    ActorCollection& operator=(ActorCollection&&) noexcept;
    ~ActorCollection();

    void add(Future<Void> actor);
    /// Whether no actor is held.
    bool isEmpty() const;
    Future<Void> getResult() const { return result_; }
    /// Cancels all actors and starts anew; results handed out before fail with actor_cancelled.
    void clear(bool returnWhenEmptied);

private:
    Future<Void> result_;
};

} // namespace flow
