// What a peer of a message socket costs for each byte that it sends, in memory and in bytes that are moved.

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/standalone.h"
#include "flow/wait/delay.h"
#include "net/message/detail/input.h"
#include "net/message/detail/topic_set.h"
#include "net/message/message_socket.h"
#include "tests/net/costs.h"
#include "tests/net/message/fake_connection.h"
#include "tests/net/message/on_loop.h"
#include "tests/net/message/raw_peer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace flow;
using namespace flow::net;
using namespace flow::test;
using Found = Input::Found;

namespace {

constexpr std::int64_t kFixed = 128 * 1024; // bytes of memory that a peer may cost in any case

/// Reads all that comes, a piece at a time, and takes each message at once. `look` runs after each piece.
template <class Look>
void receive(Input& input, std::string const& bytes, Look look) {
    FakeConnection connection;
    for (std::size_t at = 0; at < bytes.size();) {
        connection.incoming = bytes.substr(at, 16 * 1024);
        at += connection.incoming.size();
        for (;;) {
            Found found = input.find({});
            if (found == Found::Fault)
                FAIL("a fault");
            if (found == Found::Message)
                (void)input.take();
            if (found == Found::Nothing && input.read(connection) != Input::Read::Some)
                break;
        }
        look(at);
    }
}

std::string part(std::size_t bytes, bool hasMore) {
    std::string frame;
    zmtp::appendFrame(frame, std::string(bytes, 'x'), {.more = hasMore});
    return frame;
}

/// A long part, as many bytes of PINGs, and the rest of the message.
std::string withPings(std::size_t bytes) {
    std::string all = part(bytes, true), one;
    zmtp::appendCommand(one, "PING", std::string(2, '\0'));
    for (std::size_t pings = bytes / one.size(); pings > 0; --pings)
        all += one;
    return all + part(1, false);
}

} // namespace

