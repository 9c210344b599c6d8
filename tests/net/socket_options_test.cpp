// SocketOptions, DatagramOptions, and what the native descriptor of a socket is for.
#include "flow/combine/errors.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/real/adopt.h"
#include "net/sim/sim_network.h"
#include "net/transport.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace flow;
using namespace flow::net;

namespace {

using Change = std::function<void(DatagramOptions&)>;

std::vector<std::pair<Change, std::string>> wrongSocketOptions() {
    constexpr char kTime[] = "; it must be from 0 to 32767 seconds";
    return {
        {[](auto& o) { o.keepAlive = true, o.keepAliveIdle = -1; },
         std::string("SocketOptions: keepAliveIdle is -1") + kTime},
        {[](auto& o) { o.keepAlive = true, o.keepAliveInterval = 40'000; },
         std::string("SocketOptions: keepAliveInterval is 40000") + kTime},
        {[](auto& o) { o.keepAlive = true, o.keepAliveIdle = std::nan(""); },
         std::string("SocketOptions: keepAliveIdle is nan") + kTime},
        {[](auto& o) { o.keepAliveIdle = 5; }, "SocketOptions: keepAliveIdle is 5; it needs keepAlive"},
        {[](auto& o) { o.keepAlive = true, o.keepAliveProbes = 128; },
         "SocketOptions: keepAliveProbes is 128; it must be from 0 to 127"},
        {[](auto& o) { o.userTimeout = -0.5; },
         "SocketOptions: userTimeout is -0.5; it must be from 0 to 2000000 seconds"},
        {[](auto& o) { o.multicastHops = 256; }, "DatagramOptions: multicastHops is 256; it must be from 0 to 255"},
    };
}

int optionAt(int descriptor, int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    ::getsockopt(descriptor, level, name, &value, &size);
    return value;
}

void onRealAndSimulated(Future<Void> (*test)()) {
    {
        RealLoop loop;
        loop.run(test());
    }
    World world(1);
    SimNetwork network(world);
    bool isDone = false;
    auto main = [&]() -> Future<Void> {
        co_await test();
        isDone = true;
    };
    world.start({.name = "options", .main = main});
    world.run(delay(1000));
    CHECK(isDone);
}

std::string sentenceOf(std::function<void()> const& make) {
    try {
        make();
        return "";
    } catch (Error& error) {
        CHECK(error == invalid_option_value());
        return error.what();
    }
}

} // namespace

TEST_CASE("socket options: a wrong one is named, on both networks") {
    onRealAndSimulated([]() -> Future<Void> {
        for (auto const& [change, sentence] : wrongSocketOptions()) {
            DatagramOptions wrong;
            change(wrong);
            std::string said = sentenceOf([&wrong] { transport().bind(Address(), wrong); });
            CHECK(said == "bind to 0.0.0.0:0: " + sentence);
            if (sentence.starts_with("Datagram"))
                continue;
            ListenOptions listening;
            static_cast<SocketOptions&>(listening) = wrong;
            said = sentenceOf([&listening] { transport().listen(Address(), listening); });
            CHECK(said == "listen at 0.0.0.0:0: " + sentence);
            std::vector<Address> many(10);
            said = sentenceOf([&] { transport().listenMany(many, listening); });
            CHECK(said.ends_with(sentence));
            ConnectOptions connecting;
            static_cast<SocketOptions&>(connecting) = wrong;
            auto result = co_await errorOr(transport().connect(Address(0x7F000001, 1), connecting));
            CHECK(result.isError());
            CHECK(result.getError() == invalid_option_value());
            CHECK(std::string(result.getError().what()).ends_with(sentence));
        }
    });
}

TEST_CASE("socket options: wrong buffers, a wrong backlog and a wrong timeout are named, on both networks") {
    onRealAndSimulated([]() -> Future<Void> {
        auto listening = [](auto change) {
            ListenOptions wrong;
            change(wrong);
            return sentenceOf([&wrong] { transport().listen(Address(), wrong); });
        };
        std::string const at = "listen at 0.0.0.0:0: ", kRule = "; it must not be negative";
        CHECK(listening([](auto& o) { o.backlog = -1; }) == at + "ListenOptions: backlog is -1" + kRule);
        CHECK(listening([](auto& o) { o.sendBuffer = -1; }) == at + "SocketOptions: sendBuffer is -1" + kRule);
        CHECK(listening([](auto& o) { o.receiveBuffer = -2; }) == at + "SocketOptions: receiveBuffer is -2" + kRule);
        ConnectOptions hasty;
        hasty.timeout = 0;
        auto result = co_await errorOr(transport().connect(Address(0x7F000001, 1), hasty));
        CHECK(result.isError());
        CHECK(std::string(result.getError().what()).ends_with("ConnectOptions: timeout is 0; it must be more than 0"));
    });
}

TEST_CASE("socket options: adopting a socket checks them before it takes the socket") {
    RealLoop loop;
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    SocketOptions wrong;
    wrong.userTimeout = -1;
    CHECK(sentenceOf([&] { adoptConnection(ends[0], wrong); }) ==
          "SocketOptions: userTimeout is -1; it must be from 0 to 2000000 seconds");
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_CASE("socket options: times of keep-alive, and the user timeout, of both sides") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        ListenOptions listening;
        listening.keepAlive = true;
        listening.keepAliveIdle = 0.5;
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0), listening);
        ConnectOptions connecting;
        connecting.keepAlive = true;
        connecting.keepAliveIdle = 60;
        connecting.keepAliveInterval = 9.5;
        connecting.keepAliveProbes = 3;
        connecting.userTimeout = 1.5;
        Reference<Connection> client = co_await transport().connect(listener->localAddress(), connecting);
        Reference<Connection> server = co_await listener->accept();
        int descriptor = client->nativeDescriptor();
        CHECK(optionAt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE) == 60);
        CHECK(optionAt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL) == 10);
        CHECK(optionAt(descriptor, IPPROTO_TCP, TCP_KEEPCNT) == 3);
        CHECK(optionAt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT) == 1500);
        descriptor = server->nativeDescriptor();
        CHECK(optionAt(descriptor, SOL_SOCKET, SO_KEEPALIVE) == 1);
        CHECK(optionAt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE) == 1);
        CHECK(optionAt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT) == 0);
    };
    loop.run(test());
}

