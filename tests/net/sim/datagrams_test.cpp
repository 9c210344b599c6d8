#include "net/sim/detail/datagrams.h"

#include "flow/coro/coroutine.h"
#include "flow/memory/standalone.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/transport.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;

namespace {

/// The numbers that arrive of those from 0 to `count`, sent one each millisecond.
std::vector<int> received(int count, Faults const& faults, FaultCounts* counts = nullptr) {
    std::vector<int> numbers;
    World world(1, faults);
    SimNetwork network(world, {.latency = 0.01, .jitter = 0, .bandwidth = 1e9});
    auto receive = [&]() -> Future<Void> {
        Reference<DatagramSocket> socket = transport().bind(Address(0, 1));
        for (;;) {
            Datagram datagram = co_await socket->receive();
            numbers.push_back(std::stoi(datagram.bytes.toString()));
        }
    };
    Process& receiver = world.start({.name = "receiver", .main = receive});
    auto send = [&]() -> Future<Void> {
        Reference<DatagramSocket> socket = transport().bind(Address());
        for (int i = 0; i < count; ++i) {
            co_await delay(0.001);
            co_await socket->send(Address(receiver.address(), 1), StringRef(std::to_string(i)));
        }
        co_await socket->send(*Address::parse("192.0.2.1:1"), "nobody is there"_sr);
        co_await socket->send(Address(receiver.address(), 7), "nobody hears"_sr);
    };
    world.start({.name = "sender", .main = send});
    world.run(delay(10));
    if (counts)
        *counts = world.faultCounts();
    CHECK(world.leakedCells() == 0);
    return numbers;
}

} // namespace

TEST_CASE("datagrams: without faults all come, in their order") {
    std::vector<int> numbers = received(500, {});
    CHECK(numbers.size() == 500);
    CHECK(std::is_sorted(numbers.begin(), numbers.end()));
}

TEST_CASE("datagrams: they are lost, come twice, and in another order") {
    Faults faults;
    FaultCounts counts;
    faults.datagramLoss = 1;
    CHECK(received(100, faults, &counts).empty());
    CHECK(counts[FaultKind::datagramLoss] >= 100);
    faults = Faults();
    faults.datagramDuplicate = 1;
    std::vector<int> twice = received(100, faults);
    CHECK(twice.size() == 200);
    CHECK(std::is_sorted(twice.begin(), twice.end()));
    faults = Faults();
    faults.datagramReorder = 0.3;
    std::vector<int> mixed = received(100, faults);
    CHECK(mixed.size() == 100);
    CHECK(!std::is_sorted(mixed.begin(), mixed.end()));
}

TEST_CASE("datagrams: a clog holds them up, and heal() ends that") {
    std::vector<double> times;
    World world(1);
    SimNetwork network(world, {.latency = 0.01, .jitter = 0, .bandwidth = 1e9});
    auto receive = [&]() -> Future<Void> {
        Reference<DatagramSocket> socket = transport().bind(Address(0, 1));
        for (;;) {
            Datagram datagram = co_await socket->receive();
            times.push_back(now());
        }
    };
    Process& receiver = world.start({.name = "receiver", .main = receive});
    auto send = [&]() -> Future<Void> {
        Reference<DatagramSocket> socket = transport().bind(Address());
        for (;;) {
            co_await socket->send(Address(receiver.address(), 1), "x"_sr);
            co_await delay(1);
        }
    };
    Process& sender = world.start({.name = "sender", .main = send});
    network.clog(sender, receiver, 4.5);
    world.run(delay(4.4));
    CHECK(times.empty());
    world.run(delay(0.2));
    CHECK(times.size() == 5);
    network.clog(sender, receiver, 1000);
    world.run(delay(10));
    CHECK(times.size() == 5);
    network.heal();
    world.run(delay(0.001));
    CHECK(times.size() == 15);
}

TEST_CASE("datagrams: what comes while too much waits is dropped, and so is what comes to a machine without power") {
    World world(1);
    SimNetwork network(world);
    int got = 0;
    auto receive = [&]() -> Future<Void> {
        Reference<DatagramSocket> socket = transport().bind(Address(0, 1));
        co_await delay(5);
        for (;;) {
            co_await socket->receive();
            ++got;
        }
    };
    Process& receiver = world.start({.name = "receiver", .main = receive});
    auto send = [&]() -> Future<Void> {
        Reference<DatagramSocket> socket = transport().bind(Address());
        for (int i = 0; i < 1000; ++i)
            co_await socket->send(Address(receiver.address(), 1), makeString(1024));
    };
    Process& sender = world.start({.name = "sender", .main = send});
    world.run(delay(10));
    CHECK(got == SimDatagramSocket::kRoom / 1024);
    world.reboot(receiver, 0.1, true);
    world.start(sender);
    world.run(delay(10));
    CHECK(got == SimDatagramSocket::kRoom / 1024);
}
