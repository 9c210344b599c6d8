#include "net/testing/connection_pair.h"

#include "flow/core/error_or.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace connection_pair_test {
namespace {

template <class AnyLoop>
void on(Future<Void> (*test)()) {
    AnyLoop loop;
    Balance balance;
    loop.run(test());
}

Future<Void> halfClose() {
    ConnectionPair pair = connectionPair();
    Future<Void> echoing = echoOnce(std::exchange(pair.second, {}));
    std::string sent(1'000'000, 'x'); // more than the high water mark
    Future<std::string> answer = readAll(pair.first);
    Bytes bytes = StringRef(sent);
    co_await pair.first->write(bytes);
    CHECK(pair.first->queuedBytes() == 0);
    pair.first->shutdownWrite();
    pair.first->shutdownWrite();
    std::string received = co_await answer;
    CHECK(received == sent);
    co_await echoing;
}

Future<Void> waterMarks() {
    ConnectionPair pair = connectionPair();
    CHECK(pair.first->peerAddress() == pair.second->localAddress());
    CHECK(pair.second->peerAddress() == pair.first->localAddress());
    Bytes half = StringRef(std::string(Connection::kHighWater / 2 + 1, 'x'));
    CHECK(pair.first->write(half).isReady());
    Drain second = pair.first->write(half);
    CHECK(!second.isReady());
    Bytes some = co_await pair.second->read(10);
    CHECK(some.size() == 10);
    CHECK(pair.first->queuedBytes() == 2u * static_cast<std::size_t>(half.size()) - 10);
    (void)co_await pair.second->readExactly(static_cast<std::uint32_t>(2 * half.size() - 10));
    CHECK(second.isReady());
}

Future<Void> ends() {
    for (bool isRead : {true, false}) { // a close() loses no written bytes, but unread ones reset the other side
        ConnectionPair pair = connectionPair();
        Future<Bytes> waiting = keep(pair.second->read(1));
        co_await pair.second->write("from second"_sr);
        if (isRead)
            (void)co_await pair.first->readExactly(11);
        co_await pair.first->write("last"_sr);
        pair.first->close();
        Error own = co_await endOf(keep(pair.first->read()));
        CHECK(own == operation_obsolete());
        Error first = co_await endOf(waiting);
        CHECK(first == (isRead ? Error() : connection_reset()));
        if (isRead) {
            std::string rest = co_await readAll(pair.second);
            CHECK(rest == "ast");
        }
        Error late = co_await endOf(Future<Void>(pair.second->write("x"_sr)));
        CHECK(late == connection_reset());
    }
    ConnectionPair pair = connectionPair();
    co_await pair.first->write("lost"_sr);
    pair.first->abort();
    Error error = co_await endOf(keep(pair.second->read()));
    CHECK(error == connection_reset());

    ConnectionPair dropped = connectionPair();
    co_await dropped.first->write("kept"_sr);
    dropped.first = {};
    std::string all = co_await readAll(dropped.second);
    CHECK(all == "kept");
}

} // namespace

TEST_CASE("connection pair: bytes, half-close, water marks, closes and resets, on each loop") {
    for (auto test : {halfClose, waterMarks, ends}) {
        on<SimLoop>(test);
        on<RealLoop>(test);
    }
}

TEST_CASE("connection pair: outlives its loop") {
    ConnectionPair pair;
    Future<Bytes> waiting;
    {
        SimLoop loop;
        pair = connectionPair();
        waiting = keep(pair.first->read());
    }
    waiting = Future<Bytes>();
    pair = {};
}

} // namespace connection_pair_test
