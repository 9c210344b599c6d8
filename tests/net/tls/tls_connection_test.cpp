#include "net/tls/detail/tls_connection.h"

#include "flow/combine/all.h"
#include "flow/combine/errors.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/standalone.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/real/real_network.h"
#include "net/sim/sim_network.h"
#include "net/tls/tls_listener.h"
#include "net/transport.h"
#include "tests/flow/support/death.h"
#include "tests/net/ahead_transport.h"
#include "tests/net/tls/tls_support.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <span>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

Future<Reference<Connection>> asConnection(Future<Reference<TlsConnection>> made) {
    Reference<TlsConnection> connection = co_await made;
    co_return Reference<Connection>(connection);
}

/// The transport that a loop has, with TLS in each connection.
class TlsTransport final : public Transport {
public:
    TlsTransport() : plain_(transport()) { Loop::current().provide<Transport>(this); }
    ~TlsTransport() { Loop::current().provide<Transport>(&plain_); }

    Future<Reference<Connection>> connect(Address to, ConnectOptions const& options) override {
        // Through the transport beneath, and as tlsConnect() does then.
        return asConnection(overPlain(plain_.connect(to, options)));
    }
    Reference<Listener> listen(Address at, ListenOptions const& options) override {
        return makeReference<TlsListener>(plain_.listen(at, options), server_);
    }
    Reference<DatagramSocket> bind(Address at, DatagramOptions const& options) override {
        return plain_.bind(at, options);
    }
    Address localAddress() const override { return plain_.localAddress(); }
    Resolver& resolver() override { return plain_.resolver(); }

private:
    Future<Reference<TlsConnection>> overPlain(Future<Reference<Connection>> connecting) {
        Reference<Connection> carrier = co_await connecting;
        co_return co_await tlsClient(carrier, client_, "localhost");
    }

    Transport& plain_;
    Reference<TlsContext> client_ = TlsContext::client(clientOptions());
    Reference<TlsContext> server_ = TlsContext::server(serverOptions());
};

Future<Void> runWithTls(Future<Void> (*run)()) {
    TlsTransport tls;
    co_await run();
}

Bytes numbered(int size) {
    Bytes bytes = makeString(size);
    for (int i = 0; i < size; ++i)
        mutateString(bytes)[i] = static_cast<std::uint8_t>(i * 31 + i / 4096);
    return bytes;
}

/// Changes a text in one of many ways, each of which can happen to a stream of records. False: the rest is to be cut
/// off.
bool spoil(std::string& text, std::size_t at, DeterministicRandom& random) {
    auto some = static_cast<std::size_t>(random.randomInt(1, 40));
    switch (random.randomInt(0, 6)) {
    case 0:
        text[at] = static_cast<char>(text[at] ^ 1 << random.randomInt(0, 8));
        return true;
    case 1:
        text.insert(at, some, static_cast<char>(random.randomInt(0, 256)));
        return true;
    case 2:
        text.erase(at, some);
        return true;
    case 3: // the beginning of a record, of any kind and length
        text.replace(at, 5,
                     {static_cast<char>(random.randomInt(19, 26)), 3, static_cast<char>(random.randomInt(0, 5)),
                      static_cast<char>(random.randomInt(0, 256)), static_cast<char>(random.randomInt(0, 256))});
        return true;
    case 4:
        text += text.substr(at);
        return true;
    default:
        text.resize(at);
        return false;
    }
}

Future<Void> passOnUnlessItFails(Reference<Connection> from, Reference<Connection> to, int* at,
                                 DeterministicRandom* random) {
    bool goesOn = true;
    while (goesOn) {
        Bytes bytes = co_await from->read();
        if (bytes.empty())
            break;
        std::string text = bytes.toString();
        int before = *at;
        *at -= bytes.size();
        if (before >= 0 && *at < 0)
            goesOn = spoil(text, static_cast<std::size_t>(before), *random);
        if (!text.empty())
            co_await to->write(StringRef(text));
    }
    to->shutdownWrite();
}

