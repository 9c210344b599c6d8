// State machines, written by hand as actorc emits them.
#include "flow/actor/runtime.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace flow;
using namespace flow::detail;
using namespace flow::test;
using flow::actor::Exit;

namespace {

// ACTOR Future<int> holds(TraceLog* log, Noisy p, Future<int> f) {
//     state Noisy s(*log, "state"); Noisy local(*log, "local"); int v = wait(f); if (v < 0) throw timed_out(); return
//     v; }
struct HoldsActorState {
    TraceLog* log;
    Noisy p;
    Future<int> f;
    Noisy s;
    HoldsActorState(TraceLog* const& arg_log, Noisy const& arg_p, Future<int> const& arg_f)
        : log(arg_log), p(arg_p), f(arg_f), s(*log, "state") {}
    Exit a_body(actor::Frame<int>& actor_) {
        Pending wait_;
        switch (actor_.entry()) {
        case 1:
            goto resume1;
        default:
            break;
        }
        {
            Noisy local(*log, "local");
            wait_ = pending<int>(f);
        }
        if (!actor_.ready(wait_, actor_.entry())) {
            return actor_.park(wait_, 1);
        resume1:
            wait_ = actor_.resumed();
        }
        if (wait_.failed())
            return actor_.fail(wait_.takeError());
        {
            auto v_ = wait_.take<int>();
            int const& v = v_.get();
            if (v < 0)
                throw timed_out();
            return actor_.finish(v);
        }
    }
};
struct HoldsActor final : actor::Actor<actor::Frame<int>, HoldsActorState> {};
Future<int> holds(TraceLog& log, Future<int> const& f) {
    Noisy p(log, "parameter");
    Future<int> future = actor::start<HoldsActor>(&log, p, f);
    p.forget();
    return future;
}

// ACTOR Future<int> link(Future<int> f) { int v = wait(f); return v + 1; }, with a state that releases f: KeepsActor
// does not
template <bool Keeps>
struct LinkActorState {
    Future<int> f;
    LinkActorState(Future<int> const& arg_f) : f(arg_f) {}
    Exit a_body(actor::Frame<int>& actor_) {
        Pending wait_;
        if (actor_.entry() == 1)
            goto resume1;
        wait_ = Keeps ? pending<int>(f) : pending<int>(std::move(f));
        if (!actor_.ready(wait_, actor_.entry())) {
            return actor_.park(wait_, 1);
        resume1:
            wait_ = actor_.resumed();
        }
        if (wait_.failed())
            return actor_.fail(wait_.takeError());
        return actor_.finish(wait_.takeValue<int>() + 1);
    }
};
struct LinkActor final : actor::Actor<actor::Frame<int>, LinkActorState<false>> {};
struct KeepsActor final : actor::Actor<actor::Frame<int>, LinkActorState<true>> {};
Future<int> linkOfCoroutine(Future<int> next) {
    co_return co_await std::move(next) + 1;
}

// ACTOR Future<Void> keeper(Future<Void> held, Future<Void> f) { wait(f); return Void(); }; also void and UNCANCELLABLE
template <class F>
struct KeeperActorState {
    Future<Void> held;
    Future<Void> f;
    KeeperActorState(Future<Void> const& arg_held, Future<Void> const& arg_f) : held(arg_held), f(arg_f) {}
    Exit a_body(F& actor_) {
        Pending wait_;
        if (actor_.entry() == 1)
            goto resume1;
        wait_ = pending<Void>(f);
        if (!actor_.ready(wait_, actor_.entry())) {
            return actor_.park(wait_, 1);
        resume1:
            wait_ = actor_.resumed();
        }
        if (wait_.failed())
            return actor_.fail(wait_.takeError());
        wait_.drop();
        if constexpr (std::is_void_v<typename F::Value>)
            return actor_.finish();
        else
            return actor_.finish(Void());
    }
};
struct KeeperActor final
    : actor::Actor<actor::PropagatingFrame<Void>, KeeperActorState<actor::PropagatingFrame<Void>>> {};
struct StubbornActor final
    : actor::Actor<actor::Frame<Void>, KeeperActorState<actor::Frame<Void>>, actor::Kind::Uncancellable> {};
struct DetachedKeeperActor final
    : actor::Actor<actor::PropagatingFrame<void>, KeeperActorState<actor::PropagatingFrame<void>>> {};

Future<Void> coroutineKeeper(Future<Void> held, Future<Void> awaited) {
    Future<Void> local = std::move(held);
    co_await awaited;
}

// ACTOR Future<Void> increment(TaskPriority p, int* sum) { wait(delay(0, p)); ++*sum; return Void(); }
template <bool Timer>
struct IncrementState {
    TaskPriority p;
    int* sum;
    IncrementState(TaskPriority const& arg_p, int* const& arg_sum) : p(arg_p), sum(arg_sum) {}
    Exit a_body(actor::Frame<Void>& actor_) {
        Pending wait_;
        if (actor_.entry() == 1)
            goto resume1;
        wait_ = pending<Void>(delay(Timer ? 5.0 : 0.0, p));
        if (!actor_.ready(wait_, actor_.entry())) {
            return actor_.park(wait_, 1);
        resume1:
            wait_ = actor_.resumed();
        }
        if (wait_.failed())
            return actor_.fail(wait_.takeError());
        wait_.drop();
        ++*sum;
        return actor_.finish(Void());
    }
};
struct IncrementActor final : actor::Actor<actor::Frame<Void>, IncrementState<false>> {};
struct SlowIncrementActor final : actor::Actor<actor::Frame<Void>, IncrementState<true>> {};

Future<Void> increment(TaskPriority p, int* sum) {
    co_await delay(0, p);
    ++*sum;
}

Future<Void> watch(TraceLog& log, std::string name, Future<int> future) {
    ErrorOr<int> result = co_await tryGet(std::move(future));
    log.say(name + "=" + (result.present() ? std::to_string(result.get()) : result.getError().name()));
}

TraceLog dropped;
void noteDropped(const char* where, Error error) {
    dropped.say(std::string(where) + ":" + error.name());
}

/// Bytes of the blocks taken since `before`, by class.
std::size_t largestBlockTaken(std::uint64_t (&before)[memory::kClassCount]) {
    std::size_t bytes = 0;
    for (std::size_t c = 0; c < memory::kClassCount; ++c)
        if (memory::statistics(static_cast<memory::SizeClass>(c)).allocated != before[c])
            bytes = std::max(bytes, memory::blockBytes(static_cast<memory::SizeClass>(c)));
    return bytes;
}

} // namespace

