#include "net/message/curve.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "net/message/z85.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::net;

namespace {

MessageOptions serverOf(CurveKeys const& keys) {
    MessageOptions options;
    options.curveServer = true;
    options.curveSecretKey = keys.secretKey;
    return options;
}
MessageOptions clientOf(CurveKeys const& server, CurveKeys const& keys) {
    MessageOptions options;
    options.curveServerKey = server.publicKey;
    options.curveSecretKey = keys.secretKey;
    options.reconnectIvl = 0.01;
    return options;
}

} // namespace

TEST_CASE("curve: keys") {
    if (!hasCurve())
        return;
    CurveKeys keys = makeCurveKeys();
    CHECK(z85Encode(curvePublicKey(*z85Key(keys.secretKey))) == keys.publicKey);
    MessageOptions options = serverOf(keys);
    options.curveSecretKey = "short";
    CHECK_THROWS_AS(MessageSocket(SocketType::Rep, options), Error);
    options.curveSecretKey.clear();
    CHECK_THROWS_AS(MessageSocket(SocketType::Rep, options), Error);
}

TEST_CASE("curve: messages pass in both directions, whichever side binds, and only for authenticated peers") {
    if (!hasCurve())
        return;
    RealLoop loop;
    auto test = []() -> Future<Void> {
        CurveKeys server = makeCurveKeys(), ann = makeCurveKeys(), bob = makeCurveKeys();
        MessageOptions options = serverOf(server);
        int asked = 0;
        options.authenticator = [&](Credentials given) -> Future<bool> {
            CHECK(given.mechanism == "CURVE");
            ++asked;
            co_await delay(0.01);
            co_return given.user == ann.publicKey;
        };
        MessageSocket router(SocketType::Router, options);
        std::string endpoint = router.bind("tcp://127.0.0.1:*");
        MessageSocket friendly(SocketType::Dealer, clientOf(server, ann)),
            other(SocketType::Dealer, clientOf(server, bob));
        other.connect(endpoint);
        co_await other.send("never");
        friendly.connect(endpoint);
        static constexpr int kSizes[] = {0, 1, 300, 70'000, 1'000'000}; // gcc 12 does not keep a braced list
        for (int size : kSizes) {
            Message message(std::string(static_cast<std::size_t>(size), 'x'));
            message.add("").add("end");
            std::string wire(message.wire());
            co_await friendly.send(message);
            Message request = co_await router.receive();
            CHECK(request.wire() == wire);
            co_await router.send(request);
            Message answer = co_await friendly.receive();
            CHECK(answer.wire() == wire);
        }
        while (router.counters().refused == 0)
            co_await delay(0.001);
        CHECK(router.counters().lastFault == zmtp::Fault::BadCredentials);
        CHECK(router.peers() == 1);
        CHECK(asked >= 2);
        CHECK(router.counters().received == 5);
    };
    loop.run(test());
}

TEST_CASE("curve: a client with another server's key is refused, and one that uses NULL") {
    if (!hasCurve())
        return;
    RealLoop loop;
    auto test = []() -> Future<Void> {
        CurveKeys server = makeCurveKeys(), keys = makeCurveKeys();
        MessageSocket pull(SocketType::Pull, serverOf(server));
        std::string endpoint = pull.bind("tcp://127.0.0.1:*");
        MessageSocket wrong(SocketType::Push, clientOf(keys, keys)), plain(SocketType::Push);
        wrong.connect(endpoint);
        while (pull.counters().lastFault != zmtp::Fault::BadEncryption)
            co_await delay(0.001);
        plain.connect(endpoint);
        while (pull.counters().lastFault != zmtp::Fault::MechanismMismatch)
            co_await delay(0.001);
        CHECK(pull.peers() == 0);
    };
    loop.run(test());
}

TEST_CASE("curve: the mark in bytes counts decrypted messages") {
    if (!hasCurve())
        return;
    RealLoop loop;
    auto test = []() -> Future<Void> {
        CurveKeys server = makeCurveKeys(), client = makeCurveKeys();
        MessageOptions sending = clientOf(server, client);
        sending.sndHwmBytes = 1'000'000;
        MessageSocket pull(SocketType::Pull, serverOf(server)), push(SocketType::Push, sending);
        push.connect(pull.bind("tcp://127.0.0.1:*"));
        int accepted = 0;
        auto sendAll = [&]() -> Future<Void> {
            for (; accepted < 900; ++accepted)
                co_await push.send(std::string(40'000, 'x'));
        };
        Future<Void> all = sendAll();
        co_await delay(0.3);
        CHECK_FALSE(all.isReady()); // 36 MB are more than wait at both ends and in the kernel
        for (int i = 0; i < 900; ++i)
            CHECK((co_await pull.receive())[0].size() == 40'000);
        co_await all;
    };
    loop.run(test());
}