TEST_CASE("message costs: bytes are moved a few times at most, whatever lies between the parts of a message") {
    RealLoop loop;
    auto moved = [](std::string const& bytes) {
        Input input;
        return movedBytes([&] { receive(input, bytes, [](std::size_t) {}); });
    };
    auto manyParts = [](std::size_t bytes, std::size_t each) {
        std::string all;
        while (all.size() < bytes)
            all += part(each, true);
        return all + part(1, false);
    };
    constexpr std::size_t kBytes = 1 << 20;
    std::size_t one = moved(withPings(kBytes)), two = moved(withPings(2 * kBytes));
    CHECK(one <= 3 * 2 * kBytes);
    CHECK(two <= 2.2 * static_cast<double>(one));
    CHECK(moved(manyParts(kBytes, 1100)) <= 3 * kBytes);
    CHECK(moved(manyParts(kBytes, 60'000)) <= 3 * kBytes);
}

TEST_CASE("message costs: a message that comes needs at most five times the memory of what has come, and one slab") {
    RealLoop loop;
    constexpr std::int64_t kOneSlab = 512 * 1024; // the free list of this thread may have one, or not
    std::string announced = part(0, false);
    announced = std::string("\2\0\0\0\0\x3F\xFF\xFF\xFF", 9); // 1 GiB
    std::string cut[] = {part(2'000'000, false), part(70'000, true) + part(900'000, false), announced,
                         withPings(300'000)};
    for (std::string const& bytes : cut) {
        Input input;
        std::int64_t before = usedBytes();
        receive(input, bytes, [&](std::size_t come) {
            CHECK(usedBytes() - before <= 5 * static_cast<std::int64_t>(come) + kFixed + kOneSlab);
        });
    }
}

TEST_CASE("message costs: unread messages of connections that have ended") {
    runOnLoop([]() -> Future<Void> {
        constexpr std::uint64_t kConnections = 200;
        MessageSocket pull(SocketType::Pull);
        std::string endpoint = pull.bind(kAnywhere);
        std::int64_t before = usedBytes();
        for (std::uint64_t i = 1; i <= kConnections; ++i) {
            Reference<Connection> peer = co_await connectRaw(endpoint, "PUSH");
            co_await sendRaw(peer, "hello");
            peer->shutdownWrite();
            while (pull.counters().disconnected < i)
                co_await delay(0.001);
        }
        CHECK(usedBytes() - before <= static_cast<std::int64_t>(kConnections) * 4096 + kFixed);
        for (std::uint64_t i = 0; i < kConnections; ++i)
            CHECK((co_await pull.receive())[0] == "hello");
    });
}

TEST_CASE("message costs: many subscriptions") {
    runOnLoop([]() -> Future<Void> {
        MessageSocket pub(SocketType::Pub);
        Reference<Connection> peer = co_await connectRaw(pub.bind(kAnywhere), "SUB");
        std::string all;
        for (std::uint32_t number = 0; all.size() < 300'000; ++number) {
            std::string topic("\1");
            zmtp::appendBigEndian(topic, number, 3);
            zmtp::appendFrame(all, topic, {});
        }
        std::int64_t before = usedBytes();
        std::uint64_t read = pub.counters().calls.bytesRead + all.size();
        co_await peer->write(StringRef(all));
        while (pub.counters().calls.bytesRead < read)
            co_await delay(0.001);
        CHECK(usedBytes() - before <= 8 * static_cast<std::int64_t>(all.size()) + kFixed);
        (void)peer->write(StringRef(part(1, false))); // it is still connected
        CHECK(pub.counters().connected == 1);
        CHECK(pub.counters().disconnected == 0);
    });
}

TEST_CASE("message costs: topics are copied a few times at most, in whichever order they come and go") {
    auto copied = [](std::uint32_t count) {
        TopicSet topics;
        std::size_t bytes = 0, held = 0;
        auto look = [&] { // what it holds changes when it copies all
            if (topics.heldBytes() != held)
                bytes += held = topics.heldBytes();
        };
        for (std::uint32_t i = 0; i < count; ++i, look())
            topics.add(std::to_string(i * 7919 % count));
        for (std::uint32_t i = 0; i < count; ++i, look())
            topics.remove(std::to_string(i));
        return bytes;
    };
    CHECK(copied(5000) <= 300 * 5000);
    CHECK(copied(50'000) <= 300 * 50'000);
}

TEST_CASE("message costs: the answers to a requester that does not read are dropped, and others are served") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions options;
        options.sndBuf = 16 * 1024;
        options.sndHwmBytes = 100'000;
        MessageSocket rep(SocketType::Rep, options);
        std::string endpoint = rep.bind(kAnywhere);
        auto answering = [](MessageSocket* rep) -> Future<Void> {
            for (;;) {
                Message question = co_await rep->receive();
                co_await rep->send(question);
            }
        }(&rep);
        Reference<Connection> deaf = co_await connectRaw(endpoint, "REQ");
        std::string question = part(0, true) + part(10'000, false);
        std::int64_t before = usedBytes();
        for (int i = 0; i < 1000; ++i)
            co_await deaf->write(StringRef(question));
        CHECK(rep.counters().dropped > 0);
        CHECK(usedBytes() - before <= 8 * kFixed);
        MessageSocket req(SocketType::Req);
        req.connect(endpoint);
        co_await req.send("still here?");
        CHECK((co_await req.receive())[0] == "still here?");
    });
}

TEST_CASE("message costs: with trySend() a ROUTER goes on although a peer does not read") {
    runOnLoop([]() -> Future<Void> {
        MessageOptions options;
        options.sndBuf = 16 * 1024;
        options.sndHwmBytes = 100'000;
        MessageSocket router(SocketType::Router, options);
        std::string endpoint = router.bind(kAnywhere);
        auto answering = [](MessageSocket* router) -> Future<Void> { // as in the header
            for (;;) {
                Message request = co_await router->receive();
                router->trySend(request);
            }
        }(&router);
        Reference<Connection> deaf = co_await connectRaw(endpoint, "DEALER", "deaf");
        std::string request = part(10'000, false);
        std::int64_t before = usedBytes();
        for (int i = 0; i < 1000; ++i)
            co_await deaf->write(StringRef(request));
        CHECK(usedBytes() - before <= 8 * kFixed);
        MessageSocket dealer(SocketType::Dealer);
        dealer.connect(endpoint);
        co_await dealer.send("still here?");
        CHECK((co_await dealer.receive())[0] == "still here?");
    });
}
