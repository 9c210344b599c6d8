// Requests between processes over TLS, as net/docs/rpc.md describes it.
#include "flow/coro/coroutine.h"
#include "flow/memory/object.h"
#include "net/rpc/rpc.h"
#include "net/tls/tls_listener.h"
#include "net/transport.h"
#include "tests/net/tls/tls_support.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

struct Echo {
    constexpr static FileIdentifier file_identifier = 311;
    std::string text;
    ReplyPromise<std::string> reply;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, text, reply);
    }
};

constexpr int kEcho = WLTOKEN_FIRST_AVAILABLE;

Future<Reference<Connection>> connectTls(Address to, Reference<TlsContext> context) {
    Reference<TlsConnection> connection = co_await tlsConnect(to, "localhost", std::move(context));
    co_return connection;
}

RpcOptions overTls(Reference<TlsContext>& client) {
    RpcOptions options;
    options.hasChecksums = false;
    options.connect = [&client](Address const& to) { return connectTls(to, client); };
    options.listen = [server = TlsContext::server(serverOptions())](Address const& at) {
        return Reference<Listener>(makeReference<TlsListener>(net::transport().listen(at, {}), server));
    };
    return options;
}

/// A process that answers, and asks itself over a connection.
struct Stage {
    explicit Stage(RpcOptions options) : node(std::move(options)) {
        listening = node.bind(Address(), Address(0x7F000001, 0));
        at = Address(0x7F000001, node.getLocalAddress().port());
        echo.makeWellKnownEndpoint(kEcho, TaskPriority::DefaultEndpoint);
        answering = [](RequestStream<Echo> asked) -> Future<Void> {
            for (;;) {
                Echo one = co_await asked.getFuture();
                one.reply.send(one.text);
            }
        }(echo);
        remote = RequestStream<Echo>(Endpoint::wellKnown({at, {}}, kEcho));
    }
    static Echo saying(std::string text) {
        Echo one;
        one.text = std::move(text);
        return one;
    }

    rpc::Node node;
    Future<Void> listening, answering;
    Address at;
    RequestStream<Echo> echo, remote;
};

} // namespace

TEST_CASE("rpc tls: requests and replies, short ones and long ones, many at a time") {
    onBothNetworks([]() -> Future<Void> {
        Reference<TlsContext> client = TlsContext::client(clientOptions());
        Stage stage(overTls(client));
        for (std::size_t size : {0u, 1u, 20'000u, 3'000'000u}) {
            std::string text(size, 'x');
            CHECK(co_await stage.remote.getReply(Stage::saying(text)) == text);
        }
        std::vector<Future<std::string>> all;
        for (int i = 0; i < 500; ++i)
            all.push_back(stage.remote.getReply(Stage::saying(std::to_string(i))));
        for (int i = 0; i < 500; ++i)
            CHECK(co_await std::move(all[static_cast<std::size_t>(i)]) == std::to_string(i));
        CHECK(stage.node.counters().connected == 1);
        CHECK(stage.node.counters().accepted == 1);
    });
}

TEST_CASE("rpc tls: no request reaches a server that the client does not trust; one that waits does when it is") {
    onBothNetworks([]() -> Future<Void> {
        TlsClientOptions distrustful = clientOptions();
        distrustful.authorities = certificate("strangers");
        Reference<TlsContext> client = TlsContext::client(distrustful);
        Stage stage(overTls(client));
        Future<std::string> waiting = stage.remote.getReply(Stage::saying("patient"));
        ErrorOr<std::string> refused = co_await stage.remote.tryGetReply(Stage::saying("secret"));
        CHECK(refused.isError(error_code_request_maybe_delivered));
        CHECK(stage.node.failureMonitor().getState(stage.at).isFailed());
        CHECK(stage.node.counters().framesReceived == 0);
        CHECK(!waiting.isReady());
        client = TlsContext::client(clientOptions());
        CHECK(co_await std::move(waiting) == "patient");
        CHECK(stage.node.failureMonitor().getState(stage.at).isAvailable());
    });
}

TEST_CASE("rpc tls: a client without TLS gets an error, and others are served") {
    onBothNetworks([]() -> Future<Void> {
        Reference<TlsContext> client = TlsContext::client(clientOptions());
        RpcOptions options = overTls(client);
        bool isPlain = true;
        options.connect = [&](Address const& to) {
            return isPlain ? net::transport().connect(to, {}) : connectTls(to, client);
        };
        Stage stage(options);
        ErrorOr<std::string> plain = co_await stage.remote.tryGetReply(Stage::saying("in the clear"));
        CHECK(plain.isError(error_code_request_maybe_delivered));
        CHECK(stage.node.counters().accepted == 0);
        isPlain = false;
        CHECK(co_await stage.remote.getReply(Stage::saying("hello")) == "hello");
    });
}
