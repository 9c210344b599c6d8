#include "net/real/real_datagrams.h"

#include "flow/flow.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

TEST_CASE("real datagrams: many are sent and received with few system calls") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Reference<DatagramSocket> a = transport().bind(Address(0x7F000001, 0));
        Reference<DatagramSocket> b = transport().bind(Address(0x7F000001, 0));
        std::vector<Datagram> all(64, Datagram{b->localAddress(), "x"_sr});
        co_await a->send(std::span<Datagram>(all));
        for (int i = 0; i < 64; ++i)
            co_await b->receive();
        CHECK(a->counters().writes == 64 / RealDatagramSocket::kBatch);
        CHECK(b->counters().reads <= 64 / RealDatagramSocket::kBatch + 1);
        CHECK(b->counters().bytesRead == 64);
    };
    loop.run(test());
}

TEST_CASE("real datagrams: one that cannot be sent does not hold up the next") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Reference<DatagramSocket> a = transport().bind(Address(0x7F000001, 0));
        Reference<DatagramSocket> b = transport().bind(Address(0x7F000001, 0));
        std::vector<Datagram> all = {{*Address::parse("[::1]:9"), "another family"_sr}, {b->localAddress(), "two"_sr}};
        co_await a->send(std::span<Datagram>(all));
        Datagram got = co_await b->receive();
        CHECK(got.bytes == "two"_sr);
    };
    loop.run(test());
}
