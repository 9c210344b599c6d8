#include "net/message/message_endpoint.h"

#include "flow/base/error.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::net;

TEST_CASE("endpoint: texts are read, and written the same") {
    for (char const* text : {"tcp://127.0.0.1:5555", "tcp://[::1]:5555", "ipc:///run/service", "ipc://@name",
                             "tcp://example.org:5555", "tcp://a-b.c_d.e1:65535", "tls://[::1]:5", "tls://localhost:5"})
        CHECK(MessageEndpoint::parse(text, EndpointUse::Connect).text() == text);
    CHECK(MessageEndpoint::parse("tcp://*:5555", EndpointUse::Bind).text() == "tcp://0.0.0.0:5555");
    CHECK(MessageEndpoint::parse("tls://127.0.0.1:*", EndpointUse::Bind).text() == "tls://127.0.0.1:0");
    CHECK(MessageEndpoint::parse("tls://[::1]:5", EndpointUse::Connect).host() == "::1");
    CHECK(MessageEndpoint::parse("tls://example.org:5", EndpointUse::Connect).host() == "example.org");
}

TEST_CASE("endpoint: an error names the endpoint and the rule") {
    auto said = [](char const* text, EndpointUse use) {
        try {
            (void)MessageEndpoint::parse(text, use);
            return std::string("accepted");
        } catch (Error const& error) {
            CHECK(error == connection_string_invalid());
            return std::string(error.what());
        }
    };
    constexpr auto kBind = EndpointUse::Bind, kConnect = EndpointUse::Connect;
    CHECK(said("a:1", kConnect) == "the endpoint \"a:1\" is wrong: tcp://, tls://, ipc:// or inproc:// is expected");
    CHECK(said("tcp://host", kConnect) == "the endpoint \"tcp://host\" is wrong: HOST:PORT is expected: a name, an IP "
                                          "address or [an IPv6 address]");
    CHECK(said("tcp://host:5", kBind) ==
          "the endpoint \"tcp://host:5\" is wrong: HOST:PORT is expected: an IP address, "
          "[an IPv6 address] or *, and a port");
    CHECK(said("tcp://host:0", kConnect) ==
          "the endpoint \"tcp://host:0\" is wrong: a port from 1 to 65535 is expected");
    CHECK(said("ipc://", kBind) == "the endpoint \"ipc://\" is wrong: a path or @NAME is expected behind ipc://");
}

TEST_CASE("endpoint: what is none is refused") {
    for (char const* text : {"",
                             "tcp",
                             "tcp://",
                             "tcp://host",
                             "tcp://host:",
                             "tcp://host:0",
                             "tcp://host:70000",
                             "tcp://host:5x",
                             "tcp://:5",
                             "tcp://a..b:5",
                             "tcp://a b:5",
                             "tcp://1.2.3:5",
                             "tcp://127.0.0.1",
                             "tcp://127.0.0.1:70000",
                             "tcp://unix:/x",
                             "tls://unix:/x",
                             "udp://127.0.0.1:1",
                             "ipc://",
                             "inproc://x",
                             "tcp://*:1"})
        CHECK_THROWS_AS((void)MessageEndpoint::parse(text, EndpointUse::Connect), Error);
    CHECK_THROWS_AS((void)MessageEndpoint::parse("tcp://127.0.0.1:0", EndpointUse::Connect), Error);
    CHECK_THROWS_AS((void)MessageEndpoint::parse("tcp://example.org:5", EndpointUse::Bind), Error);
}
