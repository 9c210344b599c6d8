#include "net/real/real_network.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "net/transport.h"
#include "tests/flow/support/descriptors.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

bool hasV6() {
    try {
        (void)transport().listen(*Address::parse("[::1]:0"));
        return true;
    } catch (Error&) {
        return false;
    }
}

} // namespace

TEST_CASE("real network: does what every transport does, and leaves no descriptor open") {
    for (TransportCase const& each : transportCases()) {
        INFO(each.name);
        int before = openDescriptors();
        {
            RealLoop loop;
            loop.run(each.run());
        }
        CHECK(openDescriptors() == before);
    }
}

TEST_CASE("real network: a connect to a Unix socket that is not there is refused") {
    RealLoop loop;
    CHECK(loop.run(endOf(transport().connect(Address::unixPath("/tmp/millrace-nobody")))) == connection_refused());
}

TEST_CASE("real network: a connect that nothing answers ends with its timeout, and keeps no descriptor") {
    RealLoop loop;
    // A listener with a full backlog does not answer.
    int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_storage address = {};
    unsigned size = Address(0x7F000001, 0).toSystem(address);
    REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener, 0) == 0);
    socklen_t length = sizeof address;
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
    Address at = *Address::fromSystem(reinterpret_cast<sockaddr*>(&address), length);
    auto test = [](Address at) -> Future<Void> {
        ConnectOptions options;
        options.timeout = 0.1;
        std::vector<Future<Reference<Connection>>> all;
        for (int i = 0; i < 4; ++i)
            all.push_back(transport().connect(at, options));
        Error last;
        for (auto& each : all)
            last = co_await endOf(each);
        CHECK(last == connection_timed_out());
    };
    loop.run(test(at));
    ::close(listener);
}

TEST_CASE("real network: a connection to itself counts as refused, and its port is free at once") {
    for (char const* poller : {"epoll", "uring"}) {
        ChosenPoller chosen(poller);
        int before = openDescriptors();
        {
            RealLoop loop;
            auto test = [](Address any) -> Future<Void> {
                Address at = transport().listen(any)->localAddress(); // free again
                ConnectOptions options;
                options.local = at; // what the kernel does by chance
                Error error = co_await endOf(transport().connect(at, options));
                CHECK(error == connection_refused());
                Reference<Listener> listener = transport().listen(at);
                Future<Reference<Connection>> connecting = transport().connect(at);
                Reference<Connection> server = co_await listener->accept();
                Reference<Connection> client = co_await connecting;
                CHECK(client->localAddress() == server->peerAddress());
            };
            loop.run(test(Address(0x7F000001, 0)));
            if (hasV6())
                loop.run(test(*Address::parse("[::1]:0")));
        }
        CHECK(openDescriptors() == before);
    }
}

TEST_CASE("real network: a connect from a given address and port") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
        ConnectOptions options;
        options.local = Address(0x7F000002, 0);
        Future<Reference<Connection>> connecting = transport().connect(listener->localAddress(), options);
        Reference<Connection> server = co_await listener->accept();
        Reference<Connection> client = co_await connecting;
        CHECK(server->peerAddress().v4() == 0x7F000002);
        options.local = *Address::parse("203.0.113.7:0");
        Error error = co_await endOf(transport().connect(listener->localAddress(), options));
        CHECK(error == invalid_local_address());
    };
    loop.run(test());
}

TEST_CASE("real network: sockets may outlive their network, and then do nothing") {
    Reference<Connection> client;
    Reference<Listener> listener;
    Reference<DatagramSocket> socket;
    Future<Bytes> reading;
    {
        RealLoop loop;
        Pair pair = loop.run(makePairAt(Address(0x7F000001, 0)));
        client = pair.client;
        listener = pair.listener;
        socket = transport().bind(Address(0x7F000001, 0));
        reading = keep(client->read());
    }
    CHECK_FALSE(reading.isReady());
    RealLoop other;
    reading = Future<Bytes>();
    client.clear();
    listener.clear();
    socket.clear();
}

TEST_CASE("real network: a loop without a waiter for a socket ends") {
    RealLoop loop;
    Pair pair = loop.run(makePairAt(Address(0x7F000001, 0)));
    loop.run();
    Future<Bytes> reading = keep(pair.server->read());
    loop.run(pair.client->write("x"_sr));
    loop.run(); // until the reader has it
    CHECK(reading.isReady());
}

TEST_CASE("real network: a child of fork() does not take its parent's news, nor the parent the child's") {
    RealLoop loop;
    Pair pair = loop.run(makePairAt(Address(0x7F000001, 0)));
    Future<Void> serving = echoOnce(pair.server);
    loop.run(askTimes(pair.client, 3));
    pid_t child = ::fork();
    if (child == 0) {
        ::alarm(20);
        auto own = []() -> Future<Void> {
            Pair pair = co_await makePairAt(Address(0x7F000001, 0));
            Future<Void> serving = echoOnce(pair.server);
            co_await askTimes(pair.client, 20);
        };
        loop.run(own());
        ::_exit(0);
    }
    loop.run(askTimes(pair.client, 200));
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
    loop.run(askTimes(pair.client, 3));
}
