#include "net/tls/tls_listener.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/trace/sink.h"
#include "flow/wait/delay.h"
#include "net/real/hand_over.h"
#include "net/serve.h"
#include "tests/net/tls/tls_support.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <unistd.h>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

Reference<TlsListener> listenWith(TlsServerOptions const& options, TlsListener::Limits limits = {100, 10}) {
    return makeReference<TlsListener>(transport().listen(transport().localAddress()), TlsContext::server(options),
                                      limits);
}

} // namespace

TEST_CASE("tls listener: it and its connections do not move to another process; the listener below it does") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Reference<Listener> carrier = transport().listen(Address(0x7F000001, 0));
        auto listener = makeReference<TlsListener>(carrier, TlsContext::server(serverOptions()));
        Address path = Address::unixAbstract("millrace-tls-" + std::to_string(::getpid()));
        Reference<Listener> paths = transport().listen(path);
        Reference<Connection> channel = co_await transport().connect(path);
        Reference<Connection> other = co_await paths->accept();
        std::string why;
        try {
            (void)sendListener(channel, listener);
        } catch (Error& error) {
            why = error.what();
        }
        CHECK(why == "sendListener(): a listener with TLS, or of a simulation, cannot be sent");
        Reference<TlsContext> context = TlsContext::client(clientOptions());
        Future<Reference<Connection>> accepting = keep(listener->accept());
        Reference<TlsConnection> client = co_await tlsConnect(listener->localAddress(), "localhost", context);
        Reference<Connection> server = co_await std::move(accepting);
        try {
            DetachedConnection detached(server);
        } catch (Error& error) {
            why = error.what();
        }
        CHECK(why == "DetachedConnection: a connection with TLS, or of a simulation, cannot be moved");
        co_await sendListener(channel, carrier);
        HandedOver handed = co_await receiveHandedOver(other);
        CHECK(handed.isListener());
    };
    loop.run(test());
}

TEST_CASE("tls listener: serves as any listener does") {
    onBothNetworks([]() -> Future<Void> {
        Reference<TlsListener> listener = listenWith(serverOptions());
        Address at = listener->localAddress();
        Promise<Void> stop;
        Future<Void> serving = serveUntil(listener, echoOnce, stop.getFuture(), 1);
        Reference<TlsContext> context = TlsContext::client(clientOptions());
        for (int i = 0; i < 3; ++i) {
            Reference<TlsConnection> client = co_await tlsConnect(at, "localhost", context);
            CHECK(client->wasResumed() == (i > 0));
            co_await askTimes(client, 10);
            client->shutdownWrite();
            std::string rest = co_await readAll(client);
            CHECK(rest.empty());
        }
        stop.send(Void());
        co_await serving;
        Error refused = co_await endOf(tlsConnect(at, "localhost", context));
        CHECK(refused == connection_refused());
    });
}

TEST_CASE("tls listener: a client that is slow, silent or sends garbage delays no other, and is disconnected") {
    onBothNetworks([]() -> Future<Void> {
        TlsServerOptions options = serverOptions();
        options.handshakeTimeout = 0.5;
        Reference<TlsListener> listener = listenWith(options);
        std::vector<std::string> seen;
        listener->onFailure([&seen](Address const&, Error error, std::string const& why) {
            seen.push_back(std::string(error.name()) + ": " + why);
        });
        Address at = listener->localAddress();
        std::vector<Reference<Connection>> silent;
        for (int i = 0; i < 20; ++i)
            silent.push_back(co_await transport().connect(at));
        Reference<Connection> garbage = co_await transport().connect(at);
        co_await garbage->write("\x01\x02\x03 this is no TLS"_sr);
        Reference<Connection> http = co_await transport().connect(at);
        co_await http->write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"_sr);
        Reference<Connection> gone = co_await transport().connect(at);
        gone->shutdownWrite();
        Future<Reference<TlsConnection>> connecting = tlsConnect(at, "localhost", TlsContext::client(clientOptions()));
        Reference<Connection> server = co_await listener->accept();
        Reference<TlsConnection> client = co_await connecting;
        Future<Void> echoing = echoOnce(server);
        co_await askTimes(client, 3);
        CHECK(listener->handshakes() >= 20);
        Error ofHttp = co_await endOf(readAll(http));
        CHECK((ofHttp == Error() || isConnectionError(ofHttp)));
        co_await delay(1);
        CHECK(listener->handshakes() == 0);
        CHECK(listener->failures() == 23);
        CHECK(std::count_if(seen.begin(), seen.end(), [](std::string const& each) {
                  return each.starts_with("connection_timed_out: the handshake took too long (");
              }) == 20);
        auto hasSeen = [&seen](std::string const& beginning) {
            return std::any_of(seen.begin(), seen.end(),
                               [&](std::string& each) { return each.starts_with(beginning); });
        };
        CHECK(hasSeen("tls_protocol_error: wrong version number"));
        CHECK(hasSeen("tls_protocol_error: http request"));
        CHECK(hasSeen("connection_cut_off: "));
        co_await askTimes(client, 3);
    });
}

