// Connections of a SimNetwork: injected faults, many messages, and cancels at every point.
#include "net/sim/detail/session.h"

#include "flow/combine/all.h"
#include "flow/coro/coroutine.h"
#include "flow/memory/standalone.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/transport.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <bit>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// What becomes of `count` numbered messages that are written one after the other to a reader that reads all.
struct Outcome {
    std::string read;
    std::string sent;
    Error ofWriter, ofReader, ofConnect;
    double seconds = -1; // until the reader had all
    int written = 0;
    FaultCounts counts;
};

Future<Void> receiveAll(Outcome* outcome) {
    Reference<Listener> listener = transport().listen(1);
    Reference<Connection> connection = co_await listener->accept();
    for (;;) {
        ErrorOr<Bytes> bytes = co_await tryGet(connection->read());
        if (bytes.isError()) {
            outcome->ofReader = bytes.getError();
            co_return;
        }
        if (bytes.get().empty())
            break;
        outcome->read += bytes.get().toString();
    }
    outcome->seconds = now();
}

Future<Void> sendAll(Outcome* outcome, Address to, int count) {
    ErrorOr<Reference<Connection>> made = co_await tryGet(transport().connect(to));
    if (made.isError()) {
        outcome->ofConnect = made.getError();
        co_return;
    }
    Reference<Connection> connection = made.get();
    while (outcome->written < count) {
        std::string text = std::to_string(outcome->written) + ",";
        ErrorOr<Void> written = co_await tryGet(connection->write(StringRef(text)));
        if (written.isError()) {
            outcome->ofWriter = written.getError();
            co_return;
        }
        outcome->sent += text;
        ++outcome->written;
    }
    connection->shutdownWrite();
    (void)co_await tryGet(connection->read());
}

Outcome send(int count, Faults const& faults, double seconds = 1000) {
    Outcome outcome;
    World world(1, faults);
    SimNetwork network(world);
    Process& server = world.start({.name = "server", .main = [&] { return receiveAll(&outcome); }});
    world.start({.name = "client", .main = [&] { return sendAll(&outcome, Address(server.address(), 1), count); }});
    world.run(delay(seconds));
    outcome.counts = world.faultCounts();
    CHECK(world.leakedCells() == 0);
    return outcome;
}

struct Strike {
    double Faults::* probability;
    FaultKind kind;
};

Outcome sendWith(Strike strike, int count, double probability = 1, double seconds = 1000) {
    Faults faults;
    faults.*strike.probability = probability;
    Outcome outcome = send(count, faults, seconds);
    CHECK(outcome.counts[strike.kind] > 0);
    return outcome;
}

} // namespace

