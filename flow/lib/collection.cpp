#include "flow/lib/collection.h"

#include "flow/coro/race.h"
#include "flow/lib/lifetime.h"
#include "flow/wait/pending.h"

namespace flow {
using namespace detail;
namespace {

/// One actor of a collection: the waiter that is parked at it, and its place in the list.
struct Member : FastAllocated<Member> {
    Waiter waiter; // first: a Waiter of a collection is its Member
    Link place;

    static Member* of(Waiter* waiter) { return reinterpret_cast<Member*>(waiter); }
    static Member* at(Link* place) {
        return reinterpret_cast<Member*>(reinterpret_cast<char*>(place) - offsetof(Member, place));
    }
};

/// The frame behind the result. It counts as parked, linked to itself, so that a cancel resumes it.
struct CollectionFrame : Waiter {
    Link members;
    int count;
    bool returnWhenEmptied;

    static CollectionFrame& of(Cell* cell) { return *static_cast<CollectionFrame*>(cell->frame()); }

    static Future<Void> create(bool returnWhenEmptied) {
        Cell* cell = newCell<Void>(sizeof(CollectionFrame), 1, 1, Cell::kHasFrame);
        CollectionFrame& frame = of(cell);
        frame.resume = resumeCancelled;
        frame.destroy = nullptr;
        frame.link.reset();
        frame.awaited = {};
        frame.members.reset();
        frame.count = 0;
        frame.returnWhenEmptied = returnWhenEmptied;
        return Future<Void>::adopt(cell);
    }

    void add(Future<Void> actor) {
        auto* member = new Member;
        member->waiter = {};
        member->waiter.resume = fire;
        member->waiter.owner = this;
        pushBack(members, member->place);
        ++count;
        park(&member->waiter, std::move(actor).release());
    }

    static void fire(Waiter* waiter) {
        auto* frame = static_cast<CollectionFrame*>(static_cast<Waiter*>(waiter->owner));
        Member* member = Member::of(waiter);
        Cell* actor = waiter->awaited.cell();
        Error error = actor->isError() ? actor->error : Error();
        member->place.unlink();
        --frame->count;
        delete member;
        bool ended = error.isValid() || (frame->returnWhenEmptied && frame->members.isEmpty());
        if (ended && frame->link.isLinked())
            frame->link.unlink(); // a cancel from here on finds nothing to do
        releaseFuture(actor);
        if (ended)
            if (Waiter* last = finish(frame, error))
                FLOW_HAND_OVER(last);
    }

    static void resumeCancelled(Waiter* waiter) {
        auto* frame = static_cast<CollectionFrame*>(waiter);
        releaseFuture(frame->awaited.cell());
        frame->awaited = {};
        if (Waiter* last = finish(frame, actor_cancelled()))
            FLOW_HAND_OVER(last);
    }

    /// Cancels what is left, then publishes.
    static Waiter* finish(CollectionFrame* frame, Error error) noexcept {
        for (Link* place = frame->members.next; place != &frame->members; place = place->next)
            detach(&Member::at(place)->waiter);
        while (!frame->members.isEmpty()) {
            Member* member = Member::at(frame->members.next);
            Cell* actor = takeAwaited(&member->waiter);
            member->place.unlink();
            --frame->count;
            delete member;
            releaseFuture(actor);
        }
        Cell* cell = Cell::of(frame);
        cell->error = error;
        return finishFrame<Void>(cell, error.isValid() ? Cell::kError : Cell::kValue);
    }
};

Future<Void> collect(FutureStream<Future<Void>> actors, Propagate = {}) {
    ActorCollection held(false);
    for (;;) {
        auto first = co_await race(held.getResult(), actors); // fails, or has an actor
        held.add(std::get<1>(std::move(first)));
    }
}

} // namespace

ActorCollection::ActorCollection(bool returnWhenEmptied) : result_(CollectionFrame::create(returnWhenEmptied)) {}

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

void ActorCollection::add(Future<Void> actor) {
    FLOW_ASSERT(result_.isValid(), "the ActorCollection was moved from");
    validCell(actor);
    Cell* cell = result_.cell();
    if (!cell->has(Cell::kHasFrame))
        return;
    auto& frame = CollectionFrame::of(cell);
    if (!frame.link.isLinked()) // an actor that is being cancelled adds another: the end has begun
        return;
    if (!actor.isReady())
        return frame.add(std::move(actor));
    bool ended = actor.isError() || (frame.returnWhenEmptied && frame.members.isEmpty());
    if (!ended)
        return;
    Error error = actor.isError() ? actor.getError() : Error();
    Future<Void> held = result_;
    frame.link.unlink();
    if (Waiter* last = CollectionFrame::finish(&frame, error))
        run(last);
}

bool ActorCollection::isEmpty() const {
    return size() == 0;
}

int ActorCollection::size() const {
    FLOW_ASSERT(result_.isValid(), "the ActorCollection was moved from");
    Cell* cell = result_.cell();
    return cell->has(Cell::kHasFrame) ? CollectionFrame::of(cell).count : 0;
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
    if (round_->signal.canBeSet()) // the first result: nobody waits for it yet, so that nobody's code runs in here
        round_->signal.send(Void());
    return result;
}

// What follows signal() is made before it, so that a failure leaves the actors where they are.

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
