#pragma once
// Flow's names for a Scope (flow/tasks/scope.h): ActorCollection and others hold actors that are not awaited one by
// one.
//
//     ActorCollection handlers(false);
//     loop choose {
//         when(Request r = waitNext(requests)) { handlers.add(handle(r)); }
//         when(wait(handlers.getResult())) { UNREACHABLE(); }        // raises the first error of any handler
//     }
//
// An actor that ends is dropped at once. When one fails, all others are cancelled and getResult() fails with its error.
// Destroying the collection cancels its actors; a result that is still held then fails with actor_cancelled.
// Adding to a collection that has ended drops the actor. Cancel-safe: the collection holds its actors, so dropping a
// result of getResult() cancels none of them; see below for those of actorCollection() and signal().
//
//     Future<Void> running = actorCollection(handlers);      // a collection that is fed by a stream
//     SignalableActorCollection writes;                      // the end of all can be waited for
//     writes.add(write(page));
//     wait(writes.signal());                                 // all writes added up to here have ended

#include "flow/base/non_copyable.h"
#include "flow/core/stream.h"
#include "flow/tasks/scope.h"

#include <memory>
#include <source_location>

namespace flow {

class ActorCollection {
public:
    /// With `returnWhenEmptied`, getResult() is ready as soon as the last actor has ended (but not before the first
    /// add).
    explicit ActorCollection(bool returnWhenEmptied = false);
    ActorCollection(ActorCollection&&) noexcept = default;
    ActorCollection& operator=(ActorCollection&&) noexcept;
    ~ActorCollection();

    void add(Future<Void> actor, std::source_location caller = std::source_location::current());
    /// True if the collection holds no actor.
    bool isEmpty(std::source_location caller = std::source_location::current()) const;
    /// The number of actors that are held.
    int size(std::source_location caller = std::source_location::current()) const;
    Future<Void> getResult() const { return result_; }
    /// Cancels all actors and starts again; results returned before fail with actor_cancelled.
    void clear(bool returnWhenEmptied);

private:
    struct Actors;

    Future<Void> result_;
};

/// Holds the actors that come out of the stream. Fails with the first error of an actor, or with the error that ends
/// the stream; then, and when the result is dropped, the actors are cancelled.
Future<Void> actorCollection(FutureStream<Future<Void>> actors);

/// For actors that handle their errors themselves. If one fails nevertheless, its error is reported (see
/// setDroppedErrorHandler()), and the others go on.
class ActorCollectionNoErrors : NonCopyable {
public:
    void add(Future<Void> actor, std::source_location caller = std::source_location::current()) {
        actors_.spawn(std::move(actor), caller);
    }
    /// The number of actors that are held.
    int size() const { return static_cast<int>(actors_.size()); }
    /// Cancels all actors and starts again.
    void clear() { actors_.cancel(); }
    /// Cancels all actors, and each that is added later. Needs no memory.
    void end() noexcept { actors_.close(); }

private:
    Scope actors_{OnError::Report};
};

/// A collection to wait for once no more actors will be added. Destroying it cancels its actors, except actors for
/// which a result of signal() is held.
class SignalableActorCollection : NonCopyable {
public:
    SignalableActorCollection() { clear(); }

    void add(Future<Void> actor);
    /// Ready when all actors have ended, at once if there are none; fails with the first error. An actor that is added
    /// while the result is not ready counts as well. Dropping all results of signal() cancels the actors if the
    /// collection has started again with other actors by then.
    Future<Void> signal();
    /// Like signal(), and starts again with no actors.
    Future<Void> signalAndReset();
    /// Like signal(), and starts again with the result as the only actor.
    Future<Void> signalAndCollapse();
    /// Starts again; actors for which no result is held are cancelled.
    void clear();

private:
    /// The actors from one clear() to the next. The first of them is the signal.
    struct Round {
        Promise<Void> signal;
        ActorCollection actors{true}; // destroyed first
    };
    static std::shared_ptr<Round> makeRound();

    std::shared_ptr<Round> round_;
};

} // namespace flow
