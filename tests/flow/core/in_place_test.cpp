#include "flow/core/in_place.h"

#include "flow/combine/race.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "flow/wait/source.h"
#include "tests/flow/support/balance.h"

#include <deque>
#include <doctest/doctest.h>
#include <memory>
#include <vector>

using namespace flow;

namespace {

/// Numbers that several may wait for; what was put in is taken once, in order.
class Mailbox {
public:
    struct Take {
        using Result = int;
        Mailbox* mailbox;
        bool isReady() const { return !mailbox->items_.empty() || mailbox->error_.isValid(); }
        void park(WaiterNode& waiter) { mailbox->source_.park(waiter, *this); }
        int take() const {
            REQUIRE(isReady());
            if (mailbox->items_.empty())
                throw mailbox->error_;
            int item = mailbox->items_.front();
            mailbox->items_.pop_front();
            return item;
        }
    };
    Take take() { return {this}; }
    void put(int item) {
        items_.push_back(item);
        source_.wakeInTurn();
    }
    void putNow(int item) {
        items_.push_back(item);
        if (source_.isWaitedFor())
            source_.wakeFirst();
    }
    void end(Error error) {
        error_ = error;
        source_.wakeInTurn();
    }
    void failAll(Error error) { source_.failAll(error); }
    bool isWaitedFor() const { return source_.isWaitedFor(); }
    std::size_t size() const { return items_.size(); }

private:
    std::deque<int> items_;
    Error error_;
    Source<Take> source_;
};

Future<int> takeOne(Mailbox& box) {
    co_return co_await box.take();
}
Future<int> takeOne(Mailbox& box, Propagate) {
    co_return co_await box.take();
}
Future<int> takeTwo(Mailbox& box) {
    int first = co_await box.take();
    co_return first * 100 + co_await box.take();
}
/// Which one came first, and what it gave.
Future<int> raceWith(Mailbox& box, Future<int> other) {
    auto first = co_await race(box.take(), std::move(other));
    co_return first.index() == 0 ? std::get<0>(first) : 1000 + std::get<1>(first);
}
Future<int> raceBehind(Future<int> other, Mailbox& box, Propagate) {
    auto first = co_await race(std::move(other), box.take());
    co_return first.index() == 1 ? std::get<1>(first) : 1000 + std::get<0>(first);
}
Future<int> raceLazily(Mailbox& box, Future<int> other) {
    auto first = co_await race([&] { return box.take(); }, [&] { return other; });
    co_return first.index() == 0 ? std::get<0>(first) : 1000 + std::get<1>(first);
}
Future<int> raceMailboxes(Mailbox& a, Mailbox& b) {
    auto first = co_await race(a.take(), b.take(), delay(1.0));
    co_return first.index() == 0 ? std::get<0>(first) : first.index() == 1 ? 100 + std::get<1>(first) : -1;
}

} // namespace

TEST_CASE("in place: a ready one is taken at once, another one when its source has something") {
    test::Balance balance;
    SimLoop loop;
    Mailbox box;
    box.put(7);
    Future<int> ready = takeOne(box);
    CHECK(ready.get() == 7);
    Future<int> waiting = takeTwo(box);
    CHECK(box.isWaitedFor());
    box.put(1);
    box.put(2);
    CHECK(!waiting.isReady()); // in a turn of its own
    CHECK(loop.run(waiting) == 102);
    CHECK(!box.isWaitedFor());
}

TEST_CASE("in place: waiters are served in order, one a turn") {
    test::Balance balance;
    SimLoop loop;
    Mailbox box;
    std::vector<Future<int>> futures;
    for (int i = 0; i < 5; ++i)
        futures.push_back(i % 2 ? takeOne(box, {}) : keep(box.take()));
    for (int i = 0; i < 5; ++i)
        box.put(i);
    loop.run();
    for (int i = 0; i < 5; ++i)
        CHECK(futures[static_cast<std::size_t>(i)].get() == i);
}