TEST_CASE("actor: eager start, ready waits do not suspend, synchronous resumption") {
    TraceLog log;
    CHECK(holds(log, 3).get() == 3);
    CHECK(log.take() == "~local ~state ~parameter");
    Promise<int> p;
    Future<int> later = holds(log, p.getFuture());
    CHECK(log.take() == "~local");
    p.send(4);
    CHECK(later.get() == 4);
}

TEST_CASE("actor: state, then parameters are destroyed before waiters run") {
    TraceLog log;
    Blocks blocks;
    for (int how = 0; how < 4; ++how) {
        Promise<int> p;
        Future<int> future = holds(log, p.getFuture());
        Future<Void> watcher = watch(log, "watcher", future);
        log.take();
        if (how == 0)
            p.send(5);
        else if (how == 1)
            p.send(-1);
        else if (how == 2)
            p.sendError(end_of_stream());
        else
            future.cancel();
        const char* ends[] = {"5", "timed_out", "end_of_stream", "operation_cancelled"};
        CHECK(log.take() == std::string("~state ~parameter watcher=") + ends[how]);
        future.cancel();
        CHECK(p.getFutureReferenceCount() == 0);
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("actor: uncancellable and void actors run on; dropped errors carry their names") {
    DroppedErrorHandler before = setDroppedErrorHandler(noteDropped);
    Blocks blocks;
    {
        Promise<Void> p, q;
        Future<Void> stubborn = actor::start<StubbornActor>(Future<Void>(Void()), p.getFuture());
        stubborn.cancel();
        stubborn = Future<Void>();
        CHECK(p.getFutureReferenceCount() == 2); // the parameter and the wait
        p.sendError(timed_out());
        CHECK(dropped.take().find("keeper:") != std::string::npos);
        actor::start<DetachedKeeperActor>(Future<Void>(Void()), q.getFuture());
        CHECK(q.getFutureReferenceCount() == 2);
        q.sendError(end_of_stream());
        std::string said = dropped.take();
        CHECK(said.find("keeper:") != std::string::npos);
        CHECK(said.find(":end_of_stream") != std::string::npos);
    }
    CHECK(blocks.leaked() == 0);
    setDroppedErrorHandler(before);
}

TEST_CASE("actor: long chains, also mixed with coroutines, in constant stack") {
    onSmallStack(kSmallStack, [] {
        Blocks blocks;
        for (int how = 0; how < 9; ++how) {
            Promise<int> p;
            Future<int> chain = p.getFuture();
            for (int i = 0; i < kManyLinks; ++i) {
                if (how / 3 == 2 && i % 2)
                    chain = linkOfCoroutine(std::move(chain));
                else if (how / 3 == 1)
                    chain = actor::start<KeepsActor>(chain);
                else
                    chain = actor::start<LinkActor>(chain);
            }
            if (how % 3 == 0)
                p.send(0);
            else if (how % 3 == 1)
                p.sendError(timed_out());
            else
                chain.cancel();
            CHECK(chain.isReady());
            if (how % 3 == 0)
                CHECK(chain.get() == kManyLinks);
            CHECK(p.getFutureReferenceCount() == 0);
        }
        CHECK(blocks.leaked() == 0);
    });
}

TEST_CASE("actor: a long list of actors that hold each other is destroyed in constant stack") {
    onSmallStack(kSmallStack, [] {
        Blocks blocks;
        for (int mixed = 0; mixed < 2; ++mixed) {
            Promise<Void> never;
            Future<Void> list = Void();
            for (int i = 0; i < kManyLinks; ++i) {
                if (mixed && i % 2)
                    list = coroutineKeeper(std::move(list), never.getFuture());
                else
                    list = actor::start<KeeperActor>(list, never.getFuture());
            }
            list = Future<Void>();
            CHECK(never.getFutureReferenceCount() == 0);
        }
        CHECK(blocks.leaked() == 0);
    });
}

TEST_CASE("actor: one block of at most 96 bytes for an actor that waits and counts") {
    SimLoop loop;
    constexpr std::size_t kLimit = FLOW_CHECKED ? 112 : 96;
    int sum = 0;
    for (int style = 0; style < 3; ++style) {
        std::uint64_t before[memory::kClassCount];
        for (std::size_t c = 0; c < memory::kClassCount; ++c)
            before[c] = memory::statistics(static_cast<memory::SizeClass>(c)).allocated;
        Blocks blocks;
        Future<Void> done = style == 0   ? actor::start<IncrementActor>(TaskPriority::Default, &sum)
                            : style == 1 ? increment(TaskPriority::Default, &sum)
                                         : actor::start<SlowIncrementActor>(TaskPriority::Default, &sum);
        CHECK(blocks.taken() == (style == 2 ? 2 : 1)); // a real deadline takes a slot in the timer queue
#if defined(__clang__)
        bool measured = style != 1 || !FLOW_CHECKED;
#else
        bool measured = style != 1;
#endif
        if (measured)
            CHECK(largestBlockTaken(before) <= kLimit);
        loop.run(done);
        CHECK(blocks.taken() <= 2);
        CHECK(sum == style + 1);
    }
}

TEST_CASE("actor: misuse aborts with a message that names the actor") {
    std::string words = abortMessage([] {
        TraceLog log;
        (void)holds(log, Future<int>());
    });
    CHECK(words.find("a wait for an invalid Future") != std::string::npos);
    if (FLOW_CHECKED)
        CHECK(words.find("in actor holds\n") != std::string::npos);
    words = abortMessage([] {
        auto reader = [](FutureStream<int> stream) -> Future<int> { co_return co_await stream; };
        PromiseStream<int> stream;
        Future<int> a = reader(stream.getFuture());
        Future<int> b = reader(stream.getFuture());
    });
    CHECK(words.find("two readers wait for one FutureStream") != std::string::npos);
    words = abortMessage([] {
        int sum = 0;
        Future<Void> a = actor::start<IncrementActor>(TaskPriority::Default, &sum);
    });
    CHECK(words.find("no loop on this thread") != std::string::npos);
    if (FLOW_CHECKED)
        CHECK(words.find("IncrementState") != std::string::npos);
}

TEST_CASE("actor: a message names the coroutine that runs, also after it called others") {
    static auto finishesAtOnce = []() -> Future<Void> { co_return; };
    static auto suspends = []() -> Future<Void> { co_await Never(); };
    struct Outer {
        static Future<Void> misusing(bool calls) {
            if (calls) {
                Future<Void> a = finishesAtOnce();
                Future<Void> b = suspends();
                TraceLog log;
                Future<int> c = holds(log, 1);
            }
            co_await Future<Void>();
        }
    };
    std::string words = abortMessage([] { (void)Outer::misusing(false); });
    CHECK((!FLOW_CHECKED || words.find("misusing") != std::string::npos));
    words = abortMessage([] { (void)Outer::misusing(true); });
    CHECK((!FLOW_CHECKED || words.find("misusing") != std::string::npos));
}
