#include "net/message/endpoint.h"

#include "flow/base/error.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;

TEST_CASE("endpoint: texts are read, and written the same") {
    for (char const* text : {"tcp://127.0.0.1:5555", "tcp://[::1]:5555", "ipc:///run/service", "ipc://@name"})
        CHECK(endpointText(parseEndpoint(text, EndpointUse::Connect)) == text);
    CHECK(endpointText(parseEndpoint("tcp://*:5555", EndpointUse::Bind)) == "tcp://0.0.0.0:5555");
    CHECK(parseEndpoint("tcp://127.0.0.1:*", EndpointUse::Bind).port() == 0);
}

TEST_CASE("endpoint: what is none is refused") {
    for (char const* text : {"", "tcp", "tcp://", "tcp://host:1", "tcp://127.0.0.1", "tcp://127.0.0.1:70000",
                             "tcp://unix:/x", "udp://127.0.0.1:1", "ipc://", "inproc://x", "tcp://*:1"})
        CHECK_THROWS_AS((void)parseEndpoint(text, EndpointUse::Connect), Error);
    CHECK_THROWS_AS((void)parseEndpoint("tcp://127.0.0.1:0", EndpointUse::Connect), Error);
}
