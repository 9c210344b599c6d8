#include "flow/combine/all.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/sync/channel.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::test;

TEST_CASE("all: && and || and success, with futures, delays and Never") {
    SimLoop loop;
    Promise<int> p;
    Future<Void> both = p.getFuture() && delay(2);
    Future<Void> either = p.getFuture() || delay(1);
    Future<Void> done = success(p.getFuture());
    loop.run(either);
    CHECK(loop.now() == 1);
    p.send(3);
    CHECK(done.canGet());
    CHECK_FALSE(both.isReady());
    loop.run(both);
    CHECK(loop.now() == 2);
    CHECK((Never() || Future<int>(1)).canGet());
    CHECK_FALSE((Never() && Future<int>(1)).isReady());
    CHECK((Never() && Future<int>(timed_out())).getError() == timed_out());
    CHECK((yield() && Future<int>(1)).canGet());
    CHECK(success(Future<int>(timed_out())).getError() == timed_out());
    Future<Void> chain = Future<int>(1) && Future<Void>(Void()) && Future<std::string>(std::string("s"));
    CHECK(chain.canGet());
}

TEST_CASE("all: && of a future that has failed drops the other one at once; after a later error the other runs on") {
    for (bool first : {false, true}) {
        Promise<int> left, right;
        Future<Void> both =
            first ? Future<int>(io_error()) && right.getFuture() : left.getFuture() && Future<int>(io_error());
        CHECK(both.getError() == io_error());
        CHECK(left.getFutureReferenceCount() + right.getFutureReferenceCount() == 0);
    }
    Promise<int> left, right;
    Future<Void> both = left.getFuture() && right.getFuture();
    left.sendError(io_error());
    CHECK(both.getError() == io_error());
    CHECK(right.getFutureReferenceCount() == 1);
    both = Future<Void>();
    CHECK(right.getFutureReferenceCount() == 0);
    CHECK((Future<int>(io_error()) && Future<int>(timed_out())).getError() == io_error());
}

TEST_CASE("all: && and || take what becomes a Future<Void>") {
    SimLoop loop;
    Promise<Void> promise;
    Future<Void> future = promise.getFuture(), both = future && Void(), same = Void() && future, error = io_error();
    CHECK((future || Void()).canGet());
    CHECK((Void() || future).canGet());
    CHECK((Void() && Void()).canGet());
    CHECK_FALSE((Void() && Never()).isReady());
    CHECK((future && Error(timed_out())).getError() == timed_out());
    CHECK((delay(1) || Error(timed_out())).getError() == timed_out());
    CHECK((error || Void()).getError() == io_error());
    CHECK_FALSE((delay(1) && Void()).isReady());
    CHECK((!both.isReady() && !same.isReady()));
    promise.send(Void());
    CHECK((both.canGet() && same.canGet()));
}

TEST_CASE("all of a vector: the values in the order of the futures") {
    Balance balance;
    Promise<std::string> p, q;
    Future<std::vector<std::string>> both = all(std::vector<Future<std::string>>{p.getFuture(), q.getFuture()});
    q.send("q");
    CHECK_FALSE(both.isReady());
    p.send("p");
    CHECK((both.get() == std::vector<std::string>{"p", "q"}));
    CHECK(all(std::vector<Future<int>>()).get().empty());
    CHECK((all(std::vector<Future<int>>{1, 2}).get() == std::vector<int>{1, 2}));
}

TEST_CASE("all of a vector: a value that nobody else refers to is moved, and so is one that cannot be copied") {
    Balance balance;
    using Numbers = std::vector<std::unique_ptr<int>>;
    Numbers one;
    one.push_back(std::make_unique<int>(6));
    std::vector<Future<Numbers>> futures;
    futures.push_back(std::move(one));
    CHECK(*all(futures).get().at(0).at(0) == 6);
    std::vector<Future<std::shared_ptr<int>>> shared;
    shared.push_back(std::make_shared<int>(7));
    Future<std::shared_ptr<int>> kept = std::make_shared<int>(8);
    shared.push_back(kept);
    Future<std::vector<std::shared_ptr<int>>> both = all(std::move(shared));
    CHECK(both.get().at(0).use_count() == 1);
    CHECK(both.get().at(1) == kept.get());
}

TEST_CASE("all of a vector: the first error is the result; it, and a drop, release the futures") {
    Balance balance;
    Promise<int> p, q;
    Future<std::vector<int>> both = all(std::vector<Future<int>>{p.getFuture(), q.getFuture()});
    q.sendError(timed_out());
    CHECK(both.getError() == timed_out());
    CHECK(p.getFutureReferenceCount() == 0);
    both = all(std::vector<Future<int>>{p.getFuture()});
    CHECK(p.getFutureReferenceCount() > 0);
    both = Future<std::vector<int>>();
    CHECK(p.getFutureReferenceCount() == 0);
}

TEST_CASE("all of several kinds: a tuple of the values") {
    SimLoop loop;
    Balance balance;
    Promise<std::unique_ptr<int>> p;
    PromiseStream<int> numbers;
    Channel<int> channel(1);
    auto both = all(p.getFuture(), numbers.getFuture(), delay(1), channel.receive(), [] { return Future<int>(4); });
    static_assert(std::is_same_v<decltype(both)::Element, std::tuple<std::unique_ptr<int>, int, Void, int, int>>);
    p.send(std::make_unique<int>(1));
    numbers.send(2);
    numbers.send(20);
    CHECK(keep(channel.send(3)).isReady());
    loop.run();
    auto [one, two, nothing, three, four] = std::move(both).takeValue();
    CHECK(*one + two + three + four == 10);
    CHECK(numbers.getFuture().pop() == 20);
}

TEST_CASE("all of several kinds: after the first error nothing more begins, and nothing more is taken") {
    SimLoop loop;
    Balance balance;
    Channel<int> channel(1);
    CHECK(keep(channel.send(3)).isReady());
    bool called = false;
    CHECK(all(Future<int>(timed_out()), channel.receive(), [&] {
              called = true;
              return Future<int>(1);
          }).getError() == timed_out());
    CHECK_FALSE(called);
    CHECK(channel.size() == 1);
    Promise<int> p;
    Channel<int> empty(1);
    auto both = all(p.getFuture(), empty.receive());
    p.sendError(io_error());
    CHECK(both.getError() == io_error());
    CHECK(keep(empty.send(1)).isReady());
    loop.run();
    CHECK(empty.size() == 1);
}

namespace own { // what cannot be awaited is a program's own
struct Reader {};
int all(int number, Reader) {
    return number + 1;
}
int some(int number, Reader) {
    return number + 2;
}
int race(int number, Reader) {
    return number + 3;
}
} // namespace own

TEST_CASE("all, some and race take only what can be awaited: a program may have its own") {
    using own::all;
    using own::race;
    using own::some;
    own::Reader reader;
    CHECK(all(1, reader) + some(1, reader) + race(1, reader) == 9);
    CHECK(all(Future<int>(1), Future<int>(2)).isReady());
}

TEST_CASE("all: an invalid future names the caller") {
    SimLoop loop;
    Future<int> none;
    CHECK_NAMES_CALLER((void)all(none));
    CHECK_NAMES_CALLER((void)all(delay(1), none));
    CHECK_NAMES_CALLER((void)all(none, delay(1), delay(1)));
    CHECK_NAMES_CALLER((void)all(std::vector{none}));
}
