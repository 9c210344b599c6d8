#include "net/sim/sim_network.h"

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/memory/standalone.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/transport.h"
#include "tests/flow/support/death.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// What is seen in processes. Plain data: no future may pass from one to another.
struct Seen {
    double time = -1; // of the world
    Error error;
    std::string text;
    int count = 0;
};

LinkShape const kPlain = {.latency = 0.1, .jitter = 0, .bandwidth = 1e6};

Address addressOf(Process const& process, std::uint16_t port = 1) {
    return Address(process.address(), port);
}

/// Accepts connections, one after the other, and reads each to its end.
Future<Void> sink(World* world, Seen* seen) {
    Reference<Listener> listener = transport().listen(1);
    for (;;) {
        Reference<Connection> connection = co_await listener->accept();
        for (;;) {
            ErrorOr<Bytes> bytes = co_await tryGet(connection->read());
            seen->time = world->now();
            if (bytes.isError())
                seen->error = bytes.getError();
            else
                seen->text += bytes.get().toString();
            if (bytes.isError() || bytes.get().empty())
                break;
            ++seen->count;
        }
    }
}

/// Connects and writes a letter each second.
Future<Void> letters(World* world, Address to, Seen* seen) {
    Reference<Connection> connection = co_await transport().connect(to);
    seen->count = 1;
    seen->time = world->now();
    for (char letter = 'a';; ++letter) {
        ErrorOr<Void> written = co_await tryGet(connection->write(StringRef(std::string(1, letter))));
        if (written.isError()) {
            seen->error = written.getError();
            seen->time = world->now();
            co_return;
        }
        co_await delay(1);
    }
}

/// A cluster of two: the second one writes letters to the first.
struct Two {
    explicit Two(Faults const& faults = {}, LinkShape const& shape = kPlain) : world(1, faults), network(world, shape) {
        server = &world.start({.name = "server", .main = [this] { return sink(&world, &atServer); }});
        client =
            &world.start({.name = "client", .main = [this] { return letters(&world, addressOf(*server), &atClient); }});
    }

    Seen atServer, atClient;
    World world;
    SimNetwork network;
    Process* server;
    Process* client;
};

} // namespace

TEST_CASE("network: latency and bandwidth are as requested") {
    Seen at;
    World world(1);
    SimNetwork network(world, kPlain);
    Process& server = world.start({.name = "server", .main = [&] { return sink(&world, &at); }});
    double latency = 0.1;
    auto client = [&]() -> Future<Void> {
        double begun = world.now();
        Reference<Connection> connection = co_await transport().connect(addressOf(server));
        CHECK(world.now() - begun == doctest::Approx(2 * latency));
        co_await connection->write("x"_sr);
        co_await delay(latency + 1);
        CHECK(at.time - begun == doctest::Approx(3 * latency + 1e-6));
        Future<Void> written = connection->write(makeString(2'000'000));
        Future<Void> more = connection->write("x"_sr);
        co_await delay(latency + 5);
        CHECK(at.time - begun == doctest::Approx(4 * latency + 3.000001));
    };
    Process& process = world.start({.name = "client", .main = client});
    world.run(process.onStop());
    network.shape(server, process, {.latency = latency = 3, .jitter = 0, .bandwidth = 1e6});
    world.start(process);
    world.run(process.onStop());
    world.run(delay(10)); // until the server has seen the end of that
    network.shape({.latency = latency = 0.5, .jitter = 0, .bandwidth = 1e6});
    world.start(process);
    world.run(process.onStop());
    CHECK(process.exit() == Error());
    CHECK(at.count == 9);
}

TEST_CASE("network: jitter is drawn anew for each message") {
    Two two({}, {.latency = 0.1, .jitter = 0.2, .bandwidth = 1e9});
    std::vector<double> delays;
    for (int i = 0; i < 50; ++i) {
        int before = two.atServer.count;
        while (two.atServer.count == before)
            two.world.run(delay(0.0001));
        delays.push_back(two.atServer.time - two.atClient.time - i);
    }
    auto [least, most] = std::minmax_element(delays.begin(), delays.end());
    CHECK(*least >= 0.1);
    CHECK(*least < 0.11);
    CHECK(*most > 0.2);
    CHECK(*most < 0.301);
}