TEST_CASE("tls listener: when too many handshakes are under way the oldest is cancelled") {
    onBothNetworks([]() -> Future<Void> {
        Reference<TlsListener> listener = listenWith(serverOptions(), {5, 5});
        Address at = listener->localAddress();
        std::vector<Reference<Connection>> silent;
        for (int i = 0; i < 8; ++i) {
            silent.push_back(co_await transport().connect(at));
            co_await delay(0.05);
            CHECK(listener->handshakes() == std::size_t(std::min(i + 1, 5)));
        }
        for (int i = 0; i < 3; ++i) {
            Error given = co_await endOf(keep(silent[static_cast<std::size_t>(i)]->read()));
            CHECK(given == connection_reset());
        }
        CHECK(listener->failures() == 3);
        Future<Reference<TlsConnection>> connecting = tlsConnect(at, "localhost", TlsContext::client(clientOptions()));
        Reference<Connection> server = co_await listener->accept();
        co_await connecting;
        CHECK(listener->handshakes() == 4);
        CHECK(listener->failures() == 4);
    });
}

TEST_CASE("tls listener: another certificate for later clients") {
    onBothNetworks([]() -> Future<Void> {
        Reference<TlsListener> listener = listenWith(serverOptions());
        Future<Void> serving = serveUntil(listener, echoOnce, Never(), 1);
        Address at = listener->localAddress();
        Reference<TlsContext> context = TlsContext::client(clientOptions());
        Reference<TlsConnection> before = co_await tlsConnect(at, "localhost", context);
        co_await askTimes(before, 1);
        TlsServerOptions options;
        options.identities = {identity("other")};
        listener->setContext(TlsContext::server(options));
        Error wrong = co_await endOf(tlsConnect(at, "localhost", context));
        CHECK(wrong == tls_wrong_name());
        Reference<TlsConnection> after = co_await tlsConnect(at, "other.example.org", context);
        CHECK(after->peerSubject() == "CN=other,O=Millrace tests");
        co_await askTimes(after, 1);
        co_await askTimes(before, 1);
    });
}

TEST_CASE("tls listener: further clients wait while nothing accepts, and a close ends all") {
    onBothNetworks([]() -> Future<Void> {
        Reference<TlsListener> listener = listenWith(serverOptions(), {10, 4});
        Reference<TlsContext> context = TlsContext::client(clientOptions());
        std::vector<Reference<TlsConnection>> clients;
        for (int i = 0; i < 5; ++i) // one is on its way in when the fourth is ready
            clients.push_back(co_await tlsConnect(listener->localAddress(), "localhost", context));
        Future<Reference<TlsConnection>> last = tlsConnect(listener->localAddress(), "localhost", context);
        co_await delay(0.3);
        CHECK(!last.isReady());
        Reference<Connection> one = co_await listener->accept();
        Reference<Connection> two = co_await listener->accept();
        clients.push_back(co_await last);
        listener->close();
        listener->close();
        Error closed = co_await endOf(keep(listener->accept()));
        CHECK(closed == operation_obsolete());
        Error reset = co_await endOf(readAll(clients.back()));
        CHECK(isConnectionError(reset));
        co_await one->write("still"_sr);
        Bytes still = co_await clients.front()->readExactly(5);
        CHECK(still == "still"_sr);
    });
}

TEST_CASE("tls listener: handshakes are trace events") {
    onBothNetworks([]() -> Future<Void> {
        TraceMemory trace("off,net/tls=debug");
        Reference<TlsListener> listener = listenWith(serverOptions());
        Address at = listener->localAddress();
        Reference<TlsContext> context = TlsContext::client(clientOptions());
        Reference<TlsConnection> client = co_await tlsConnect(at, "localhost", context);
        Reference<Connection> server = co_await listener->accept();
        REQUIRE(trace.lines().size() == 2); // one on each side
        for (std::string const& line : trace.lines())
            CHECK(line.find(R"("Area":"net/tls")") != std::string::npos);
        CHECK(trace.lines()[0].find(R"("Type":"TlsHandshake","Peer":")") != std::string::npos);
        trace.clear();
        Reference<Connection> rude = co_await transport().connect(at);
        co_await rude->write("no handshake at all\r\n"_sr);
        (void)co_await endOf(readAll(rude));
        REQUIRE(trace.lines().size() == 1);
        CHECK(trace.lines()[0].find(R"("Type":"TlsHandshakeFailed","Peer":")") != std::string::npos);
        CHECK(trace.lines()[0].find(R"(,"Why":")") != std::string::npos);
    });
}
