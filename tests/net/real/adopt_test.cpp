#include "net/real/adopt.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/descriptors.h"
#include "tests/net/file_descriptor_suite.h"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <string>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// A socket of IPv4 at a free port, blocking, as another library may open one.
int boundSocket(int type) {
    int made = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(made, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    return made;
}

std::string whyNotAdopted(Reference<Connection> (*call)(int), int descriptor) {
    try {
        call(descriptor);
        return "";
    } catch (Error& error) {
        CHECK(error == client_invalid_operation());
        return error.what();
    }
}

} // namespace

TEST_CASE("adopt: a listener and both ends of its connections") {
    onEachPoller([] {
        Balance balance;
        int before = openDescriptors();
        {
            RealLoop loop;
            auto test = []() -> Future<Void> {
                int listening = boundSocket(SOCK_STREAM);
                CHECK(::listen(listening, 5) == 0);
                Reference<Listener> listener = adoptListener(listening);
                CHECK(listener->localAddress().isLoopback());
                CHECK(listener->localAddress().port() != 0);
                int plain = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
                sockaddr_storage to = {};
                unsigned size = listener->localAddress().toSystem(to);
                CHECK(::connect(plain, reinterpret_cast<sockaddr*>(&to), size) == 0);
                CHECK(::send(plain, "early", 5, 0) == 5);
                Reference<Connection> client = adoptConnection(plain);
                CHECK(client->peerAddress() == listener->localAddress());
                Reference<Connection> server = co_await listener->accept();
                Bytes first = co_await server->readExactly(5);
                CHECK(first == "early"_sr);
                Future<Void> echoing = echoOnce(server);
                co_await askTimes(client, 3);
                client->shutdownWrite();
                co_await std::move(echoing);
            };
            loop.run(test());
        }
        CHECK(openDescriptors() == before);
    });
}

TEST_CASE("adopt: a pair of Unix sockets, and a socket for datagrams") {
    onEachPoller([] {
        RealLoop loop;
        auto test = []() -> Future<Void> {
            int ends[2];
            CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
            Reference<Connection> client = adoptConnection(ends[0]), server = adoptConnection(ends[1]);
            Future<Void> echoing = echoOnce(server);
            co_await askTimes(client, 3);
            client->shutdownWrite();
            co_await std::move(echoing);

            Reference<DatagramSocket> adopted = adoptDatagramSocket(boundSocket(SOCK_DGRAM));
            Reference<DatagramSocket> other = transport().bind(Address(0x7F000001, 0));
            other->send(adopted->localAddress(), "hello"_sr);
            Datagram datagram = co_await adopted->receive();
            CHECK(datagram.bytes == "hello"_sr);
            CHECK(datagram.from == other->localAddress());
        };
        loop.run(test());
    });
}

TEST_CASE("adopt: what is another thing is refused, and stays the caller's") {
    RealLoop loop;
    auto connection = [](int descriptor) { return adoptConnection(descriptor); };
    auto listener = [](int descriptor) { return (void)adoptListener(descriptor), Reference<Connection>(); };
    auto datagrams = [](int descriptor) { return (void)adoptDatagramSocket(descriptor), Reference<Connection>(); };
    int bound = boundSocket(SOCK_STREAM);
    std::string number = std::to_string(bound);
    CHECK(whyNotAdopted(connection, bound) ==
          "adoptConnection(): descriptor " + number + " is no connected stream socket");
    CHECK(whyNotAdopted(listener, bound) ==
          "adoptListener(): descriptor " + number + " is no socket that listens for connections");
    CHECK(whyNotAdopted(datagrams, bound) ==
          "adoptDatagramSocket(): descriptor " + number + " is no socket for datagrams");
    CHECK((::fcntl(bound, F_GETFL) & O_NONBLOCK) == 0);
    ::close(bound);
    CHECK(whyNotAdopted(connection, bound) != "");
    CHECK(whyNotAdopted(listener, -1) != "");
}
