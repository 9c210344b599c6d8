#include "net/testing/scripted_peer.h"

#include "flow/combine/all.h"
#include "flow/core/error_or.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "net/testing/connection_pair.h"
#include "tests/flow/support/balance.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace scripted_peer_test {
namespace {

Future<Void> client(Reference<Connection> connection) {
    co_await connection->write("GET "_sr);
    co_await delay(1);
    co_await connection->write("/\r\nPUT"_sr);
    Bytes answer = co_await connection->readUntil("\n"_sr, 100);
    CHECK(answer == "200\r\n"_sr);
    CHECK(now() == 3);
    connection->shutdownWrite();
    std::string rest = co_await readAll(connection);
    CHECK(rest == "bye");
}

/// Returns the error of a peer to which a client has sent `bytes`, and then `end`.
Error played(std::function<void(ScriptedPeer&)> script, std::string bytes, std::function<void(Connection&)> end) {
    Error error;
    SimLoop loop;
    Balance balance;
    auto test = [](auto* add, std::string* sent, auto* last, Error* result) -> Future<Void> {
        ConnectionPair pair = connectionPair();
        ScriptedPeer peer(pair.second);
        (*add)(peer);
        co_await pair.first->write(StringRef(*sent));
        (*last)(*pair.first);
        *result = co_await endOf(peer.run());
        if (*result == test_failed()) {
            Error failed = co_await endOf(keep(pair.first->readExactly(1)));
            CHECK((failed == connection_reset() || failed == operation_obsolete()));
        }
    };
    loop.run(test(&script, &bytes, &end, &error));
    return error;
}

std::string sentence(std::function<void(ScriptedPeer&)> script, std::string bytes) {
    Error error = played(script, std::move(bytes), [](Connection& connection) { connection.shutdownWrite(); });
    CHECK(error == test_failed());
    return error.what();
}

} // namespace

TEST_CASE("scripted peer: plays its steps, and leaves what it does not expect yet") {
    SimLoop loop;
    Balance balance;
    auto test = []() -> Future<Void> {
        ConnectionPair pair = connectionPair();
        ScriptedPeer peer(pair.second);
        peer.expect("GET /\r\n").expect("P").expect("").send("200").wait(2).send("\r\n");
        Future<Void> playing = peer.run();
        Future<Void> asking = client(pair.first);
        co_await playing;
        peer.expect("UT").expectEnd().send("bye").end();
        co_await all(peer.run(), asking);
    };
    loop.run(test());
}

TEST_CASE("scripted peer: resets, and may end before its run") {
    SimLoop loop;
    Balance balance;
    auto test = []() -> Future<Void> {
        ConnectionPair pair = connectionPair();
        Future<Void> playing = ScriptedPeer(std::exchange(pair.second, {})).wait(1).reset().run();
        Error error = co_await endOf(keep(pair.first->read()));
        CHECK(error == connection_reset());
        CHECK(now() == 1);
        co_await playing;
    };
    loop.run(test());
}

TEST_CASE("scripted peer: after a reset, it sends and expects no more") {
    auto nothing = [](Connection&) {};
    auto after = [&](std::function<void(ScriptedPeer&)> script) {
        return played([&](ScriptedPeer& peer) { script(peer.reset()); }, "x", nothing);
    };
    CHECK(after([](ScriptedPeer& peer) { peer.send("x"); }) == operation_obsolete());
    for (bool isEnd : {false, true}) {
        Error error = after([isEnd](ScriptedPeer& peer) { isEnd ? peer.expectEnd() : peer.expect("x"); });
        CHECK(error == test_failed());
        CHECK(std::string(error.what()).find("received \"\", and then: ") != std::string::npos);
    }
    CHECK(!after([](ScriptedPeer& peer) { peer.wait(1).end().reset(); }).isValid());
}

TEST_CASE("scripted peer: a sentence for each mismatch") {
    int line = __LINE__ + 1;
    std::string text = sentence([](ScriptedPeer& peer) { peer.expect("GET /\r\n"); }, "GET /x y");
    CHECK(text == "ScriptedPeer, step 1 (scripted_peer_test.cpp:" + std::to_string(line) +
                      "): expected \"GET /\\x0d\\x0a\", received \"GET /x y\"");
    text = sentence([](ScriptedPeer& peer) { peer.expect("a").expect("bcd"); }, "abc");
    CHECK(text.ends_with("): expected \"bcd\", received \"bc\", and then: the end"));
    CHECK(text.starts_with("ScriptedPeer, step 2 ("));
    text = sentence([](ScriptedPeer& peer) { peer.expectEnd(); }, "more");
    CHECK(text.ends_with("): expected the end, received \"more\""));
    std::string many(1000, 'm');
    text = sentence([&](ScriptedPeer& peer) { peer.expect(many + "!" + many); }, many + "?" + many);
    std::string alike(16, 'm');
    CHECK(text.find("), from byte 984: expected \"" + alike + "!mmm") != std::string::npos);
    CHECK(text.find("m...\", received \"" + alike + "?mmm") != std::string::npos);
    std::string binary(1000, '\xff'); // the longest texts are not cut off
    text = sentence([&](ScriptedPeer& peer) { peer.expect(std::string(1000, '\xfe')); }, binary);
    CHECK(text.ends_with("\\xff\\xff...\""));

    auto isReset = [](Connection& connection) { connection.abort(); };
    Error error = played([](ScriptedPeer& peer) { peer.expect("abcd"); }, "ab", isReset);
    CHECK(error == test_failed());
    text = error.what();
    INFO(text);
    CHECK(text.find("received \"\", and then: ") != std::string::npos);
    CHECK(text.ends_with("the other side has reset the connection"));
    error = played([](ScriptedPeer& peer) { peer.send("x"); }, "ab", isReset);
    CHECK(error == connection_reset());
}

TEST_CASE("scripted peer: a cancelled step takes nothing") {
    SimLoop loop;
    Balance balance;
    auto test = []() -> Future<Void> {
        ConnectionPair pair = connectionPair();
        Future<Void> playing = ScriptedPeer(pair.second).expect("abc").run();
        co_await delay(1);
        playing.cancel();
        CHECK(playing.getError() == actor_cancelled());
        co_await pair.first->write("abc"_sr);
        Bytes all = co_await pair.second->read();
        CHECK(all == "abc"_sr);
    };
    loop.run(test());
}

} // namespace scripted_peer_test
