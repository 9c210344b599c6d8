#include "net/tls/message_tls.h"

#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "net/message/message_socket.h"
#include "tests/net/tls/tls_support.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

MessageOptions server() {
    MessageOptions options;
    setTls(options, TlsContext::server(serverOptions()));
    return options;
}

MessageOptions client(TlsClientOptions tls = clientOptions()) {
    MessageOptions options;
    options.reconnectIvl = 0.01;
    setTls(options, TlsContext::client(tls));
    return options;
}

/// The endpoint at which it listens, by the name that is in its certificate.
std::string bindTls(MessageSocket& socket) {
    std::string endpoint = socket.bind("tls://*:*");
    CHECK(endpoint.starts_with("tls://"));
    return "tls://localhost" + endpoint.substr(endpoint.rfind(':'));
}

template <class F>
Error errorOf(F call) {
    try {
        call();
    } catch (Error& error) {
        return error;
    }
    return Error();
}

Future<zmtp::Fault> failure(MessageSocket& socket) {
    FutureStream<MonitorEvent> events = socket.monitor();
    for (;;) {
        MonitorEvent event = co_await events;
        if (event.kind == MonitorEvent::Kind::HandshakeFailed) {
            CHECK(event.endpoint.starts_with("tls://"));
            co_return event.fault;
        }
    }
}

} // namespace

TEST_CASE("message tls: messages go both ways, short ones and long ones") {
    onBothNetworks([]() -> Future<Void> {
        MessageSocket router(SocketType::Router, server()), dealer(SocketType::Dealer, client());
        dealer.connect(bindTls(router));
        for (std::size_t size : {1u, 1000u, 100'000u, 3'000'000u}) {
            std::string text(size, 'x');
            co_await dealer.send(Message(text));
            Message question = co_await router.receive();
            CHECK(question[0] == text);
            co_await router.send(Message::to(question.routingId()).add("got " + std::to_string(size)));
            CHECK((co_await dealer.receive())[0] == "got " + std::to_string(size));
        }
    });
}

TEST_CASE("message tls: a client that does not trust the server is refused, at both sides, and others are served") {
    onBothNetworks([]() -> Future<Void> {
        TlsClientOptions distrustful = clientOptions();
        distrustful.authorities = certificate("strangers");
        MessageSocket pull(SocketType::Pull, server()), bad(SocketType::Push, client(distrustful)),
            good(SocketType::Push, client());
        Future<zmtp::Fault> here = failure(pull), there = failure(bad);
        std::string endpoint = bindTls(pull);
        bad.connect(endpoint);
        CHECK(co_await here == zmtp::Fault::TlsFailed);
        CHECK(co_await there == zmtp::Fault::TlsFailed);
        CHECK(bad.counters().refused >= 1);
        CHECK(bad.counters().connected == 0);
        good.connect(endpoint);
        co_await good.send(Message("hello"));
        CHECK((co_await pull.receive())[0] == "hello");
    });
}

TEST_CASE("message tls: a peer without TLS is refused, and there is no endpoint without it in the options") {
    onBothNetworks([]() -> Future<Void> {
        MessageSocket pull(SocketType::Pull, server()), plain(SocketType::Push);
        Future<zmtp::Fault> here = failure(pull);
        std::string endpoint = bindTls(pull);
        CHECK(errorOf([&] { plain.connect(endpoint); }) == invalid_option_value());
        Error ofBind = errorOf([&] { plain.bind("tls://*:*"); });
        CHECK(ofBind == invalid_option_value());
        CHECK(ofBind.what() ==
              std::string("MessageOptions: encryptListener is not set; setTls() must set it for \"tls://\""));
        plain.connect("tcp" + endpoint.substr(3));
        CHECK(co_await here == zmtp::Fault::TlsFailed);
    });
}
