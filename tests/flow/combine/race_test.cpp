#include "flow/combine/race.h"

#include "flow/sim/sim_loop.h"
#include "flow/tasks/task.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <memory>

using namespace flow;
using namespace flow::detail;
using namespace flow::test;

namespace {

Future<int> worker(TraceLog& log, std::string name, Future<int> awaited) {
    try {
        int v = co_await std::move(awaited);
        co_return v;
    } catch (Error& error) {
        log.say(name + ":" + error.name());
        throw;
    }
}

template <class A, class B>
Future<Void> first(TraceLog& log, A a, B b) {
    try {
        auto winner = co_await race(std::move(a), std::move(b));
        log.say("won" + std::to_string(winner.index()));
    } catch (Error& error) {
        log.say(error.name());
        throw;
    }
}

/// Races two operands that are made by callables which say so.
Future<Void> lazily(TraceLog& log, Future<int> a, Future<int> b) {
    auto winner = co_await race(
        [&] {
            log.say("make0");
            return a;
        },
        [&] {
            log.say("make1");
            return b;
        });
    log.say("won" + std::to_string(winner.index()));
}

} // namespace

TEST_CASE("race: the first ready operand in order wins; later ones are not evaluated") {
    TraceLog log;
    Promise<int> never;
    Future<Void> a = lazily(log, 1, 2);
    CHECK(log.take() == "make0 won0");
    Future<Void> b = lazily(log, never.getFuture(), 2);
    CHECK(log.take() == "make0 make1 won1");
    Future<Void> c = lazily(log, never.getFuture(), never.getFuture());
    CHECK(log.take() == "make0 make1");
    never.send(3); // both at once: the one that runs first is the newest waiter
    CHECK(log.take() == "won1");
    CHECK(never.getFutureReferenceCount() == 0);
}

TEST_CASE("race: an error that comes first wins as well") {
    TraceLog log;
    Future<Void> a = first(log, Future<int>(timed_out()), Future<int>(1));
    CHECK(log.take() == "timed_out");
    Future<Void> b = first(log, Future<int>(1), Future<int>(timed_out()));
    CHECK(log.take() == "won0");
    Promise<int> p, q;
    Future<Void> c = first(log, p.getFuture(), q.getFuture());
    q.sendError(end_of_stream());
    CHECK(log.take() == "end_of_stream");
    CHECK(p.getFutureReferenceCount() == 0);
}

TEST_CASE("race: losers are released before the coroutine resumes") {
    SimLoop loop;
    TraceLog log;
    Promise<int> p;
    Future<Void> a = first(log, worker(log, "loser", Never()), p.getFuture());
    p.send(1);
    CHECK(log.take() == "loser:operation_cancelled won1");
    Future<Void> b = first(log, worker(log, "loser", Never()), delay(1));
    loop.run();
    CHECK(log.take() == "loser:operation_cancelled won1");
    Future<Void> c = first(log, worker(log, "loser", Never()), Future<int>(1));
    CHECK(log.take() == "loser:operation_cancelled won1");
    Future<Void> d = first(log, delay(5), worker(log, "winner", 1));
    CHECK(log.take() == "won1");
    std::uint64_t before = loop.stepsRun();
    loop.run();
    CHECK(loop.stepsRun() == before); // the delay left its queue
    CHECK(loop.now() == 1);
}

