#include "flow/compat/collection.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <memory>
#include <optional>

using namespace flow;
using namespace flow::detail;
using namespace flow::test;

namespace {

Future<Void> loggedActor(TraceLog& log, std::string name, Future<Void> awaited) {
    Noisy local(log, name);
    co_await std::move(awaited);
}

Future<Void> watch(TraceLog& log, Future<Void> future) {
    ErrorOr<Void> result = co_await tryGet(std::move(future));
    log.say(result.present() ? "done" : result.getError().name());
}

/// Adds another actor when it ends, by value, error or cancel.
Future<Void> addsAtEnd(TraceLog& log, ActorCollection& collection, Future<Void> awaited, Future<Void> added) {
    try {
        co_await std::move(awaited);
    } catch (Error&) {
    }
    collection.add(loggedActor(log, "added", std::move(added)));
}

} // namespace

TEST_CASE("collection: holds actors until they end") {
    TraceLog log;
    Blocks blocks;
    {
        Promise<Void> p, q;
        ActorCollection all(false);
        CHECK(all.isEmpty());
        all.add(loggedActor(log, "a", p.getFuture()));
        all.add(loggedActor(log, "b", q.getFuture()));
        all.add(Future<Void>(Void()));
        CHECK_FALSE(all.isEmpty());
        p.send(Void());
        CHECK(log.take() == "~a");
        q.send(Void());
        CHECK(all.isEmpty());
        CHECK_FALSE(all.getResult().isReady());
        log.take();
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("collection: an error cancels the others and becomes the result") {
    TraceLog log;
    Promise<Void> p;
    ActorCollection all(false);
    Future<Void> watcher = watch(log, all.getResult());
    all.add(loggedActor(log, "a", Never()));
    all.add(loggedActor(log, "b", p.getFuture()));
    all.add(loggedActor(log, "c", Never()));
    p.sendError(timed_out());
    CHECK(log.take() == "~b ~a ~c timed_out");
    CHECK(all.isEmpty());
    all.add(loggedActor(log, "late", Never()));
    CHECK(log.take() == "~late");
    ActorCollection other(true);
    other.add(loggedActor(log, "a", Never()));
    other.add(Future<Void>(end_of_stream()));
    CHECK(log.take() == "~a");
    CHECK(other.getResult().getError() == end_of_stream());
}

TEST_CASE("collection: ready when emptied, but not before the first add") {
    TraceLog log;
    Promise<Void> p, q;
    ActorCollection all(true);
    CHECK_FALSE(all.getResult().isReady());
    all.add(p.getFuture());
    all.add(Future<Void>(Void()));
    CHECK_FALSE(all.getResult().isReady());
    all.add(q.getFuture());
    p.send(Void());
    CHECK_FALSE(all.getResult().isReady());
    q.send(Void());
    CHECK(all.getResult().canGet());
    ActorCollection ready(true);
    ready.add(Future<Void>(Void()));
    CHECK(ready.getResult().canGet());
}

TEST_CASE("collection: clear and destruction cancel; results of before fail with actor_cancelled") {
    TraceLog log;
    Blocks blocks;
    {
        std::optional<ActorCollection> all(std::in_place, false);
        Future<Void> before = all->getResult();
        all->add(loggedActor(log, "a", Never()));
        all->clear(true);
        CHECK(log.take() == "~a");
        CHECK(before.getError() == actor_cancelled());
        all->add(loggedActor(log, "b", Never()));
        Future<Void> after = all->getResult();
        all.reset();
        CHECK(log.take() == "~b");
        CHECK(after.getError() == actor_cancelled());
        ActorCollection one(false), two(false);
        one.add(loggedActor(log, "one", Never()));
        two.add(loggedActor(log, "two", Never()));
        one = std::move(two);
        CHECK(log.take() == "~one");
        Future<Void> result = one.getResult();
        result.cancel();
        CHECK(log.take() == "~two");
        CHECK(one.isEmpty());
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("collection: dropping the result does not cancel while the collection lives") {
    TraceLog log;
    Promise<Void> p;
    ActorCollection all(false);
    {
        Future<Void> result = all.getResult();
    }
    all.add(loggedActor(log, "a", p.getFuture()));
    CHECK(log.take() == "");
    p.send(Void());
    CHECK(log.take() == "~a");
}

TEST_CASE("collection: an actor adds another as it ends") {
    TraceLog log;
    Promise<Void> p, q;
    ActorCollection all(true);
    all.add(addsAtEnd(log, all, p.getFuture(), q.getFuture()));
    p.send(Void());
    CHECK_FALSE(all.getResult().isReady());
    CHECK(log.take() == "");
    q.send(Void());
    CHECK(log.take() == "~added");
    CHECK(all.getResult().canGet());
}

TEST_CASE("collection: what is added while it ends is dropped") {
    Blocks blocks;
    TraceLog log;
    for (int how = 0; how < 6; ++how) {
        Promise<Void> fails, parked;
        std::optional<ActorCollection> all(std::in_place, false);
        Future<Void> watcher = watch(log, all->getResult());
        Future<Void> added = how % 2 ? Future<Void>(timed_out()) : parked.getFuture();
        all->add(addsAtEnd(log, *all, Never(), added));
        all->add(fails.getFuture());
        if (how < 2)
            fails.sendError(end_of_stream());
        else if (how < 4)
            all->getResult().cancel();
        else
            all->add(Future<Void>(end_of_stream()));
        CHECK(log.take() == std::string("~added ") + (how / 2 == 1 ? "operation_cancelled" : "end_of_stream"));
        added = Future<Void>();
        CHECK(parked.getFutureReferenceCount() == 0);
        parked.send(Void());
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("collection: an actor destroys the collection as it ends") {
    Blocks blocks;
    TraceLog log;
    for (bool error : {false, true}) {
        Promise<Void> p;
        auto all = std::make_unique<ActorCollection>(true);
        Future<Void> result = all->getResult();
        auto destroys = [](std::unique_ptr<ActorCollection>& mine, Future<Void> awaited, bool fail) -> Future<Void> {
            co_await std::move(awaited);
            mine.reset();
            if (fail)
                throw timed_out();
        };
        all->add(loggedActor(log, "other", Never()));
        all->add(destroys(all, p.getFuture(), error));
        p.send(Void());
        CHECK(all == nullptr);
        CHECK(log.take() == "~other");
        CHECK(result.getError() == actor_cancelled());
    }
    Promise<Void> p;
    auto all = std::make_unique<ActorCollection>(true);
    Future<Void> watcher = [](std::unique_ptr<ActorCollection>& mine) -> Future<Void> {
        co_await tryGet(mine->getResult());
        mine.reset();
    }(all);
    all->add(p.getFuture());
    p.send(Void());
    CHECK(all == nullptr);
    CHECK(watcher.isReady());
}

TEST_CASE("collection: many members come and go in constant stack") {
    onSmallStack(kSmallStack, [] {
        Blocks blocks;
        {
            Promise<Void> p;
            ActorCollection all(false);
            for (int i = 0; i < kManyLinks; ++i)
                all.add(p.getFuture());
            all.clear(true);
            for (int i = 0; i < kManyLinks; ++i)
                all.add(p.getFuture());
            p.send(Void());
            CHECK(all.getResult().isReady());
        }
        CHECK(blocks.leaked() == 0);
    });
}

TEST_CASE("collection: use after a move aborts with a message; assignment makes it usable") {
    CHECK(abortMessage([] {
              ActorCollection all(false);
              ActorCollection taken(std::move(all));
              (void)all.isEmpty();
          }).find("the ActorCollection was moved from") != std::string::npos);
    ActorCollection all(false);
    ActorCollection taken(std::move(all));
    all = ActorCollection(true);
    all.add(Future<Void>(Void()));
    CHECK(all.getResult().canGet());
    CHECK(taken.isEmpty());
}

TEST_CASE("collection: one that a stream feeds") {
    TraceLog log;
    Blocks blocks;
    for (int how = 0; how < 3; ++how) {
        Promise<Void> p, q;
        PromiseStream<Future<Void>> actors;
        actors.send(loggedActor(log, "a", p.getFuture()));
        Future<Void> held = actorCollection(actors.getFuture());
        actors.send(loggedActor(log, "b", q.getFuture()));
        actors.send(loggedActor(log, "c", Never()));
        p.send(Void());
        CHECK(log.take() == "~a");
        CHECK_FALSE(held.isReady());
        if (how == 0)
            q.sendError(timed_out());
        else if (how == 1)
            actors.sendError(end_of_stream());
        else
            held.cancel();
        CHECK(held.getError() == (how == 0 ? timed_out() : how == 1 ? end_of_stream() : actor_cancelled()));
        CHECK(log.take() == "~b ~c");
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("collection: one that is at its end cancels its actors and what is added later, and needs no memory for it") {
    Blocks blocks;
    {
        TraceLog log;
        ActorCollectionNoErrors all;
        all.add(loggedActor(log, "a", Never()));
        long before = blocks.taken();
        all.end();
        CHECK(blocks.taken() == before);
        CHECK(log.take() == "~a");
        all.add(loggedActor(log, "b", Never()));
        CHECK(log.take() == "~b");
        CHECK(all.size() == 0);
        all.end();
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("collection: without errors, with a count") {
    TraceLog log;
    Promise<Void> p, q;
    ActorCollectionNoErrors all;
    CHECK(all.size() == 0);
    all.add(loggedActor(log, "a", p.getFuture()));
    all.add(loggedActor(log, "b", q.getFuture()));
    all.add(Future<Void>(Void()));
    CHECK(all.size() == 2);
    p.send(Void());
    CHECK(all.size() == 1);
    all.clear();
    CHECK(all.size() == 0);
    CHECK(log.take() == "~a ~b");
}

TEST_CASE("collection: in one without errors others go on after an error, which is reported") {
    TraceLog log;
    static std::vector<int> dropped;
    dropped.clear();
    DroppedErrorHandler before =
        setDroppedErrorHandler([](const char*, Error error) { dropped.push_back(error.code()); });
    Promise<Void> failing, other;
    ActorCollectionNoErrors all;
    all.add(loggedActor(log, "a", failing.getFuture()));
    all.add(loggedActor(log, "b", other.getFuture()));
    failing.sendError(timed_out());
    CHECK(all.size() == 1);
    CHECK(log.take() == "~a");
    all.add(Future<Void>(io_error()));
    CHECK(dropped == std::vector<int>{error_code_timed_out, error_code_io_error});
    all.add(loggedActor(log, "c", Never()));
    CHECK(all.size() == 2);
    other.send(Void());
    CHECK(all.size() == 1);
    CHECK(log.take() == "~b");
    setDroppedErrorHandler(before);
}

TEST_CASE("collection: a signal requests its end") {
    TraceLog log;
    Blocks blocks;
    {
        Promise<Void> p, q, r;
        SignalableActorCollection all;
        CHECK(all.signal().isReady());
        all.clear();
        all.add(loggedActor(log, "a", p.getFuture()));
        Future<Void> first = all.signalAndReset();
        all.add(loggedActor(log, "b", q.getFuture()));
        Future<Void> second = all.signalAndCollapse();
        p.send(Void());
        CHECK(first.canGet());
        CHECK_FALSE(second.isReady());
        Future<Void> third = all.signal(), again = all.signal();
        all.add(loggedActor(log, "c", r.getFuture()));
        q.send(Void());
        CHECK(second.canGet());
        CHECK_FALSE(third.isReady());
        r.sendError(timed_out());
        CHECK(third.getError() == timed_out());
        CHECK(again.getError() == timed_out());
        CHECK(log.take() == "~a ~b ~c");
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("collection: what a signal waits for lives as long as the signal's result") {
    TraceLog log;
    Blocks blocks;
    {
        std::optional<SignalableActorCollection> all(std::in_place);
        all->add(loggedActor(log, "a", Never()));
        Future<Void> result = all->signalAndReset();
        all->add(loggedActor(log, "b", Never()));
        all->clear();
        CHECK(log.take() == "~b");
        all->add(loggedActor(log, "c", Never()));
        all.reset();
        CHECK(log.take() == "~c");
        result = Future<Void>();
        CHECK(log.take() == "~a");
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("collection: an actor, or a waiter for a signal's result, destroys the collection when it resumes") {
    using All = std::unique_ptr<SignalableActorCollection>;
    auto destroys = [](TraceLog& to, All& all, Future<Void> awaited) -> Future<Void> {
        co_await tryGet(std::move(awaited));
        all->add(loggedActor(to, "late", Never()));
        all.reset();
    };
    TraceLog log;
    Blocks blocks;
    for (auto signal : {&SignalableActorCollection::signal, &SignalableActorCollection::signalAndReset,
                        &SignalableActorCollection::signalAndCollapse})
        for (bool waits : {false, true}) {
            Promise<Void> last;
            All all = std::make_unique<SignalableActorCollection>();
            all->add(waits ? last.getFuture() : destroys(log, all, last.getFuture()));
            Future<Void> result = ((*all).*signal)();
            Future<Void> watcher = waits ? destroys(log, all, result) : Future<Void>();
            last.send(Void());
            CHECK(all == nullptr);
            bool counts = signal == &SignalableActorCollection::signal && !waits; // the late one, for this result
            CHECK(log.take() == (counts ? "" : "~late"));
            CHECK(result.isReady() == !counts);
            result = {};
            CHECK(log.take() == (counts ? "~late" : ""));
        }
    CHECK(blocks.leaked() == 0);
}
