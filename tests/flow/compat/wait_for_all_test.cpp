#include "flow/compat/wait_for_all.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::detail;
using namespace flow::test;

namespace {

Future<Void> watch(TraceLog& log, std::string name, Future<Void> future) {
    ErrorOr<Void> result = co_await tryGet(std::move(future));
    log.say(name + ":" + (result.present() ? "done" : result.getError().name()));
}

Future<int> worker(TraceLog& log, std::string name, Future<int> awaited) {
    Noisy local(log, name);
    co_return co_await std::move(awaited);
}

std::vector<Future<int>> futuresOf(std::vector<Promise<int>> const& promises) {
    std::vector<Future<int>> futures;
    for (Promise<int> const& promise : promises)
        futures.push_back(promise.getFuture());
    return futures;
}

/// What the thread holds in blocks.
std::uint64_t liveBytes() {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < memory::kClassCount; ++i) {
        memory::Statistics of = memory::statistics(static_cast<memory::SizeClass>(i));
        bytes += of.blockBytes * static_cast<std::uint64_t>(of.live());
    }
    return bytes;
}

/// A value that calls a function in its destructor.
struct OnDeath {
    std::shared_ptr<void> guard;
};
template <class F>
OnDeath onDeath(F act) {
    return {std::shared_ptr<void>(nullptr, [act](void*) { act(); })};
}

Future<OnDeath> dyingValue(Future<Void> go, std::function<void()> act) {
    co_await go;
    co_return onDeath(act);
}

} // namespace

