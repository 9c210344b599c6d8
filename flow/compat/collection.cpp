#include "flow/compat/collection.h"

#include "flow/base/format.h"
#include "flow/combine/lifetime.h"
#include "flow/combine/race.h"
#include "flow/core/operation.h"

namespace flow {

/// The operation behind the result. Its scope node has the actors as children.
struct ActorCollection::Actors : Operation<Actors, Void> {
    struct Members : tasks::ScopeNode {
        explicit Members(Actors& c) : ScopeNode(fastMemory(), sizeof(Members)), collection(c) {
            onEnd = [](ScopeNode* self, Error error) { return static_cast<Members*>(self)->collection.ended(error); };
        }
        Actors& collection;
    };

    explicit Actors(bool whenEmptied) : returnWhenEmptied(whenEmptied) {}
    /// Cancels the remaining actors, and drops actors that these add.
    ~Actors() { tasks::cancelTree(&members); }

    void add(Future<Void> const& actor) {
        if (!actor.canGet())
            tasks::hold(&members, actor.cell());
        else if (returnWhenEmptied && members.futures == 0 && !members.has(members.kCancelled))
            complete();
    }
    WaiterNode* ended(Error error) {
        if (!error.isValid() && !(returnWhenEmptied && members.futures == 0))
            return nullptr;
        leaveQueue();
        return error.isValid() ? failed(error) : completed();
    }

    void describe(Description& out) const { out.text = format("%u futures of a collection", members.futures); }

    Members members{*this};
    bool returnWhenEmptied;
};

namespace {

Future<Void> collect(FutureStream<Future<Void>> actors, Propagate = {}) {
    ActorCollection held(false);
    for (;;) {
        auto first = co_await race(held.getResult(), actors); // throws the error of an actor, or returns the next actor
        held.add(std::get<1>(std::move(first)));
    }
}

} // namespace

ActorCollection::ActorCollection(bool returnWhenEmptied) : result_(start<Actors>(returnWhenEmptied)) {}

ActorCollection::~ActorCollection() {
    if (result_.isValid())
        result_.cancel();
}

ActorCollection& ActorCollection::operator=(ActorCollection&& other) noexcept {
    if (this != &other) {
        ActorCollection before(std::move(*this));
        result_ = std::move(other.result_);
    }
    return *this;
}

void ActorCollection::add(Future<Void> actor, std::source_location caller) {
    FLOW_ASSERT_AT(caller, result_.isValid(), "the ActorCollection was moved from");
    FLOW_ASSERT_AT(caller, actor.isValid(), "an invalid Future is added to an ActorCollection");
    if (Actors* actors = Actors::of(result_))
        actors->add(actor);
}

bool ActorCollection::isEmpty(std::source_location caller) const {
    return size(caller) == 0;
}

int ActorCollection::size(std::source_location caller) const {
    FLOW_ASSERT_AT(caller, result_.isValid(), "the ActorCollection was moved from");
    Actors* actors = Actors::of(result_);
    return actors ? static_cast<int>(actors->members.futures) : 0;
}

void ActorCollection::clear(bool returnWhenEmptied) {
    *this = ActorCollection(returnWhenEmptied);
}

Future<Void> actorCollection(FutureStream<Future<Void>> actors) {
    return collect(std::move(actors));
}

void SignalableActorCollection::add(Future<Void> actor) {
    round_->actors.add(std::move(actor));
}

Future<Void> SignalableActorCollection::signal() {
    Future<Void> result = holdWhile(round_, round_->actors.getResult());
    if (round_->signal.canBeSet()) // the first result has no waiter yet, so send() runs none here
        round_->signal.send(Void());
    return result;
}

// These functions make the next round before they call signal(), so that a failure leaves the actors where they are.

Future<Void> SignalableActorCollection::signalAndReset() {
    std::shared_ptr<Round> next = makeRound();
    Future<Void> result = signal();
    std::swap(round_, next);
    return result;
}

Future<Void> SignalableActorCollection::signalAndCollapse() {
    std::shared_ptr<Round> next = makeRound();
    Future<Void> result = signal();
    next->actors.add(result);
    std::swap(round_, next);
    return result;
}

void SignalableActorCollection::clear() {
    std::shared_ptr<Round> next = makeRound();
    std::swap(round_, next);
}

std::shared_ptr<SignalableActorCollection::Round> SignalableActorCollection::makeRound() {
    std::shared_ptr<Round> round = std::make_shared<Round>();
    round->actors.add(round->signal.getFuture());
    return round;
}

} // namespace flow