TEST_CASE("network: what crosses a link that is cut comes when it is whole again") {
    Two two;
    two.world.run(delay(2.5));
    CHECK(two.atServer.text == "abc");
    two.network.cut(*two.client, *two.server, 5);
    two.world.run(delay(4.9));
    CHECK(two.atServer.text == "abc");
    two.world.run(delay(0.2));
    CHECK(two.atServer.text == "abcdefgh");
    two.network.partition(*two.client, *two.server);
    two.world.run(delay(1000));
    CHECK(two.atServer.text == "abcdefgh");
    two.network.heal();
    two.world.run(delay(0.01));
    CHECK(two.atServer.count > 100);
    CHECK(!two.atServer.error.isValid());
}

TEST_CASE("network: heal() ends that a connection is slow, also for what is on its way") {
    World world(1, {.slowLink = 1});
    SimNetwork network(world, {.latency = 0.1, .jitter = 0, .bandwidth = 100'000}); // a slow link: 101 at most
    Seen seen;
    Process& server = world.start({.name = "server", .main = [&] { return sink(&world, &seen); }});
    world.start({.name = "client", .main = [to = addressOf(server)]() -> Future<Void> {
                     Reference<Connection> connection = co_await transport().connect(to);
                     for (int i = 0; i < 20; ++i)
                         co_await connection->write(StringRef(std::string(1000, 'x')));
                     co_await delay(60);
                     co_await connection->write("behind"_sr);
                     co_await Future<Void>(Never());
                 }});
    world.run(delay(50));
    CHECK(seen.text.size() < 6000);
    network.heal();
    world.run(delay(0.001));
    CHECK(seen.text.size() == 20'000);
    world.run(delay(15)); // what is sent later is as fast, although the fault goes on for other connections
    CHECK(seen.text.size() == 20'006);
    CHECK(seen.time < 60.4);
}

TEST_CASE("network: a cut is in one direction, a partition in both") {
    std::vector<std::string> log;
    World world(1);
    SimNetwork network(world, kPlain);
    Process& a = world.start({.name = "a", .main = [&]() -> Future<Void> {
                                  Reference<DatagramSocket> socket = transport().bind(Address(0, 2));
                                  for (;;) {
                                      Datagram datagram = co_await socket->receive();
                                      log.push_back("a " + datagram.bytes.toString());
                                      co_await socket->send(datagram.from, "no"_sr);
                                  }
                              }});
    Process& b = world.start({.name = "b", .main = [&]() -> Future<Void> {
                                  Reference<DatagramSocket> socket = transport().bind(Address(0, 2));
                                  for (;;) {
                                      co_await socket->send(addressOf(a, 2), "yes"_sr);
                                      auto first = co_await race(socket->receive(), delay(1));
                                      if (first.index() == 0) {
                                          log.push_back("b no");
                                          co_await delay(0.8);
                                      }
                                  }
                              }});
    world.run(delay(0.5));
    CHECK(log == std::vector<std::string>{"a yes", "b no"});
    log.clear();
    network.cut(a, b);
    world.run(delay(2));
    CHECK(log == std::vector<std::string>{"a yes", "a yes"});
    network.heal();
    log.clear();
    network.partition(a, b, 10);
    world.run(delay(9));
    CHECK(log.empty());
    world.run(delay(5));
    CHECK(log.size() >= 4);
}

TEST_CASE("network: a clog holds up what is on its way, and datagrams are not lost") {
    Two two;
    two.world.run(delay(2.25));
    two.network.clog(*two.client, *two.server, 5);
    two.world.run(delay(4.9));
    CHECK(two.atServer.text == "ab");
    two.world.run(delay(0.2));
    CHECK(two.atServer.text.size() > 6);
}

TEST_CASE("network: a process that is killed leaves connections that fail, and refuses others") {
    Two two;
    two.world.run(delay(2.5));
    two.world.kill(*two.server);
    two.world.run(delay(1));
    CHECK(two.atClient.error == connection_reset());
    CHECK(two.atClient.time < 4);
    CHECK(two.network.openEnds() == 0);
    double before = two.world.now();
    two.world.start(*two.client);
    two.world.run(two.client->onStop());
    CHECK(two.client->exit() == connection_refused());
    CHECK(two.world.now() == doctest::Approx(before + 0.2));
}

TEST_CASE("network: the peer of a killed process gets an error, also if it only reads") {
    Two two;
    two.world.run(delay(2.5));
    two.world.kill(*two.client);
    two.world.run(delay(0.11));
    CHECK(two.atServer.error == connection_reset());
    CHECK(two.network.openEnds() == 0);
}

TEST_CASE("network: a machine that loses its power says nothing, and denies all when it is back") {
    Two two;
    two.world.run(delay(2.5));
    two.world.kill(*two.server, true);
    two.world.run(delay(100));
    CHECK(!two.atClient.error.isValid());
    two.world.start(*two.server);
    two.world.run(delay(2));
    CHECK(two.atClient.error == connection_reset());
    two.world.kill(*two.server, true);
    double before = two.world.now();
    two.world.start(*two.client);
    two.world.run(two.client->onStop());
    CHECK(two.client->exit() == connection_timed_out());
    CHECK(two.world.now() == doctest::Approx(before + SimNetwork::kConnectTimeout));
}

TEST_CASE("network: after its peer lost its power, a reader waits until it sends something itself") {
    Two two;
    two.world.run(delay(2.5));
    two.world.reboot(*two.client, 1, true);
    two.world.run(delay(50));
    CHECK(!two.atServer.error.isValid());
    CHECK(two.network.openEnds() == 3);
}

TEST_CASE("network: addresses go with their processes, also when they are swapped") {
    World world(1);
    SimNetwork network(world, kPlain);
    std::vector<std::string> met;
    auto main = [&] {
        return [](World* world, std::vector<std::string>* met) -> Future<Void> {
            std::string name = world->current()->name();
            Reference<Listener> listener = transport().listen(1);
            for (;;) {
                Reference<Connection> connection = co_await listener->accept();
                met->push_back(name);
            }
        }(&world, &met);
    };
    Process& a = world.start({.name = "a", .main = main});
    Process& b = world.start({.name = "b", .main = main});
    Address ofA = addressOf(a);
    world.start({.name = "client", .main = [ofA]() -> Future<Void> {
                     for (;;) {
                         Reference<Connection> connection = co_await transport().connect(ofA);
                         co_await delay(1);
                     }
                 }});
    world.run(delay(0.5));
    CHECK(met == std::vector<std::string>{"a"});
    world.swapAddresses(a, b);
    world.run(delay(1));
    CHECK(met == std::vector<std::string>{"a", "b"});
    auto lost = [&]() -> Future<Void> { co_await transport().connect(*Address::parse("192.0.2.1:1")); };
    Process& nowhere = world.start({.name = "nowhere", .main = lost});
    world.run(nowhere.onStop());
    CHECK(nowhere.exit() == connection_timed_out());
}

TEST_CASE("network: a request for a connection does not reach the process that had the address before") {
    World world(1);
    SimNetwork network(world, kPlain);
    std::vector<std::string> accepted;
    auto main = [&]() -> Future<Void> {
        std::string name = world.current()->name();
        Reference<Listener> listener = transport().listen(1);
        for (;;) {
            Reference<Connection> connection = co_await listener->accept();
            accepted.push_back(name);
        }
    };
    Process& a = world.start({.name = "a", .main = main});
    Process& b = world.start({.name = "b", .main = main});
    Error error;
    Process& client = world.start({.name = "client", .main = [&, ofA = addressOf(a)]() -> Future<Void> {
                                       ErrorOr<Reference<Connection>> made = co_await tryGet(transport().connect(ofA));
                                       error = made.isError() ? made.getError() : Error();
                                       co_await transport().connect(ofA); // from now on, that is b
                                   }});
    world.run(delay(0.05)); // the request is on its way
    world.swapAddresses(a, b);
    world.run(client.onStop());
    CHECK(client.exit() == Error());
    CHECK(error.code() == error_code_connection_refused);
    CHECK(accepted == std::vector<std::string>{"b"});
}

TEST_CASE("network: a full backlog refuses") {
    World world(1);
    SimNetwork network(world, kPlain);
    Process& server = world.start({.name = "server", .main = []() -> Future<Void> {
                                       Reference<Listener> listener = transport().listen(1);
                                       co_await Future<Void>(Never());
                                   }});
    int made = 0, refused = 0;
    auto client = [&]() -> Future<Void> {
        std::vector<Reference<Connection>> connections;
        for (std::uint32_t i = 0; i < SimNetwork::kBacklog + 5; ++i) {
            ErrorOr<Reference<Connection>> result = co_await tryGet(transport().connect(addressOf(server)));
            ++(result.isError() ? refused : made);
            if (!result.isError())
                connections.push_back(result.get());
        }
    };
    Process& process = world.start({.name = "client", .main = client});
    world.run(process.onStop());
    CHECK(made == SimNetwork::kBacklog);
    CHECK(refused == 5);
    world.run(delay(1));
    CHECK(network.openEnds() == SimNetwork::kBacklog); // closed at one end, not yet seen at the other
    world.kill(server);
    CHECK(network.openEnds() == 0);
}

TEST_CASE("network: a writer that waits holds little, however slowly the other side reads") {
    World world(1);
    SimNetwork network(world, kPlain);
    std::size_t written = 0, read = 0, most = 0;
    Process& server = world.start({.name = "server", .main = [&]() -> Future<Void> {
                                       Reference<Listener> listener = transport().listen(1);
                                       Reference<Connection> connection = co_await listener->accept();
                                       for (;;) {
                                           Bytes bytes = co_await connection->read();
                                           read += static_cast<std::size_t>(bytes.size());
                                           most = std::max(most, written - read);
                                           co_await delay(0.1);
                                       }
                                   }});
    world.start({.name = "client", .main = [&]() -> Future<Void> {
                     Reference<Connection> connection = co_await transport().connect(addressOf(server));
                     for (;;) {
                         co_await connection->write(makeString(1000));
                         written += 1000;
                     }
                 }});
    world.run(delay(500));
    CHECK(read > 2'000'000);
    CHECK(most <= Connection::kHighWater + 1000);
    CHECK(most > Connection::kHighWater / 2);
}

TEST_CASE("network: destroyed before its world, it stops the processes") {
    World world(1);
    Seen at;
    {
        SimNetwork network(world, kPlain);
        Process& server = world.start({.name = "server", .main = [&] { return sink(&world, &at); }});
        world.start({.name = "client", .main = [&] { return letters(&world, addressOf(server), &at); }});
        world.run(delay(2.05));
        CHECK(network.openEnds() == 2);
    }
    for (auto& process : world.processes())
        CHECK(!process->isRunning());
    CHECK(world.leakedCells() == 0);
    world.run(delay(1));
}

TEST_CASE("network: no handle keeps anything alive beyond its process") {
    static std::vector<Reference<Connection>> kept;
    World world(1);
    SimNetwork network(world, kPlain);
    Process& process = world.start({.name = "p", .main = []() -> Future<Void> {
                                        Pair pair = co_await makePair();
                                        kept = {pair.client, pair.server};
                                    }});
    world.run(process.onStop());
    CHECK(network.openEnds() == 0);
    CHECK(kept.size() == 2);
    kept.clear();
    CHECK(world.leakedCells() == 0);
}

TEST_CASE("network: impossible links are refused") {
    World world(1);
    SimNetwork network(world);
    Process& a = world.add({.name = "a", .main = [] { return Future<Void>(Void()); }});
    Process& b = world.add({.name = "b", .main = [] { return Future<Void>(Void()); }});
    double nan = std::numeric_limits<double>::quiet_NaN();
    for (double value : {nan, -1.0}) {
        CHECK_DIES(network.shape({.latency = value}), "from 0 on");
        CHECK_DIES(network.shape(a, b, {.jitter = value}), "from 0 on");
    }
    for (double value : {nan, 0.0, -1.0}) {
        CHECK_DIES(network.shape(a, b, {.bandwidth = value}), "must be more than 0");
        CHECK_DIES(network.shape({.bandwidth = value}), "must be more than 0");
    }
}