TEST_CASE("socket options: the native descriptor is for further ones") {
    onRealAndSimulated([]() -> Future<Void> {
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
        Reference<DatagramSocket> datagrams = transport().bind(Address(0x7F000001, 0));
        Reference<Connection> client = co_await transport().connect(listener->localAddress());
        for (int descriptor : {listener->nativeDescriptor(), datagrams->nativeDescriptor(), client->nativeDescriptor()})
            if (Loop::current().isSimulated()) {
                CHECK(descriptor == -1);
            } else {
                int priority = 5;
                CHECK(::setsockopt(descriptor, SOL_SOCKET, SO_PRIORITY, &priority, sizeof priority) == 0);
            }
        auto credentials = client->peerCredentials(); // only of a Unix socket
        CHECK_FALSE(credentials.has_value());
        listener->close();
        datagrams->close();
        client->close();
        CHECK(listener->nativeDescriptor() == -1);
        CHECK(datagrams->nativeDescriptor() == -1);
        CHECK(client->nativeDescriptor() == -1);
    });
}

TEST_CASE("socket options: the credentials of a Unix peer, of both sides") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Address name = Address::unixAbstract("millrace-credentials-" + std::to_string(::getpid()));
        Reference<Listener> listener = transport().listen(name);
        Reference<Connection> client = co_await transport().connect(name);
        Reference<Connection> server = co_await listener->accept();
        PeerCredentials own{::getpid(), ::geteuid(), ::getegid()};
        for (Reference<Connection> const& each : {client, server}) {
            auto credentials = each->peerCredentials();
            CHECK(credentials.has_value());
            CHECK(credentials.value_or(PeerCredentials{}) == own);
        }
        client->close();
        auto after = client->peerCredentials();
        CHECK_FALSE(after.has_value());
    };
    loop.run(test());
}
