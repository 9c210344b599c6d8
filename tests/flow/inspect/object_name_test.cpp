#include "flow/inspect/object_name.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sync/channel.h"
#include "flow/sync/semaphore.h"
#include "tests/flow/support/pending_text.h"

#include <doctest/doctest.h>

#include <memory>

using namespace flow;

namespace {

struct Shop {
    Mutex lock;
    Channel<int> orders{1};
    ObjectName lockName{lock, "lock"};
};

Future<Void> namedLocks(Shop* shop) {
    Mutex::Lock mine = co_await shop->lock.lock();
    co_await shop->orders.receive();
}
Future<Void> namedTwice(Mutex* other) {
    Mutex::Lock mine = co_await other->lock();
    co_await other->lock();
}

} // namespace

TEST_CASE("object name: reports show the name of the smallest object") {
    RealLoop loop;
    Shop shop;
    Future<Void> holds = namedLocks(&shop), waits = namedLocks(&shop);
    std::string text = test::pendingText();
    INFO(text);
    CHECK(test::has(text, "waits for a Mutex \"lock\", held by coroutine namedLocks\n"));
    CHECK(test::has(text, "waits for Channel<int>::Receive\n"));
    ObjectName shopName(shop, "shop");
    text = test::pendingText();
    CHECK(test::has(text, "waits for a Mutex \"lock\", held by"));
    CHECK(test::has(text, "waits for Channel<int>::Receive \"shop\"\n"));
}

TEST_CASE("object name: ends with its ObjectName") {
    RealLoop loop;
    Mutex mutex;
    auto name = std::make_unique<ObjectName>(mutex, "mutex");
    Future<Void> waits = namedTwice(&mutex);
    CHECK(ObjectName::at(&mutex) == "mutex");
    CHECK(test::has(test::pendingText(), "waits for a Mutex \"mutex\", held by"));
    name.reset();
    CHECK(ObjectName::at(&mutex).empty());
    CHECK(test::has(test::pendingText(), "waits for a Mutex, held by"));
}

TEST_CASE("object name: of a loop, in the report of all loops") {
    RealLoop loop;
    ObjectName name(loop, "front");
    CHECK(test::has(test::pendingText({.allLoops = true}), "(front): "));
}

TEST_CASE("pending: a number tells the instances of an actor apart, and stays the same") {
    RealLoop loop;
    Shop shop;
    Future<Void> first = namedLocks(&shop), second = namedLocks(&shop);
    auto numbers = [] {
        std::string text, found;
        dumpPending(text);
        for (std::size_t at = 0; (at = text.find("namedLocks#", at)) != std::string::npos; ++at)
            found += text.substr(at, text.find(' ', at) - at) + " ";
        return found;
    };
    std::string before = numbers();
    INFO(before);
    CHECK(test::count(before, "namedLocks#") == 3); // two lines, one of them with the holder of the lock
    Future<Void> third = namedLocks(&shop);
    CHECK(test::has(numbers(), before.substr(0, before.find(' '))));
    third = Future<Void>();
    CHECK(numbers() == before);
    second = Future<Void>();
    CHECK(numbers().empty()); // there is one
}