TEST_CASE("race: a cancel releases every operand") {
    SimLoop loop;
    TraceLog log;
    Blocks blocks;
    {
        Future<Void> a = first(log, worker(log, "left", Never()), worker(log, "right", Never()));
        a.cancel();
        CHECK(log.take() == "left:operation_cancelled right:operation_cancelled operation_cancelled");
        PromiseStream<int> stream;
        Future<Void> b = first(log, stream.getFuture(), delay(1));
        b = Future<Void>();
        CHECK(log.take() == "operation_cancelled");
        stream.send(5);
        CHECK_FALSE(stream.isEmpty());
        loop.run();
        CHECK(loop.now() == 0);
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("race: streams that lose keep every element") {
    SimLoop loop;
    PromiseStream<int> left, right;
    auto merge = [](FutureStream<int> a, FutureStream<int> b) -> Future<std::string> {
        std::string seen;
        for (int i = 0; i < 6; ++i) {
            auto next = co_await race(a, b, delay(100));
            if (next.index() == 0)
                seen += "a" + std::to_string(std::get<0>(next));
            else if (next.index() == 1)
                seen += "b" + std::to_string(std::get<1>(next));
        }
        co_return seen;
    };
    right.send(1);
    left.send(1);
    Future<std::string> merged = merge(left.getFuture(), right.getFuture());
    right.send(2);
    left.send(2);
    left.send(3);
    right.send(3);
    CHECK(merged.get() == "a1b1b2a2a3b3");
    CHECK(left.isEmpty());
}

TEST_CASE("race: releasing a loser may make another operand ready, or cancel the owner") {
    TraceLog log;
    Promise<int> p, q;
    auto completes = [](TraceLog& said, Promise<int> other) -> Future<int> {
        try {
            co_await Never();
        } catch (Error&) {
            said.say("release");
            other.send(9);
        }
        co_return 0;
    };
    auto three = [](TraceLog& said, Future<int> a, Future<int> b, Future<int> c) -> Future<Void> {
        auto winner = co_await race(std::move(a), std::move(b), std::move(c));
        said.say("won" + std::to_string(winner.index()));
    };
    Future<Void> a = three(log, completes(log, q), p.getFuture(), q.getFuture());
    p.send(1);
    CHECK(log.take() == "release won1");

    Future<Void> own;
    auto cancels = [](TraceLog& said, Future<Void>& victim) -> Future<int> {
        try {
            co_await Never();
        } catch (Error&) {
            said.say("drop");
            victim = Future<Void>();
        }
        co_return 0;
    };
    auto goesOn = [](TraceLog& said, Future<int> a, Future<int> b) -> Future<Void> {
        auto winner = co_await race(std::move(a), std::move(b));
        said.say("won" + std::to_string(winner.index()));
        try {
            co_await Future<Void>(Void());
        } catch (Error& error) {
            said.say(error.name());
        }
    };
    Promise<int> r;
    own = goesOn(log, cancels(log, own), r.getFuture());
    r.send(1);
    CHECK(log.take() == "drop won1 operation_cancelled");
}

TEST_CASE("race: an operand that throws releases those before it") {
    SimLoop loop;
    TraceLog log;
    Blocks blocks;
    {
        auto task = [](TraceLog& said) -> Future<Void> {
            try {
                (void)co_await race(delay(1), worker(said, "worker", Never()),
                                    [&]() -> Future<int> { throw timed_out(); });
            } catch (Error& error) {
                said.say(error.name());
            }
            co_await delay(5); // the delay of the race must not wake this one
            said.say("later");
        };
        Future<Void> done = task(log);
        CHECK(log.take() == "worker:operation_cancelled timed_out");
        loop.run(done);
        CHECK(log.take() == "later");
        CHECK(loop.now() == 5);
    }
    CHECK(blocks.leaked() <= 0);
}

TEST_CASE("race: evaluating an operand may complete an earlier one") {
    SimLoop loop;
    TraceLog log;
    Promise<int> p;
    auto task = [](TraceLog& said, Promise<int> promise) -> Future<Void> {
        auto winner = co_await race(promise.getFuture(), delay(1), [&] {
            promise.send(7);
            return Future<int>(Never());
        });
        said.say("won" + std::to_string(winner.index()));
    };
    Future<Void> done = task(log, p);
    CHECK(log.take() == "won0");
    loop.run();
    CHECK(loop.now() == 0);
}

TEST_CASE("race: a cancel while operands are evaluated raises, whichever operand it was") {
    SimLoop loop;
    TraceLog log;
    for (int which = 0; which < 3; ++which) {
        Future<Void> own;
        auto task = [](TraceLog& said, Future<Void>& mine, int at) -> Future<Void> {
            co_await delay(0);
            auto make = [&](int i) {
                said.say("make" + std::to_string(i));
                if (i == at)
                    mine.cancel();
                return Future<int>(Never());
            };
            try {
                (void)co_await race([&] { return make(0); }, [&] { return make(1); }, delay(1),
                                    [&] { return make(2); });
            } catch (Error& error) {
                said.say(error.name());
                throw;
            }
        };
        own = task(log, own, which);
        loop.run();
        std::string made[] = {"make0 ", "make0 make1 ", "make0 make1 make2 "};
        CHECK(log.take() == made[which] + "operation_cancelled");
        CHECK(own.isError());
    }
}

TEST_CASE("race: evaluated() runs after the operands are evaluated, before the coroutine resumes or suspends") {
    auto task = [](TraceLog& said, Future<int> signal) -> Future<int> {
        auto first = [&] {
            said.say("evaluated");
            return signal;
        };
        auto won = co_await race(first, delay(1)).evaluated([&] { said.say("then"); });
        said.say(won.index() == 0 ? "value" : "delay");
        co_return won.index() == 0 ? std::get<0>(won) : -1;
    };
    SimLoop loop;
    TraceLog log;
    Future<int> ready = task(log, 1);
    CHECK(log.take() == "evaluated then value");
    CHECK(ready.get() == 1);

    Promise<int> promise;
    Future<int> waiting = task(log, promise.getFuture());
    CHECK(log.take() == "evaluated then");
    promise.send(2);
    CHECK(log.take() == "value");
    CHECK(waiting.get() == 2);

    Future<int> late = task(log, Never());
    CHECK(loop.run(late) == -1);
    CHECK(log.take() == "evaluated then delay");
}

TEST_CASE("race: what runs once the operands are evaluated may throw, whatever is ready by then") {
    auto fails = [] { throw timed_out(); };
    using Fails = decltype(fails);
    auto thrown = [](Future<int> signal, Fails* last) -> Future<Void> {
        (void)co_await race(signal, delay(1)).evaluated(*last);
    };
    auto propagated = [](Future<int> signal, Fails* last, Propagate) -> Future<Void> {
        (void)co_await race(signal, delay(1)).evaluated(*last);
    };
    for (bool ready : {false, true}) {
        test::Balance balance;
        SimLoop loop;
        Promise<int> promise;
        if (ready)
            promise.send(1);
        for (Future<Void> const& done :
             {thrown(promise.getFuture(), &fails), propagated(promise.getFuture(), &fails, Propagate())}) {
            REQUIRE(done.isError());
            CHECK(done.getError().code() == error_code_timed_out);
        }
        CHECK(promise.getFutureReferenceCount() == 0);
        CHECK_FALSE(loop.hasWork());
    }
}

TEST_CASE("race: a temporary of an operand that cancels the owner in its destructor raises too") {
    SimLoop loop;
    TraceLog log;
    struct Canceller {
        Future<Void>& victim;
        ~Canceller() { victim.cancel(); }
        Future<int> never() const { return Never(); }
    };
    Future<Void> own;
    auto task = [](TraceLog& said, Future<Void>& mine) -> Future<Void> {
        co_await delay(0);
        coro::Self own;
        co_await own;
        Waiter* self = own->frame();
        Choose<2> choose;
        {
            auto evaluation = choose.evaluate(self);
            (void)(choose.when(pending<int>(Canceller{mine}.never())) || choose.when(pending<Void>(delay(1))));
            evaluation.done();
        }
        REQUIRE(choose.decided());
        said.say(choose.result().takeError().name());
    };
    own = task(log, own);
    loop.run();
    CHECK(log.take() == "operation_cancelled");
    CHECK(loop.now() == 0);
}

TEST_CASE("race: yields, Never and values that only move") {
    SimLoop loop;
    auto task = []() -> Future<int> {
        auto a = co_await race(Never(), yield());
        CHECK(a.index() == 1);
        auto b = co_await race(Future<std::unique_ptr<int>>(std::make_unique<int>(4)), delay(1));
        co_return *std::get<0>(b);
    };
    CHECK(loop.run(task()) == 4);
    auto stuck = []() -> Future<Void> { (void)co_await race(Never(), Never()); };
    Future<Void> never = stuck();
    loop.run();
    CHECK_FALSE(never.isReady());
}

TEST_CASE("race: a delay that is over because a later operand ran the loop wins") {
    SimLoop loop;
    TraceLog log;
    auto runsLoop = [&](double seconds) {
        return [&loop, seconds] {
            loop.run(delay(seconds));
            return Future<int>(Never());
        };
    };
    Future<Void> over = first(log, delay(1), runsLoop(2));
    CHECK(log.take() == "won0");
    CHECK(over.canGet());
    Future<Void> early = first(log, delay(1), runsLoop(0.5)); // still parked when the coroutine suspends
    loop.run(early);
    CHECK(log.take() == "won0");
    CHECK(loop.now() == 3);
}

TEST_CASE("race: a strict future is a future") {
    SimLoop loop;
    auto strict = [](int value) -> StrictFuture<int> { return Future<int>(value); };
    auto task = [&]() -> Future<int> {
        StrictFuture<int> named = strict(1);
        auto a = co_await race(Never(), named);
        auto b = co_await race(Future<Void>(Never()), [&] { return strict(2); });
        auto c = co_await race(strict(4), delay(1));
        co_return std::get<1>(a) + std::get<1>(b) + std::get<0>(c);
    };
    CHECK(loop.run(task()) == 7);
}

TEST_CASE("race: becomes a future of its result, or of a variant, with one block") {
    SimLoop loop;
    test::Balance balance;
    Promise<int> p, q;
    PromiseStream<int> stream;
    Future<int> kept = q.getFuture();
    std::int64_t before = memory::totalStatistics().live();
    Future<RaceResult<int, int, int>> first = race(p.getFuture(), kept, stream.getFuture());
    CHECK(memory::totalStatistics().live() == before + 1);
    Future<std::variant<int, Void>> second = race(kept, delay(1));
    stream.send(3);
    stream.send(4);
    CHECK(first.get().index() == 2);
    CHECK(std::get<2>(first.get()) == 3);
    CHECK(p.getFutureReferenceCount() == 0);
    CHECK(stream.getFuture().pop() == 4);
    loop.run();
    CHECK(second.get().index() == 1);
    Future<RaceResult<int, Void>> dropped = race(kept, Never());
    dropped = race(Future<int>(timed_out()), Never());
    CHECK(dropped.getError() == timed_out());
    CHECK(kept.getFutureReferenceCount() == 1);
}

TEST_CASE("race: a future of it owns its operands, also those that can only be moved") {
    test::Balance balance;
    Future<RaceResult<std::unique_ptr<int>, int>> made;
    {
        Promise<std::unique_ptr<int>> p;
        auto number = std::make_unique<int>(7);
        made = race(p.getFuture(), [number = std::move(number)] { return Future<int>(*number); });
    }
    CHECK(std::get<1>(made.get()) == 7);
    Promise<std::unique_ptr<int>> p;
    made = race(p.getFuture(), [] { return Future<int>(Never()); });
    p.send(std::make_unique<int>(8));
    CHECK(*std::get<0>(std::move(made).takeValue()) == 8);
}

namespace own {
struct Horse {};
bool race(Future<int> const&, double) {
    return true;
}
bool race(Horse, Horse, Future<int> const&) {
    return true;
}
template <class A, class B>
bool race(A const&, B const&) {
    return true;
}
} // namespace own
TEST_CASE("race: a program's own function is called with operands that cannot be awaited") {
    using own::race;
    CHECK(race(Future<int>(1), 12));
    CHECK(race(Future<int>(1), own::Horse()));
    CHECK(race(own::Horse(), own::Horse(), Future<int>(1)));
}

TEST_CASE("race: of tasks, which begin only if they are needed, of forks and of races") {
    SimLoop loop;
    test::Balance balance;
    int begun = 0;
    auto later = [&begun](double seconds) {
        return [](Context, int* count, double wait) -> Task<int> {
            ++*count;
            co_await delay(wait);
            co_return *count;
        }(Environment(), &begun, seconds);
    };
    auto run = [&]() -> Future<Void> {
        auto first = co_await race(later(2), later(1), delay(3));
        CHECK(first.index() == 1);
        CHECK(begun == 2);
        auto second = co_await race(Future<int>(1), later(1));
        CHECK(second.index() == 0);
        CHECK(begun == 2);
        auto third = co_await race(race(later(5), delay(2)), delay(1));
        CHECK(third.index() == 1);
        auto fourth = co_await race(race(later(1), Never()), delay(2));
        CHECK(std::get<0>(fourth).index() == 0);
    };
    loop.run(run());
    CHECK(loop.now() == 3);
    CHECK_FALSE(loop.hasWork()); // the losers' delays are gone with them
}

#ifndef __clang__
TEST_CASE("race: gcc may begin it with another co_await of its expression, which is reported") {
    std::string words = flow::test::abortMessage([] {
        auto task = [](Future<int> a, Future<int> b) -> Future<int> {
            co_return co_await a + static_cast<int>((co_await race(b, Never())).index());
        };
        Promise<int> a, b;
        (void)task(a.getFuture(), b.getFuture());
    });
    CHECK(words.find("gcc began two co_awaits of one expression at once") != std::string::npos);
}
#endif
