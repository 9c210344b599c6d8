#include "net/poll/network_poller.h"

#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "net/real/detail/real_socket.h"
#include "net/real/real_network.h"
#include "net/transport.h"
#include "tests/flow/support/death.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

// tests/net/real/real_network_test.cpp runs them with the poller that FLOW_POLLER names, or with epoll.
TEST_CASE("network poller: every transport case with io_uring") {
    if (std::getenv("FLOW_POLLER"))
        return;
    if (!hasUring()) {
        MESSAGE("this kernel or this build has no io_uring: only epoll is tested");
        return;
    }
    ChosenPoller chosen("uring");
    for (TransportCase const& each : transportCases()) {
        INFO(std::string(each.name));
        RealLoop loop;
        RealNetwork network(loop);
        CHECK(std::string(network.poller().name()) == "uring");
        loop.run(each.run());
    }
}

// A server may speak first, and end its writing, before the client's connect() is complete.
TEST_CASE("network poller: bytes and an end that came during the connect are read") {
    for (char const* name : {"epoll", "uring"}) {
        if (std::string(name) == "uring" && !hasUring())
            continue;
        INFO(std::string(name));
        ChosenPoller chosen(name);
        RealLoop loop;
        RealNetwork network(loop);
        OpenDescriptor listening = openSocket(Address(0x7F000001, 0), SOCK_STREAM, {});
        bindSocket(listening.get(), Address(0x7F000001, 0));
        REQUIRE(::listen(listening.get(), 1) == 0);
        sockaddr_storage at = {};
        socklen_t size = sizeof at;
        ::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&at), &size);
        auto readFirst = [&]() -> Future<Void> {
            Address to = *Address::fromSystem(reinterpret_cast<sockaddr*>(&at), size);
            Future<Reference<Connection>> connecting = transport().connect(to);
            OpenDescriptor server(::accept(listening.get(), nullptr, nullptr));
            CHECK(::write(server.get(), "hello", 5) == 5);
            ::shutdown(server.get(), SHUT_WR);
            Reference<Connection> client = co_await connecting;
            std::string text = co_await timeoutError(readAll(client), 10);
            CHECK(text == "hello");
        };
        loop.run(readFirst());
    }
}

// Kernels from 6.13 on count the memory of rings as locked.
TEST_CASE("network poller: that there is no memory for io_uring is said") {
    if (!hasUring())
        return;
    ChosenPoller chosen("uring");
    Death death = runInChild([] {
        rlimit little = {16 << 10, 16 << 10};
        ::setrlimit(RLIMIT_MEMLOCK, &little);
        if (::geteuid() == 0) // may lock what it likes
            (void)(::setgid(65534) == 0 && ::setuid(65534) == 0);
        (void)makePoller();
    });
    if (death.aborted())
        CHECK_MESSAGE(death.says("RLIMIT_MEMLOCK allows 16 KiB"), death.text);
    else
        CHECK(death.status == 0);
}

TEST_CASE("network poller: a name that is none is named") {
    ChosenPoller chosen("kqueue");
    CHECK_DIES(makePoller(), "FLOW_POLLER is \"kqueue\"; it must be epoll or uring");
}