TEST_CASE("session: a hundred thousand messages, all there and in their order") {
    Outcome outcome = send(100'000, {});
    CHECK(outcome.written == 100'000);
    CHECK(outcome.read == outcome.sent);
    CHECK(outcome.seconds > 0);
    for (std::size_t kind = 0; kind < kFaultKinds; ++kind)
        CHECK(outcome.counts[FaultKind(kind)] == 0);
}

TEST_CASE("session: faults that only take time") {
    double usual = send(50, {}).seconds;
    for (Strike strike : {Strike{&Faults::latencySpike, FaultKind::latencySpike},
                          Strike{&Faults::clog, FaultKind::clog}, Strike{&Faults::slowLink, FaultKind::slowLink}}) {
        INFO(faultName(strike.kind));
        Outcome outcome = sendWith(strike, 50);
        CHECK(outcome.read == outcome.sent);
        CHECK(outcome.written == 50);
        CHECK(outcome.seconds > usual);
    }
}

TEST_CASE("session: what is read is not what one write has sent") {
    auto readAll = [](double shorts, double merges) {
        Faults faults{.shortRead = shorts, .mergedRead = merges};
        World world(1, faults);
        SimNetwork network(world);
        std::vector<std::string> reads;
        Process& process = world.start({.name = "p", .main = [&]() -> Future<Void> {
                                            Pair pair = co_await makePair();
                                            co_await pair.client->write("one"_sr);
                                            co_await pair.client->write("two"_sr);
                                            co_await pair.client->write("three"_sr);
                                            pair.client->shutdownWrite();
                                            co_await delay(1);
                                            for (;;) {
                                                Bytes bytes = co_await pair.server->read();
                                                if (bytes.empty())
                                                    break;
                                                reads.push_back(bytes.toString());
                                            }
                                        }});
        world.run(process.onStop());
        CHECK(process.exit() == Error());
        std::string all;
        for (std::string const& each : reads)
            all += each;
        CHECK(all == "onetwothree");
        CHECK((world.faultCounts()[FaultKind::shortRead] > 0) == (shorts > 0));
        CHECK((world.faultCounts()[FaultKind::mergedRead] > 0) == (merges > 0));
        return reads;
    };
    CHECK(readAll(0, 0) == std::vector<std::string>{"one", "two", "three"});
    CHECK(readAll(0, 1) == std::vector<std::string>{"onetwothree"});
    CHECK(readAll(1, 0).size() > 5);
    CHECK(readAll(1, 1).size() > 1);
    Outcome outcome = sendWith({&Faults::shortRead, FaultKind::shortRead}, 50'000); // more than may be unread
    CHECK(outcome.read == outcome.sent);
    CHECK(outcome.written == 50'000);
}

TEST_CASE("session: a connection that is refused") {
    CHECK(sendWith({&Faults::connectionRefused, FaultKind::connectionRefused}, 5).ofConnect == connection_refused());
}

TEST_CASE("session: a connection that is reset fails at both ends") {
    Outcome outcome = sendWith({&Faults::connectionReset, FaultKind::connectionReset}, 5);
    CHECK(outcome.ofWriter == connection_reset());
    CHECK(outcome.ofReader == connection_reset());
    CHECK(outcome.written == 0);
    Outcome later = sendWith({&Faults::connectionReset, FaultKind::connectionReset}, 10'000, 0.01);
    CHECK(later.written > 0);
    CHECK(later.ofReader == connection_reset());
    CHECK(later.sent.starts_with(later.read));
}

TEST_CASE("session: one that is half open says nothing any more") {
    Outcome outcome = sendWith({&Faults::connectionHalfOpen, FaultKind::connectionHalfOpen}, 1'000'000);
    CHECK(outcome.sent.starts_with(outcome.read));
    CHECK(!outcome.read.empty());
    CHECK(outcome.sent.size() <= Connection::kHighWater); // then the writer waits
    CHECK(outcome.sent.size() > outcome.read.size() + 10'000);
    CHECK(!outcome.ofWriter.isValid());
    CHECK(!outcome.ofReader.isValid());
}

TEST_CASE("session: a corrupted message has one wrong bit, in what is read and not in what was written") {
    Outcome outcome = sendWith({&Faults::messageCorruption, FaultKind::messageCorruption}, 100);
    REQUIRE(outcome.read.size() == outcome.sent.size());
    int bits = 0;
    for (std::size_t i = 0; i < outcome.read.size(); ++i)
        bits += std::popcount(static_cast<unsigned char>(outcome.read[i] ^ outcome.sent[i]));
    CHECK(bits == 100);
    Bytes shared = "unharmed"_sr;
    Faults faults;
    faults.messageCorruption = 1;
    World world(1, faults);
    SimNetwork network(world);
    Process& process = world.start({.name = "p", .main = [&]() -> Future<Void> {
                                        Pair pair = co_await makePair();
                                        co_await pair.client->write(shared);
                                        std::string read = co_await readAtLeast(pair.server, 8);
                                        CHECK(read != "unharmed");
                                    }});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
    CHECK(shared == "unharmed"_sr);
}

TEST_CASE("session: it can be cancelled at every point, and leaves nothing behind") {
    auto serve = []() -> Future<Void> {
        Reference<Listener> listener = transport().listen(1);
        for (;;) {
            Reference<Connection> connection = co_await listener->accept();
            ErrorOr<std::string> asked = co_await tryGet(readAtLeast(connection, 4));
            if (!asked.isError())
                (void)co_await tryGet(connection->write(makeString(200'000)));
        }
    };
    auto ask = [](Address to, bool* done) -> Future<Void> {
        Reference<Connection> connection = co_await transport().connect(to);
        co_await connection->write("ab"_sr);
        co_await connection->write("cd"_sr);
        std::string answer = co_await readAtLeast(connection, 200'000);
        connection->shutdownWrite();
        Bytes end = co_await connection->read();
        *done = end.empty();
    };
    World world(1);
    SimNetwork network(world, {.latency = 0.01, .jitter = 0.01, .bandwidth = 1e6});
    Process& server = world.start({.name = "server", .main = serve});
    int completed = 0;
    auto client = [&]() -> Future<Void> {
        for (int step = 0; step < 300; ++step) {
            bool done = false;
            Future<Void> dialogue = ask(Address(server.address(), 1), &done);
            for (int k = 0; k < step; ++k)
                co_await delay(0.001);
            if (step % 2)
                dialogue.cancel();
            dialogue = Future<Void>();
            co_await delay(0.5); // what was on its way has come
            CHECK(network.openEnds() == 0);
            completed += done;
        }
    };
    Process& process = world.start({.name = "client", .main = client});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
    CHECK(completed > 10);
    CHECK(completed < 290);
    world.run(delay(1));
    CHECK(network.openEnds() == 0);
    CHECK(world.leakedCells() == 0);
}

TEST_CASE("session: its ends are killed at every point") {
    for (bool powerLost : {false, true})
        for (int victim : {0, 1})
            for (int step = 0; step < 60; ++step) {
                Outcome outcome;
                World world(1);
                SimNetwork network(world, {.latency = 0.01, .jitter = 0.01, .bandwidth = 1e5});
                Process& server = world.start({.name = "server", .main = [&] { return receiveAll(&outcome); }});
                world.start(
                    {.name = "client", .main = [&] { return sendAll(&outcome, Address(server.address(), 1), 2000); }});
                world.run(delay(0.003 * step));
                Process& dead = *world.processes()[static_cast<std::size_t>(victim)];
                world.reboot(dead, 1, powerLost);
                world.run(delay(20));
                CHECK(outcome.sent.starts_with(outcome.read.substr(0, outcome.sent.size())));
                world.kill(*world.processes()[0]);
                world.kill(*world.processes()[1]);
                CHECK(network.openEnds() == 0);
                CHECK(world.leakedCells() == 0);
            }
}

TEST_CASE("session: a process that runs out of memory anywhere leaves the network whole") {
    std::uint64_t failures = 0;
    for (int n = 0; n < 60; ++n) {
        World world(1);
        SimNetwork network(world);
        auto main = [&]() -> Future<Void> {
            world.failAllocation(*world.current(), n);
            ErrorOr<Pair> pair = co_await tryGet(makePair());
            if (pair.isError())
                co_return;
            Future<Void> written = pair.get().client->write(makeString(100'000));
            co_await readAtLeast(pair.get().server, 100'000);
            co_await written;
            Reference<DatagramSocket> socket = transport().bind(Address());
            co_await socket->send(socket->localAddress(), "text"_sr);
            (void)co_await tryGet(socket->receive());
        };
        Process& process = world.start({.name = "p", .main = main});
        world.run(delay(20));
        failures += world.faultCounts()[FaultKind::allocationFailure];
        CHECK(!process.isRunning());
        CHECK(network.openEnds() == 0);
        CHECK(world.leakedCells() == 0);
    }
    CHECK(failures > 8);
    CHECK(failures < 60); // the last of them had nothing to fail
}

namespace {

Future<Void> readFromWhoConnects() {
    Reference<Listener> listener = transport().listen(1);
    Reference<Connection> connection = co_await listener->accept();
    (void)co_await connection->read();
}

Future<Void> connectAndRead(Address to) {
    Reference<Connection> connection = co_await transport().connect(to);
    (void)co_await connection->read();
}

Future<Void> fill(Address to) {
    Reference<Connection> connection = co_await transport().connect(to);
    for (;;)
        co_await connection->write(StringRef(std::string(65536, 'x')));
}

Future<Void> acceptAndReceive() {
    Reference<Listener> listener = transport().listen(2);
    Reference<DatagramSocket> socket = transport().bind(Address(0, 3));
    co_await (success(keep(listener->accept())) && success(keep(socket->receive())));
}

} // namespace

TEST_CASE("session: the wait graph of a simulation that hangs") {
    World world(1);
    SimNetwork network(world);
    Address server;
    world.start({.name = "server", .main = readFromWhoConnects});
    server = Address(world.processes()[0]->address(), 1);
    world.start({.name = "client", .main = [&] { return connectAndRead(server); }});
    world.start({.name = "listener", .main = acceptAndReceive});
    Process& writer =
        world.add({.name = "writer", .main = [&] { return fill(Address(world.processes()[2]->address(), 2)); }});
    world.start(writer);
    Promise<Void> end;
    CHECK_THROWS_AS((void)world.run(end.getFuture()), Error);
    std::string report = world.waitGraph();
    INFO(report);
    CHECK(report.find("readFromWhoConnects waits for bytes from client at ") != std::string::npos);
    CHECK(report.find("connectAndRead waits for bytes from server at " + server.toString()) != std::string::npos);
    CHECK(report.find("a datagram to") != std::string::npos);
    CHECK(report.find("fill waits for listener at ") != std::string::npos);
    CHECK(report.find(":resume") == std::string::npos);
    CHECK(report.find("it runs") == std::string::npos);
}