TEST_CASE("quorum: ready when enough have values") {
    Blocks blocks;
    {
        std::vector<Promise<int>> p(5);
        Future<Void> three = quorum(futuresOf(p), 3);
        p[4].send(1);
        p[0].send(1);
        CHECK_FALSE(three.isReady());
        CHECK(p[1].getFutureReferenceCount() == 1);
        CHECK(p[0].getFutureReferenceCount() == 0);
        p[2].send(1);
        CHECK(three.canGet());
        CHECK(p[1].getFutureReferenceCount() == 1);
        p[1].send(1); // runs on, and means nothing any more
        CHECK(p[1].getFutureReferenceCount() == 0);
        CHECK(p[3].getFutureReferenceCount() == 1);
        three = Future<Void>();
        CHECK(p[3].getFutureReferenceCount() == 0);
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("quorum: fails with the first error") {
    std::vector<Promise<int>> p(3);
    Future<Void> one = quorum(futuresOf(p), 2);
    p[1].sendError(timed_out());
    CHECK(one.getError() == timed_out());
    CHECK(p[0].getFutureReferenceCount() == 1);
    one = Future<Void>();
    CHECK(p[0].getFutureReferenceCount() == 0);
    // Among those that are ready at the call the first in order counts.
    std::vector<Future<int>> mixed = {Never(), 1, end_of_stream(), timed_out(), 2};
    CHECK(quorum(mixed, 2).getError() == end_of_stream());
    CHECK(quorum(mixed, 1).canGet());
    CHECK(waitForAll(mixed).getError() == end_of_stream());
}

TEST_CASE("quorum: ready, empty and Never inputs") {
    std::vector<Future<int>> none;
    CHECK(waitForAll(none).canGet());
    CHECK(waitForAny(none).canGet());
    CHECK(quorum(none, 0).canGet());
    std::vector<Future<int>> ready = {1, 2};
    CHECK(waitForAll(ready).canGet());
    CHECK(waitForAny(ready).canGet());
    std::vector<Future<int>> never = {1, Never()};
    CHECK_FALSE(waitForAll(never).isReady());
    CHECK(waitForAny(never).canGet());
    CHECK(quorum(never, 0).canGet());
    std::string words = abortMessage([] {
        std::vector<Future<int>> one = {1};
        (void)quorum(one, 2);
    });
    CHECK(words.find("a quorum of more futures than there are") != std::string::npos);
    words = abortMessage([] {
        std::vector<Future<int>> one(1);
        (void)waitForAll(one);
    });
    CHECK(words.find("invalid Future") != std::string::npos);
}

TEST_CASE("quorum: one block whatever the number of inputs") {
    for (int count : {1, 2, 10, 500}) {
        std::vector<Promise<int>> p(count);
        std::vector<Future<int>> inputs = futuresOf(p);
        Blocks blocks;
        Future<Void> all = waitForAll(inputs);
        CHECK(blocks.taken() == 1);
        for (Promise<int>& promise : p)
            promise.send(0);
        CHECK(all.canGet());
        CHECK(blocks.taken() == 1);
    }
}

TEST_CASE("quorum: the inputs that are left run on while the result is held, and what waits for it runs first") {
    enum class Then { Ends, ResultIsDropped, ResultIsCancelled };
    for (int form = 0; form < 4; ++form)
        for (Then then : {Then::Ends, Then::ResultIsDropped, Then::ResultIsCancelled}) {
            Blocks blocks;
            {
                TraceLog log;
                Promise<int> p, late;
                std::vector<Future<int>> workers{worker(log, "late", late.getFuture()),
                                                 worker(log, "first", p.getFuture())};
                Future<Void> any = form == 0   ? waitForAny(workers)
                                   : form == 1 ? quorum(workers, 1)
                                   : form == 2 ? waitForAll(workers)
                                               : workers[0] && workers[1];
                workers.clear();
                Future<Void> watcher = watch(log, "any", any);
                p.sendError(timed_out());
                CHECK(log.take() == "~first any:timed_out");
                if (then == Then::Ends)
                    late.send(1);
                else if (then == Then::ResultIsDropped)
                    any = Future<Void>();
                else
                    any.cancel();
                CHECK(log.take() == "~late");
                if (then == Then::ResultIsDropped)
                    continue;
                any.cancel();
                CHECK(any.getError() == timed_out());
            }
            CHECK(blocks.leaked() == 0);
        }
}

TEST_CASE("quorum: what waits for the result, and holds it alone, releases the inputs that are left") {
    TraceLog log;
    Promise<int> p;
    std::vector<Future<int>> workers{worker(log, "late", Never()), worker(log, "first", p.getFuture())};
    Future<Void> watcher = watch(log, "any", waitForAny(workers));
    workers.clear();
    p.send(1);
    CHECK(log.take() == "~first ~late any:done"); // watch() releases the future before it logs
}

TEST_CASE("quorum: inputs that are left when the call decides run on as well, but not those of || and of Released") {
    Blocks blocks;
    {
        TraceLog log;
        std::vector<Future<int>> workers{worker(log, "a", Never()), 1};
        Future<Void> any;
        SUBCASE("a value") {
            any = waitForAny(workers);
            workers.clear();
            CHECK(log.take() == "");
            CHECK(any.canGet());
            any = Future<Void>();
        }
        SUBCASE("an error") {
            workers.push_back(timed_out());
            any = waitForAll(workers);
            workers.clear();
            CHECK(log.take() == "");
            CHECK(any.getError() == timed_out());
            any = Future<Void>();
        }
        SUBCASE("none needed") {
            any = quorum(workers, 0);
            workers.clear();
            CHECK(log.take() == "");
            CHECK(any.canGet());
            any = Future<Void>();
        }
        SUBCASE("released") {
            any = quorum(workers, 1, Remaining::Released);
            workers.clear();
            CHECK(any.canGet());
        }
        SUBCASE("||") {
            any = workers[0] || workers[1];
            workers.clear();
            CHECK(any.canGet());
        }
        CHECK(log.take() == "~a");
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("quorum: || and Remaining::Released release inputs before what waits for the result runs") {
    TraceLog log;
    Promise<int> p;
    Future<Void> watcher = watch(log, "any", worker(log, "loser", Never()) || worker(log, "winner", p.getFuture()));
    p.send(1);
    CHECK(log.take() == "~winner ~loser any:done");
    Promise<int> q;
    std::vector<Future<int>> workers{worker(log, "a", Never()), worker(log, "b", q.getFuture())};
    Future<Void> all = waitForAll(workers, Remaining::Released);
    workers.clear();
    watcher = watch(log, "all", all);
    q.sendError(timed_out());
    CHECK(log.take() == "~b ~a all:timed_out");
}

TEST_CASE("quorum: dropping or cancelling the result releases the inputs") {
    TraceLog log;
    Blocks blocks;
    {
        Future<Void> both = worker(log, "a", Never()) && worker(log, "b", Never());
        both = Future<Void>();
        CHECK(log.take() == "~a ~b");
        Future<Void> either = worker(log, "a", Never()) || worker(log, "b", Never());
        Future<Void> watcher = watch(log, "either", either);
        either.cancel();
        either.cancel();
        CHECK(log.take() == "~a ~b either:operation_cancelled");
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("quorum: one future several times") {
    Promise<int> p;
    std::vector<Future<int>> same(3, p.getFuture());
    Future<Void> all = waitForAll(same);
    Future<Void> two = quorum(same, 2);
    same.clear();
    CHECK(p.getFutureReferenceCount() == 1); // no handles, only waiters
    p.send(1);
    CHECK(all.canGet());
    CHECK(two.canGet());
    CHECK(p.getFutureReferenceCount() == 0);
}

TEST_CASE("quorum: the destructor of an input's value may complete or fail another input") {
    for (bool isOr : {true, false})
        for (int how = 0; how < 4; ++how) {
            Blocks blocks;
            {
                Promise<Void> go;
                Promise<OnDeath> other;
                Future<Void> result;
                auto act = [&] {
                    if (how == 0)
                        other.send(OnDeath());
                    else if (how == 1)
                        other.sendError(timed_out());
                    else if (how == 2)
                        result = Future<Void>();
                    else
                        result.cancel();
                };
                std::vector<Future<OnDeath>> inputs{dyingValue(go.getFuture(), act), other.getFuture()};
                result = isOr ? inputs[0] || inputs[1] : waitForAny(inputs);
                inputs.clear();
                Future<Void> watched = how == 2 ? Future<Void>(Void()) : result;
                go.send(Void());
                CHECK(watched.canGet());
                result = watched = Future<Void>();
                CHECK(other.getFutureReferenceCount() == 0);
            }
            CHECK(blocks.leaked() == 0);
        }
}

TEST_CASE("quorum: the destructor of a value that is not the last one decides the quorum") {
    for (bool error : {false, true}) {
        Promise<Void> go;
        Promise<int> other;
        auto act = [&] { error ? other.sendError(timed_out()) : other.send(1); };
        Future<Void> both = dyingValue(go.getFuture(), act) && other.getFuture();
        go.send(Void());
        CHECK(both.isReady());
        CHECK(both.isError() == error);
    }
}

TEST_CASE("quorum: inputs that are ready are neither held nor waited for") {
    std::vector<Future<int>> inputs(1000, Future<int>(1));
    std::uint64_t bytesBefore = liveBytes();
    Future<Void> all = waitForAll(inputs);
    CHECK(all.canGet());
    CHECK(inputs[0].cell()->futures == 1000);
    Promise<int> last;
    inputs.push_back(last.getFuture());
    Future<Void> waiting = waitForAll(inputs);
    CHECK_FALSE(waiting.isReady());
    CHECK(inputs[0].cell()->futures == 1000);
    CHECK(liveBytes() - bytesBefore < 1000); // of branches there is one
    last.send(1);
    CHECK(waiting.canGet());
}

TEST_CASE("quorum: the first error in order counts among inputs that are ready, unless enough came before it") {
    std::vector<Future<int>> inputs{Never(), 1, timed_out(), io_error(), 2};
    CHECK(waitForAll(inputs).getError().code() == error_code_timed_out);
    CHECK(quorum(inputs, 2).getError().code() == error_code_timed_out);
    CHECK(quorum(inputs, 1).canGet());
    CHECK(waitForAllReady(std::vector<Future<int>>(inputs.begin() + 1, inputs.end())).canGet());
}

TEST_CASE("quorum: dropping a quorum of very many inputs is fast") {
    std::vector<Future<int>> inputs(200000, Future<int>(Never()));
    Future<Void> all = waitForAll(inputs);
    auto before = std::chrono::steady_clock::now();
    all = Future<Void>();
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(2));
    CHECK(inputs[0].cell()->futures == 200000);
}

TEST_CASE("waitForAllReady: waits for all, whatever they become") {
    Blocks blocks;
    {
        std::vector<Promise<int>> p(3);
        Future<Void> all = waitForAllReady(futuresOf(p));
        p[1].sendError(timed_out());
        p[0].send(1);
        CHECK_FALSE(all.isReady());
        p[2] = Promise<int>();
        CHECK(all.canGet());
        CHECK(waitForAllReady(std::vector<Future<int>>{1, timed_out()}).canGet());
        CHECK(waitForAllReady(std::vector<Future<int>>()).canGet());
        all = waitForAllReady(std::vector<Future<int>>{timed_out(), Never()});
        CHECK_FALSE(all.isReady());
        all.cancel();
        CHECK(all.getError() == actor_cancelled());
    }
    CHECK(blocks.leaked() == 0);
}
