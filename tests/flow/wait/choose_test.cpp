#include "flow/core/callback.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/detail/choose.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::detail;

namespace {

/// A frame with a cell in front of it, as every style has, that counts how often it is resumed.
struct Frame {
    Cell* cell = newCell<Void>(sizeof(Waiter) + sizeof(int), 1, 1, Cell::kHasFrame);

    Frame() {
        *waiter() = {};
        waiter()->resume = [](Waiter* self) { ++*reinterpret_cast<int*>(self + 1); };
        *reinterpret_cast<int*>(waiter() + 1) = 0;
    }
    Frame(Frame const&) = delete;
    ~Frame() {
        cell->flags = Cell::kNever;
        releasePromise(cell);
        releaseFuture(cell);
    }

    Waiter* waiter() const { return cell->frame(); }
    int resumed() const { return *reinterpret_cast<int*>(cell->frame() + 1); }
};

Future<int> logged(std::vector<int>& log, int id, Future<int> future) {
    log.push_back(id);
    return future;
}

Future<int> refuse() {
    throw io_error();
}

/// Parked at N operands, of which the bits of `held` are held by others too, and the last may be a delay.
template <std::size_t N>
void letWin(std::size_t winner, unsigned held, bool hasDelay) {
    CAPTURE(N);
    CAPTURE(winner);
    CAPTURE(held);
    CAPTURE(hasDelay);
    test::Balance balance;
    SimLoop loop;
    Frame frame;
    std::vector<Promise<int>> promises(N);
    std::vector<Future<int>> others;
    for (std::size_t i = 0; i < N; ++i)
        if (held >> i & 1)
            others.push_back(promises[i].getFuture());
    Choose<N> choose;
    {
        auto evaluation = choose.evaluate(frame.waiter());
        for (std::size_t i = 0; i < N; ++i)
            REQUIRE_FALSE(choose.when(hasDelay && i == N - 1 ? pending<Void>(delay(1.0))
                                                             : pending<int>(promises[i].getFuture())));
        evaluation.done();
    }
    REQUIRE_FALSE(choose.decided());
    choose.park(frame.waiter());
    if (hasDelay && winner == N - 1)
        loop.run();
    else
        promises[winner].send(7);
    CHECK(frame.resumed() == 1);
    Pending wait = choose.result();
    for (std::size_t i = 0; i < N; ++i) {
        CHECK(choose.won(i) == (i == winner));
        if (i != winner) {
            CHECK(promises[i].getFutureReferenceCount() == static_cast<int>(held >> i & 1));
            promises[i].send(1);
        }
    }
    CHECK(frame.resumed() == 1);
    if (hasDelay && winner == N - 1)
        wait.drop();
    else
        CHECK(wait.takeValue<int>() == 7);
    loop.run();
    CHECK(loop.now() == (hasDelay && winner == N - 1 ? 1.0 : 0.0)); // no timer was left
}

template <std::size_t N>
void letEachWin() {
    for (std::size_t winner = 0; winner < N; ++winner)
        for (unsigned held = 0; held < 1u << N; ++held)
            for (bool hasDelay : {false, true})
                letWin<N>(winner, held, hasDelay);
}

} // namespace

TEST_CASE("choose: whichever wins, all others are released, also those that nothing else holds") {
    letEachWin<1>();
    letEachWin<2>();
    letEachWin<4>();
    letEachWin<5>(); // more than are released one by one inline
}

TEST_CASE("choose: the first ready operand wins, and later ones are not evaluated") {
    test::Balance balance;
    Frame frame;
    std::vector<int> evaluated;
    Promise<int> unset;
    Choose<3> choose;
    {
        auto evaluation = choose.evaluate(frame.waiter());
        (void)(choose.when(pending<int>(logged(evaluated, 0, unset.getFuture()))) ||
               choose.when(pending<int>(logged(evaluated, 1, 11))) ||
               choose.when(pending<int>(logged(evaluated, 2, 12))));
        evaluation.done();
    }
    CHECK(evaluated == std::vector<int>{0, 1});
    CHECK(choose.decided());
    Pending wait = choose.result();
    CHECK(choose.won(1));
    CHECK(wait.takeValue<int>() == 11);
    CHECK(unset.getFutureReferenceCount() == 0); // the loser was released
}

TEST_CASE("choose: parked at all operands, the first to come resumes the frame once") {
    test::Balance balance;
    Frame frame;
    Promise<int> a, b;
    PromiseStream<int> stream;
    FutureStream<int> reader = stream.getFuture();
    Choose<3> choose;
    {
        auto evaluation = choose.evaluate(frame.waiter());
        (void)(choose.when(pending<int>(a.getFuture())) || choose.when(pendingNext<int>(reader)) ||
               choose.when(pending<int>(b.getFuture())));
        evaluation.done();
    }
    REQUIRE_FALSE(choose.decided());
    choose.park(frame.waiter());
    b.send(5);
    CHECK(frame.resumed() == 1);
    stream.send(1); // unlinked before the frame went on: the losers cannot wake it
    a.send(4);
    CHECK(frame.resumed() == 1);
    Pending wait = choose.result();
    CHECK(choose.won(2));
    CHECK(wait.takeValue<int>() == 5);
    CHECK(reader.pop() == 1); // the stream lost nothing
}

