#include "net/message/message_endpoint.h"

#include "flow/base/error.h"

#include <doctest/doctest.h>

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