/// Passes bytes on, and spoils those at the position `*at`.
Future<Void> passOn(Reference<Connection> from, Reference<Connection> to, int* at, DeterministicRandom* random) {
    Error error = co_await endOf(passOnUnlessItFails(from, to, at, random));
    if (!error.isValid())
        co_return;
    from->abort();
    to->abort();
}

Future<Void> serveSpoiled(Reference<Connection> plain, Reference<TlsContext> context) {
    Reference<Connection> server = co_await tlsServer(plain, context);
    co_await echoOnce(server);
}

Future<Void> askSpoiled(Reference<Connection> plain, Reference<TlsContext> context) {
    Reference<Connection> client = co_await tlsClient(plain, context, "localhost");
    co_await askTimes(client, 3);
    Bytes much = numbered(20'000);
    co_await client->write(much);
    Bytes back = co_await client->readExactly(20'000);
    CHECK(back == much);
    client->shutdownWrite();
    co_await readAll(client);
}

bool isExpected(Error const& error) {
    return !error.isValid() || isConnectionError(error) || error == end_of_stream() || error == operation_obsolete();
}

} // namespace

TEST_CASE("tls connection: it does what every connection does, on both networks") {
    bool isFirstRun = !std::getenv("FLOW_POLLER");
    for (TransportCase const& each : transportCases()) {
        INFO(std::string(each.name));
        {
            RealLoop loop;
            CHECK(std::string(loop.run(endOf(runWithTls(each.run))).name()) == "unset");
        }
        if (ChosenPoller chosen("uring"); isFirstRun && canReceiveAhead()) {
            RealLoop loop;
            RealNetwork network(loop);
            AheadTransport ahead;
            CHECK(std::string(loop.run(endOf(runWithTls(each.run))).name()) == "unset");
        }
        World world(1);
        SimNetwork network(world);
        Process& process = world.start({.name = "p", .main = [&each] { return runWithTls(each.run); }});
        world.run(process.onStop());
        CHECK(process.exit() == Error());
        world.run(success(delay(60)));
        CHECK(network.openEnds() == 0);
        CHECK(world.leakedCells() == 0);
    }
}

TEST_CASE("tls connection: both sides see what they have agreed upon") {
    onBothNetworks([]() -> Future<Void> {
        Met met = co_await meet();
        CHECK(met.client->version() == "TLSv1.3");
        CHECK(met.server->version() == "TLSv1.3");
        CHECK(met.client->cipher() == met.server->cipher());
        CHECK(met.client->peerSubject() == "CN=server,O=Millrace tests");
        CHECK(met.server->peerSubject() == "");
        CHECK(met.server->serverName() == "localhost");
        CHECK(met.client->protocol() == "");
        CHECK_FALSE(met.client->wasResumed());
        CHECK(TlsConnection::of(*met.client) == met.client.getPtr());
        Pair plain = co_await makePair();
        CHECK(TlsConnection::of(*plain.client) == nullptr);
        co_await met.client->write("ping"_sr);
        Bytes ping = co_await met.server->readExactly(4);
        CHECK(ping == "ping"_sr);
    });
}

TEST_CASE("tls connection: ten megabytes there and back, whole and in order, with both versions") {
    onBothNetworks([]() -> Future<Void> {
        TlsClientOptions options = clientOptions();
        for (TlsVersion version : {TlsVersion::Tls12, TlsVersion::Tls13}) {
            options.maximum = version;
            Met met = co_await meet(options, serverOptions());
            CHECK(met.client->version() == (version == TlsVersion::Tls12 ? "TLSv1.2" : "TLSv1.3"));
            Future<Void> echoing = echoOnce(met.server);
            Bytes much = numbered(10 << 20);
            Future<Void> writing = met.client->write(much);
            CHECK(!writing.isReady());
            Bytes back = co_await met.client->readExactly(10 << 20);
            CHECK(back == much);
            co_await writing;
            met.client->shutdownWrite();
            co_await echoing;
        }
    });
}

TEST_CASE("tls connection: an end that the other side has not announced is no clean end, and loses nothing") {
    onBothNetworks([]() -> Future<Void> {
        Pair pair = co_await makePair();
        Reference<TlsContext> client = TlsContext::client(clientOptions());
        Future<Reference<TlsConnection>> connecting = tlsClient(pair.client, client, "localhost");
        Reference<TlsConnection> server = co_await tlsServer(pair.server, TlsContext::server(serverOptions()));
        Reference<TlsConnection> other = co_await connecting;
        co_await other->write("abc"_sr);
        co_await delay(0.05);
        pair.client->shutdownWrite(); // beneath TLS
        Error early = co_await endOf(keep(server->readExactly(4)));
        CHECK(early == connection_cut_off());
        Bytes rest = co_await server->read();
        CHECK(rest == "abc"_sr);
        Error end = co_await endOf(keep(server->read()));
        CHECK(end == connection_cut_off());
        CHECK(server->why() == "the other side has ended the connection without saying so");
        Error again = co_await endOf(keep(server->readUntil("x"_sr, 10)));
        CHECK(again == connection_cut_off());
        co_await server->write("heard"_sr);
        Bytes heard = co_await other->readExactly(5);
        CHECK(heard == "heard"_sr);
        other->abort(); // it could not announce its end any more
    });
}

TEST_CASE("tls connection: a changed byte is found, and the other side learns of it") {
    onBothNetworks([]() -> Future<Void> {
        Pair pair = co_await makePair();
        Reference<TlsContext> context = TlsContext::client(clientOptions());
        Future<Reference<TlsConnection>> connecting = tlsClient(pair.client, context, "localhost");
        Reference<TlsConnection> server = co_await tlsServer(pair.server, TlsContext::server(serverOptions()));
        Reference<TlsConnection> client = co_await connecting;
        Future<Bytes> pending = keep(client->read());
        std::string record("\x17\x03\x03\x00\x20", 5);
        co_await pair.client->write(StringRef(record + std::string(32, 'x')));
        Error error = co_await endOf(keep(server->read()));
        CHECK(error == tls_protocol_error());
        CHECK(server->why().starts_with("decryption failed or bad record mac"));
        Error ofWrite = co_await endOf(Future<Void>(server->write("x"_sr)));
        CHECK(ofWrite == tls_protocol_error());
        Error alert = co_await endOf(pending);
        CHECK(alert == tls_protocol_error());
        CHECK(client->why().starts_with("the other side has refused: "));
    });
}

TEST_CASE("tls connection: small pieces of one write share a record") {
    onBothNetworks([]() -> Future<Void> {
        Met met = co_await meet();
        std::string expected;
        std::vector<Bytes> pieces;
        for (int i = 0; i < 100; ++i) {
            pieces.push_back(numbered(i * 17));
            expected += pieces.back().toString();
        }
        pieces.push_back(numbered(20'000));
        expected += pieces.back().toString();
        Future<Void> written = met.client->write(pieces);
        Bytes all = co_await met.server->readExactly(static_cast<std::uint32_t>(expected.size()));
        CHECK(all == StringRef(expected));
        co_await written;
        std::vector<Bytes> ten(10, Bytes("0123456789"_sr));
        co_await met.server->write(ten);
        Bytes together = co_await met.client->read();
        CHECK(together.size() == 100);
    });
}

TEST_CASE("tls connection: TLS within TLS") {
    onBothNetworks([]() -> Future<Void> {
        Met outer = co_await meet();
        Reference<TlsContext> client = TlsContext::client(clientOptions());
        Future<Reference<TlsConnection>> connecting = tlsClient(outer.client, client, "example.org");
        Reference<TlsConnection> server = co_await tlsServer(outer.server, TlsContext::server(serverOptions()));
        Reference<TlsConnection> inner = co_await connecting;
        Future<Void> echoing = echoOnce(server);
        Bytes much = numbered(1 << 20);
        Future<Void> writing = inner->write(much);
        Bytes back = co_await inner->readExactly(1 << 20);
        CHECK(back == much);
        co_await writing;
        inner->shutdownWrite();
        Bytes end = co_await server->read();
        CHECK(end.empty());
    });
}

TEST_CASE("tls connection: an empty write sends nothing, and an end may follow at once") {
    onBothNetworks([]() -> Future<Void> {
        Met met = co_await meet();
        co_await met.server->write(Bytes());
        met.server->shutdownWrite();
        Bytes end = co_await met.client->read();
        CHECK(end.empty());
        CHECK(met.client->why() == "");
    });
}

TEST_CASE("tls connection: cancels in the middle of anything leave nothing behind") {
    onBothNetworks([]() -> Future<Void> {
        Reference<TlsContext> client = TlsContext::client(clientOptions());
        Reference<TlsContext> server = TlsContext::server(serverOptions());
        for (int step = 0; step < 12; ++step) {
            Pair pair = co_await makePair();
            Future<Reference<TlsConnection>> atClient = tlsClient(std::move(pair.client), client, "localhost");
            Future<Reference<TlsConnection>> atServer = tlsServer(std::move(pair.server), server);
            for (int turn = 0; turn < step && !atServer.isReady(); ++turn)
                co_await delay(turn % 3 ? 0 : 0.0002);
            atClient = Future<Reference<TlsConnection>>();
            ErrorOr<Reference<TlsConnection>> end = co_await tryGet(atServer);
            if (end.isError()) {
                CHECK(isConnectionError(end.getError()));
                continue;
            }
            (void)end.get()->write(numbered(1 << 20)); // to no reader
            Error ofRead = co_await endOf(keep(end.get()->readExactly(1)));
            CHECK(ofRead.isValid());
        }
        Met met = co_await meet();
        for (int i = 0; i < 20; ++i) {
            Future<Bytes> dropped = keep(met.server->readExactly(5));
            Future<Void> alsoDropped = met.client->write("abc"_sr);
            if (i % 2)
                co_await delay(0.001);
            dropped = Future<Bytes>();
            alsoDropped = Future<Void>();
            Bytes three = co_await met.server->readExactly(3);
            CHECK(three == "abc"_sr);
        }
    });
}

TEST_CASE("tls connection: a handshake that the other side does not finish fails at its deadline") {
    onBothNetworks([]() -> Future<Void> {
        TlsServerOptions options = serverOptions();
        options.handshakeTimeout = 0.2;
        TlsClientOptions atClient = clientOptions();
        atClient.handshakeTimeout = 0.2;
        Pair pair = co_await makePair();
        co_await pair.client->write("\x16\x03"_sr);
        Error ofServer = co_await endOf(tlsServer(pair.server, TlsContext::server(options)));
        CHECK(ofServer == connection_timed_out());
        CHECK(ofServer.what() == std::string(lastTlsError()));
        CHECK(std::string(lastTlsError()).starts_with("the handshake took too long ("));
        Pair other = co_await makePair();
        Error ofClient = co_await endOf(tlsClient(other.client, TlsContext::client(atClient), "localhost"));
        CHECK(ofClient == connection_timed_out());
    });
}

TEST_CASE("tls connection: handlers") {
    onBothNetworks([]() -> Future<Void> {
        Met met = co_await meet();
        Promise<Void> done;
        char buffer[4];
        HandlerSlot slot;
        Promise<Void>* signal = &done;
        call(met.server->readExactly(buffer), slot, [signal](Error error, std::size_t bytes) {
            CHECK(!error.isValid());
            CHECK(bytes == 4);
            signal->send(Void());
        });
        met.client->asyncWrite("four"_sr, [](Error error) { CHECK(!error.isValid()); });
        co_await done.getFuture();
        CHECK(std::string(buffer, 4) == "four");
    });
}

namespace {

/// When what has happened, and how it has ended.
Future<Void> talkThrough(std::string* trace) {
    TlsServerOptions options = serverOptions();
    options.tickets = 0;
    Reference<TlsContext> client = TlsContext::client(clientOptions());
    Reference<TlsContext> server = TlsContext::server(options);
    auto note = [trace](int code) { *trace += std::to_string(code) + " at " + std::to_string(now()) + "\n"; };
    for (int i = 0; i < 5; ++i) {
        Met met = co_await meet(client, server);
        note(met.ofClient.code());
        if (met.ofClient.isValid() || met.ofServer.isValid())
            continue;
        Future<Void> echoing = success(errorOr(echoOnce(met.server)));
        (void)co_await tryGet(Future<Void>(met.client->write(numbered(50'000))));
        Error end = co_await endOf(keep(met.client->readExactly(50'000)));
        note(end.code());
        co_await delay(deterministicRandom()->random01());
    }
}

std::string traceOf(std::uint64_t seed) {
    Faults faults{.latencySpike = 0.1, .slowLink = 0.5, .connectionReset = 0.01, .shortRead = 0.3, .mergedRead = 0.3};
    World world(seed, faults);
    SimNetwork network(world);
    std::string trace;
    Process& process = world.start({.name = "p", .main = [&trace] { return talkThrough(&trace); }});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
    return trace + std::to_string(network.arrived());
}

} // namespace

TEST_CASE("tls connection: a seed's order of events is the same in each run, though the bytes differ") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
        CHECK(traceOf(seed) == traceOf(seed));
    CHECK(traceOf(1) != traceOf(2));
}

TEST_CASE("tls connection: changed records end a connection with an error, and no changed byte is ever read") {
    World world(1);
    SimNetwork network(world);
    auto test = []() -> Future<Void> {
        TlsServerOptions options = serverOptions();
        Reference<TlsContext> ofServer = TlsContext::server(options), ofClient = TlsContext::client(clientOptions());
        DeterministicRandom random(28);
        int failed = 0;
        for (int i = 0; i < 300; ++i) {
            INFO("case ", i);
            Pair near = co_await makePair(), far = co_await makePair();
            int at = random.randomInt(0, i % 2 ? 3000 : 45'000); // half of them during the handshake
            std::vector<Future<Void>> between;
            between.push_back(passOn(near.server, far.client, &at, &random));
            between.push_back(passOn(far.client, near.server, &at, &random));
            Future<Error> server = endOf(serveSpoiled(std::move(far.server), ofServer));
            Future<Error> client = endOf(askSpoiled(std::move(near.client), ofClient));
            auto first = co_await race(client, delay(100)); // a record that was made longer is waited for
            if (first.index() == 0) {
                CHECK(isExpected(std::get<0>(first)));
                failed += std::get<0>(first).isValid();
            }
            client = Future<Error>();
            auto second = co_await race(server, delay(100));
            REQUIRE(second.index() == 0); // it sees the end of the connection
            CHECK(isExpected(std::get<0>(second)));
        }
        CHECK(failed > 200);
    };
    Process& process = world.start({.name = "p", .main = test});
    world.run(process.onStop());
    CHECK(std::string(process.exit()->name()) == "unset");
    world.run(success(delay(100)));
    CHECK(network.openEnds() == 0);
    CHECK(world.leakedCells() == 0);
}

TEST_CASE("tls connection: the context of the other side names the caller") {
    Reference<TlsContext> client = TlsContext::client(clientOptions());
    Reference<TlsContext> server = TlsContext::server(serverOptions());
    CHECK_NAMES_CALLER((void)tlsClient({}, server, "localhost"));
    CHECK_NAMES_CALLER((void)tlsServer({}, client));
}