TEST_CASE("choose: an operand that completes an earlier one decides for the earlier") {
    test::Balance balance;
    Frame frame;
    Promise<int> early, late;
    Choose<2> choose;
    {
        auto evaluation = choose.evaluate(frame.waiter());
        (void)(choose.when(pending<int>(early.getFuture())) ||
               choose.when(pending<int>((early.send(1), late.getFuture()))));
        evaluation.done();
    }
    CHECK(choose.decided());
    Pending wait = choose.result();
    CHECK(choose.won(0));
    CHECK(wait.takeValue<int>() == 1);
}

TEST_CASE("choose: an operand that throws leaves nothing behind, delays included") {
    test::Balance balance;
    SimLoop loop;
    Frame frame;
    Promise<int> unset;
    Choose<3> choose;
    auto evaluate = [&] {
        auto evaluation = choose.evaluate(frame.waiter());
        (void)(choose.when(pending<Void>(delay(1.0))) || choose.when(pending<int>(unset.getFuture())) ||
               choose.when(pending<int>(refuse())));
        evaluation.done();
    };
    CHECK_THROWS_AS(evaluate(), Error);
    CHECK(unset.getFutureReferenceCount() == 0);
    loop.run();
    CHECK(frame.resumed() == 0);
    CHECK(loop.now() == 0); // no timer was left
}

TEST_CASE("choose: cancelling the frame releases all operands and raises") {
    test::Balance balance;
    SimLoop loop;
    Frame frame;
    Promise<int> a;
    Choose<2> choose;
    {
        auto evaluation = choose.evaluate(frame.waiter());
        (void)(choose.when(pending<int>(a.getFuture())) || choose.when(pending<Void>(delay(1.0))));
        evaluation.done();
    }
    REQUIRE_FALSE(choose.decided());
    choose.park(frame.waiter());
    cancel(frame.cell);
    CHECK(frame.resumed() == 1);
    CHECK(a.getFutureReferenceCount() == 0);
    Pending wait = choose.result();
    CHECK(wait.failed());
    CHECK(wait.takeError().code() == error_code_actor_cancelled);
}

TEST_CASE("choose: the winner's result may be taken before the losers are released") {
    test::Balance balance;
    for (bool isCancelled : {false, true}) {
        Frame frame;
        Promise<int> a, b;
        Choose<2> choose;
        {
            auto evaluation = choose.evaluate(frame.waiter());
            (void)(choose.when(pending<int>(a.getFuture())) || choose.when(pending<int>(b.getFuture())));
            evaluation.done();
        }
        REQUIRE_FALSE(choose.decided());
        choose.park(frame.waiter());
        if (isCancelled)
            cancel(frame.cell);
        else
            b.send(3);
        Pending resumed = Pending::resumed(frame.waiter());
        choose.releaseLosers();
        CHECK(a.getFutureReferenceCount() == 0);
        if (isCancelled)
            CHECK(resumed.takeError().code() == error_code_actor_cancelled);
        else
            CHECK(resumed.takeValue<int>() == 3);
    }
}

TEST_CASE("choose: in a cancelled frame the first operand is evaluated, then it raises") {
    test::Balance balance;
    Frame frame;
    frame.cell->flags |= Cell::kCancelled;
    std::vector<int> evaluated;
    Choose<2> choose;
    {
        auto evaluation = choose.evaluate(frame.waiter());
        (void)(choose.when(pending<int>(logged(evaluated, 0, 1))) ||
               choose.when(pending<int>(logged(evaluated, 1, 2))));
        evaluation.done();
    }
    CHECK(evaluated == std::vector<int>{0});
    CHECK(choose.decided());
    CHECK(choose.result().takeError().code() == error_code_actor_cancelled);
}

TEST_CASE("choose: a stream that another begins to wait for before the frame parks has two readers") {
    struct Reader final : SingleCallback<int> {};
    auto park = [](auto&& operandBehind) {
        Frame frame;
        PromiseStream<int> stream;
        Choose<2> choose;
        {
            auto evaluation = choose.evaluate(frame.waiter());
            (void)(choose.when(pendingNext<int>(stream.getFuture())) || choose.when(operandBehind(stream)));
            evaluation.done();
        }
        (void)choose.decided();
        stream.send(1);
    };
    Reader reader;
    CHECK_DIES(park([](auto& stream) { return pendingNext<int>(stream.getFuture()); }), "two readers wait");
    CHECK_DIES(park([&](auto& stream) {
                   stream.getFuture().addCallbackAndClear(&reader);
                   return pending<int>(Never());
               }),
               "two readers wait");
}