TEST_CASE("in place: what is cancelled while it waits, or before its turn, takes nothing") {
    test::Balance balance;
    SimLoop loop;
    Mailbox box;
    Future<int> first = takeOne(box);
    Future<int> second = takeOne(box, {});
    Future<int> third = keep(box.take());
    Future<int> fourth = takeOne(box);
    second = {};
    box.put(1);
    first = {};
    third = {};
    loop.run();
    CHECK(fourth.get() == 1);
    CHECK(box.size() == 0);
    fourth = takeOne(box);
    box.put(2);
    fourth.cancel();
    loop.run();
    CHECK(fourth.isError());
    CHECK(box.size() == 1);
    CHECK(!box.isWaitedFor());
}

TEST_CASE("in place: a loser of a race has taken nothing") {
    test::Balance balance;
    SimLoop loop;
    Mailbox box;
    box.put(1);
    CHECK(loop.run(raceBehind(5, box, {})) == 1005);
    CHECK(box.size() == 1);
    CHECK(loop.run(raceWith(box, 5)) == 1);
    for (bool lazily : {false, true}) {
        CAPTURE(lazily);
        Promise<int> other;
        auto begin = [&] { return lazily ? raceLazily(box, other.getFuture()) : raceWith(box, other.getFuture()); };
        Future<int> result = begin();
        CHECK(box.isWaitedFor());
        box.put(3); // the source's turn is to come when the other wins
        other.send(4);
        CHECK(result.get() == 1004);
        CHECK(!box.isWaitedFor());
        loop.run();
        CHECK(box.size() == 1);
        CHECK(loop.run(begin()) == (3));
        other = {};
        result = begin();
        box.putNow(8);
        CHECK(result.get() == 8);
        other = {};
        result = begin();
        result.cancel();
        CHECK(!box.isWaitedFor());
    }
    Mailbox second;
    Future<int> both = raceMailboxes(box, second);
    second.put(6);
    box.put(9);
    CHECK(loop.run(both) == 106);
    CHECK(box.size() == 1);
    CHECK(loop.run(raceMailboxes(second, second)) == -1);
}

TEST_CASE("in place: errors come through take(), or from a source that fails all") {
    test::Balance balance;
    SimLoop loop;
    auto box = std::make_unique<Mailbox>();
    Future<int> plain = takeOne(*box);
    Future<int> propagating = takeOne(*box, {});
    Future<int> kept = keep(box->take());
    Future<int> raced = raceWith(*box, Never());
    Future<int> racedPropagating = raceBehind(Never(), *box, {});
    Future<int> lazily = raceLazily(*box, Never());
    SUBCASE("take") {
        box->end(end_of_stream());
        loop.run();
        CHECK(plain.getError().code() == error_code_end_of_stream);
        CHECK(keep(box->take()).getError().code() == error_code_end_of_stream);
    }
    SUBCASE("failAll") {
        box->failAll(end_of_stream());
    }
    SUBCASE("the source goes") {
        box = nullptr;
    }
    int expected = box ? error_code_end_of_stream : error_code_broken_promise;
    for (Future<int> const& each : {plain, propagating, kept, raced, racedPropagating, lazily}) {
        REQUIRE(each.isError());
        CHECK(each.getError().code() == expected);
    }
}

TEST_CASE("in place: a waiter may destroy its source") {
    test::Balance balance;
    SimLoop loop;
    auto box = std::make_unique<Mailbox>();
    auto destroy = [](std::unique_ptr<Mailbox>& owned) -> Future<int> {
        int item = co_await owned->take();
        owned = nullptr;
        co_return item;
    };
    Future<int> first = destroy(box);
    Future<int> second = takeOne(*box);
    box->put(1);
    box->put(2);
    loop.run();
    CHECK(first.get() == 1);
    CHECK(second.getError().code() == error_code_broken_promise);
}
