#include "flow/tasks/collection.h"

#include "flow/base/detail/dropped_error.h"
#include "flow/base/format.h"
#include "flow/base/inline.h"
#include "flow/combine/lifetime.h"
#include "flow/combine/race.h"
#include "flow/core/operation.h"
#include "flow/wait/member_wait.h"

namespace flow {

/// The operation behind the result.
struct ActorCollection::Actors : Operation<Actors, Void> {
    /// An actor that has not ended.
    struct Member : ListLink, FastAllocated<Member> {
        explicit Member(Actors& c) : collection(c) {}

        Actors& collection;
        MemberWait step{*this, [](Member& self) { return self.collection.ended(self); }};
    };

    explicit Actors(bool whenEmptied, bool onErrors = false)
        : returnWhenEmptied(whenEmptied), goesOnAfterErrors(onErrors) {
        members.reset();
    }
    /// Cancels the remaining actors. All steps stop first, so that no member runs when the first future is released.
    ~Actors() {
        isEnding = true;
        for (ListLink* place = members.next; place != &members; place = place->next)
            static_cast<Member*>(place)->step.stop();
        while (!members.isEmpty())
            remove(static_cast<Member*>(members.next));
    }

    FLOW_INLINE void add(Future<Void>&& actor) {
        if (isEnding) // an actor that is being cancelled adds another
            return;
        if (!actor.isReady()) {
            auto* member = new Member(*this);
            pushBack(members, *member);
            ++count;
            member->step.waitFor(std::move(actor));
        } else if (actor.isError()) {
            goesOnAfterErrors ? report(actor.getError()) : fail(actor.getError());
        } else if (returnWhenEmptied && members.isEmpty()) {
            complete();
        }
    }

    FLOW_INLINE WaiterNode* ended(Member& member) {
        Future<Void> actor = member.step.take<Void>();
        remove(&member);
        if (actor.isError() && goesOnAfterErrors) {
            report(actor.getError());
            return nullptr;
        }
        if (!actor.isError() && !(returnWhenEmptied && members.isEmpty()))
            return nullptr;
        leaveQueue();
        Error error = actor.isError() ? actor.getError() : Error();
        actor = Future<Void>();
        return error.isValid() ? failed(error) : completed();
    }
    static void report(Error error) noexcept { reportDroppedBy("a collection without errors", error); }
    FLOW_INLINE void remove(Member* member) {
        member->cutOut();
        --count;
        delete member;
    }

    void describe(Description& out) const { out.text = format("%d futures of a collection", count); }

    ListLink members;
    int count = 0;
    bool returnWhenEmptied;
    bool goesOnAfterErrors;
    bool isEnding = false;
};

namespace {

Future<Void> collect(FutureStream<Future<Void>> actors, Propagate = {}) {
    ActorCollection held(false);
    for (;;) {
        auto first = co_await race(held.getResult(), actors); // raises the error of an actor, or gives the next actor
        held.add(std::get<1>(std::move(first)));
    }
}

} // namespace

ActorCollection::ActorCollection(bool returnWhenEmptied) : result_(start<Actors>(returnWhenEmptied)) {}

ActorCollection ActorCollection::thatGoesOn() {
    ActorCollection made(start<Actors>(false, true));
    return made;
}

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
        actors->add(std::move(actor));
}

bool ActorCollection::isEmpty(std::source_location caller) const {
    return size(caller) == 0;
}

int ActorCollection::size(std::source_location caller) const {
    FLOW_ASSERT_AT(caller, result_.isValid(), "the ActorCollection was moved from");
    Actors* actors = Actors::of(result_);
    return actors ? actors->count : 0;
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

// The next round is made before signal() is called, so that a failure leaves the actors where they are.

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
