// DatagramSocket::joinGroup() and leaveGroup(), and the options of what is sent to groups.
#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/poll/network_poller.h"
#include "net/sim/sim_network.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// An IPv6 address of this machine on an interface that can send to groups (the loopback interface cannot).
struct Interface6 {
    Address address;
    unsigned index = 0; // 0: there is none
};
Interface6 multicastInterface6() {
    Interface6 found;
    ifaddrs* list = nullptr;
    REQUIRE(::getifaddrs(&list) == 0);
    for (ifaddrs* each = list; each; each = each->ifa_next)
        if (each->ifa_addr && each->ifa_addr->sa_family == AF_INET6 && (each->ifa_flags & IFF_UP) &&
            (each->ifa_flags & IFF_MULTICAST))
            found = {Address::fromSystem(each->ifa_addr, sizeof(sockaddr_in6)).value_or(Address()),
                     interfaceIndex(each->ifa_name)};
    ::freeifaddrs(list);
    return found;
}

std::string whyNoGroup(Reference<DatagramSocket> const& socket, char const* group, unsigned interface) {
    try {
        socket->joinGroup(*Address::parse(group), interface);
        return "";
    } catch (Error& error) {
        CHECK(error == client_invalid_operation());
        return error.what();
    }
}

/// Sends to a group, of which the receiver is a member for some time.
Future<Void> meetInGroup(Address anywhere, Address sender, Address group, unsigned interface) {
    DatagramOptions local;
    local.multicastHops = 0;
    Reference<DatagramSocket> receiver = transport().bind(anywhere);
    Reference<DatagramSocket> from = transport().bind(sender, local);
    Reference<DatagramSocket> other = transport().bind(anywhere); // with it, the machine stays in the group
    other->joinGroup(group, interface);
    std::uint16_t port = receiver->localAddress().port();
    Address to = group.withPort(port);
    receiver->joinGroup(group, interface);
    co_await from->send(to, "member"_sr);
    Datagram first = co_await receiver->receive();
    CHECK(first.bytes == "member"_sr);
    CHECK(first.from.port() == from->localAddress().port());
    receiver->leaveGroup(group, interface);
    co_await from->send(to, "after"_sr);
    co_await from->send(sender.withPort(port), "last"_sr);
    Datagram last = co_await receiver->receive();
    CHECK(last.bytes == "last"_sr);
}

} // namespace

TEST_CASE("multicast: a socket gets what is sent to a group while it is a member") {
    for (char const* poller : {"epoll", "uring"}) {
        if (poller[0] == 'u' && !hasUring())
            continue;
        ChosenPoller chosen(poller);
        RealLoop loop;
        Address group(0xEF010203, 0), loopback(0x7F000001, 0);
        loop.run(timeoutError(meetInGroup(Address(), loopback, group, interfaceIndex("lo")), 20.0));
        Interface6 six = multicastInterface6();
        if (six.index == 0) {
            MESSAGE("skipped: no interface can send to groups of IPv6");
            continue;
        }
        Address::V6 bytes{0xFF, 0x02};
        bytes[15] = 0x42;
        Address group6(bytes, 0, six.index);
        loop.run(timeoutError(meetInGroup(Address(Address::V6(), 0), six.address, group6, six.index), 20.0));
    }
}

TEST_CASE("multicast: what cannot be joined is refused in words") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Reference<DatagramSocket> socket = transport().bind(Address());
        unsigned here = interfaceIndex("lo");
        std::string by = " by interface " + std::to_string(here);
        CHECK(whyNoGroup(socket, "10.0.0.1:0", here) == "join 10.0.0.1:0" + by + ": Invalid argument");
        CHECK(whyNoGroup(socket, "239.1.2.3:0", 987654) == "join 239.1.2.3:0 by interface 987654: No such device");
        CHECK(whyNoGroup(socket, "[ff02::4321]:0", here) != "");
        CHECK(whyNoGroup(socket, "unix:/group", here) == "join unix:/group" + by + ": Invalid argument");
        socket->joinGroup(Address(0xEF010203, 0), here);
        CHECK(whyNoGroup(socket, "239.1.2.3:0", here) == "join 239.1.2.3:0" + by + ": Address already in use");
        socket->leaveGroup(Address(0xEF010203, 0), here);
        CHECK_THROWS_AS(socket->leaveGroup(Address(0xEF010203, 0), here), Error);
        CHECK_THROWS_AS((void)interfaceIndex("no-such-interface"), Error);
        socket->close();
        CHECK(whyNoGroup(socket, "239.1.2.3:0", here) != "");
        co_return;
    };
    loop.run(test());
}

TEST_CASE("multicast: many sockets that io_uring makes have the options too") {
    RealLoop loop;
    DatagramOptions options;
    options.multicastHops = 7;
    options.multicastLoop = false;
    std::vector<Address> at(10, Address(0x7F000001, 0));
    auto isSet = [](Reference<DatagramSocket> const& socket) {
        int hops = -1, looped = -1;
        socklen_t size = sizeof hops;
        ::getsockopt(socket->nativeDescriptor(), IPPROTO_IP, IP_MULTICAST_TTL, &hops, &size);
        ::getsockopt(socket->nativeDescriptor(), IPPROTO_IP, IP_MULTICAST_LOOP, &looped, &size);
        return hops == 7 && looped == 0;
    };
    for (Reference<DatagramSocket> const& each : transport().bindMany(at, options))
        CHECK(isSet(each));
    CHECK(isSet(transport().bind(at[0], options)));
}

TEST_CASE("multicast: a simulation has no groups") {
    World world(1);
    SimNetwork network(world);
    std::string why;
    auto test = [&why]() -> Future<Void> {
        Reference<DatagramSocket> socket = transport().bind(Address());
        try {
            socket->joinGroup(Address(0xEF010203, 0));
        } catch (Error& error) {
            CHECK(error == unsupported_operation());
            why = error.what();
        }
        co_return;
    };
    world.start({.name = "joins", .main = test});
    world.run(delay(1));
    CHECK(why == "a DatagramSocket of a simulation joins no multicast groups");
}
