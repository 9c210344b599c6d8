#pragma once
// ActorCollection and others: Flow's names for a Scope (flow/tasks/scope.h), which holds actors that nothing awaits.
//
//     ActorCollection handlers(false);
//     loop choose {
//         when(Request r = waitNext(requests)) { handlers.add(handle(r)); }
//         when(wait(handlers.getResult())) { UNREACHABLE(); }        // raises the first error of any handler
//     }
//
// An actor that ends is dropped at once. When an actor fails, all others are cancelled, and getResult() fails with its
// error. Destroying the collection cancels its actors; results of getResult() then fail with actor_cancelled. Actors
// that are added to an ended collection are dropped. Cancel-safe: the collection holds its actors, so dropping a result
// of getResult() cancels none of them. For actorCollection() and signal(), see below.
//
//     Future<Void> running = actorCollection(handlers);      // a collection that is fed by a stream
//     SignalableActorCollection writes;                      // for waiting until all have ended
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
    /// With `returnWhenEmptied`, getResult() is ready when the last actor has ended, but not before the first add().
    explicit ActorCollection(bool returnWhenEmptied = false);
    ActorCollection(ActorCollection&&) noexcept = default;
    ActorCollection& operator=(ActorCollection&&) noexcept;
    ~ActorCollection();

    void add(Future<Void> actor, std::source_location caller = std::source_location::current());
    bool isEmpty(std::source_location caller = std::source_location::current()) const;
    int size(std::source_location caller = std::source_location::current()) const;
    Future<Void> getResult() const { return result_; }
    /// Cancels all actors and empties the collection. Earlier results fail with actor_cancelled.
    void clear(bool returnWhenEmptied);

private:
    struct Actors;

    Future<Void> result_;
};

/// Holds the actors that the stream sends. Fails with the first error of an actor, or with the error that ends the
/// stream. Cancels the actors then, and also when the result is dropped.
Future<Void> actorCollection(FutureStream<Future<Void>> actors);

/// A collection that reports errors of its actors (see setDroppedErrorHandler()). The other actors continue.
class ActorCollectionNoErrors : NonCopyable {
public:
    void add(Future<Void> actor, std::source_location caller = std::source_location::current()) {
        actors_.spawn(std::move(actor), caller);
    }
    int size() const { return static_cast<int>(actors_.size()); }
    /// Cancels all actors.
    void clear() { actors_.cancel(); }
    /// Cancels all actors, including actors that are added later. Allocates no memory.
    void end() noexcept { actors_.close(); }

private:
    Scope actors_{OnError::Report};
};

/// A collection with a future for the end of all actors. The destructor cancels them if no result of signal() is held.
class SignalableActorCollection : NonCopyable {
public:
    SignalableActorCollection() { clear(); }

    void add(Future<Void> actor);
    /// Returns a future that is ready when all actors have ended, also those that are added meanwhile. Fails with the
    /// first error. After signalAndReset() or clear(), dropping all results cancels the old actors.
    Future<Void> signal();
    /// Like signal(), but then empties the collection.
    Future<Void> signalAndReset();
    /// Like signal(), but then replaces the actors in the collection by the result.
    Future<Void> signalAndCollapse();
    /// Empties the collection. Cancels the actors unless a result of signal() is held.
    void clear();

private:
    /// The actors between two calls of clear(). The first actor is the signal.
    struct Round {
        Promise<Void> signal;
        ActorCollection actors{true}; // destroyed first
    };
    static std::shared_ptr<Round> makeRound();

    std::shared_ptr<Round> round_;
};

} // namespace flow
