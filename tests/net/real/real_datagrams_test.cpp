#include "net/real/detail/real_datagrams.h"

#include "flow/base/random.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "net/transport.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <asm-generic/socket.h>
#include <span>
#include <string>
#include <sys/socket.h>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

TEST_CASE("real datagrams: many are sent and received with few system calls") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Reference<DatagramSocket> a = transport().bind(Address(0x7F000001, 0));
        Reference<DatagramSocket> b = transport().bind(Address(0x7F000001, 0));
        std::vector<Datagram> all;
        for (int i = 0; i < 64; ++i) // each differs from the one before
            all.push_back({b->localAddress(), i % 2 ? ""_sr : "x"_sr});
        co_await a->send(std::span<Datagram>(all));
        for (int i = 0; i < 64; ++i)
            co_await b->receive();
        CHECK(a->counters().writes == 64 / RealDatagramSocket::kBatch);
        CHECK(b->counters().reads <= 64 / RealDatagramSocket::kBatch + 1);
        CHECK(b->counters().bytesRead == 32);
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

TEST_CASE("real datagrams: those that are alike come as they were sent, one by one") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        DatagramOptions roomy;
        roomy.receiveBuffer = roomy.sendBuffer = 4 << 20;
        Reference<DatagramSocket> a = transport().bind(Address(0x7F000001, 0), roomy);
        Reference<DatagramSocket> b = transport().bind(Address(0x7F000001, 0), roomy);
        Reference<DatagramSocket> c = transport().bind(Address(0x7F000001, 0));
        DeterministicRandom random(5);
        std::vector<std::string> sent;
        std::vector<Datagram> all;
        for (int i = 0; i < 25; ++i) {
            int size = random.randomInt(0, 4) == 0 ? random.randomInt(0, 3000) : 1000;
            for (int n = random.randomInt(1, 8); n-- > 0;) {
                std::string text = std::to_string(sent.size()) + ' ';
                text.resize(static_cast<std::size_t>(size), 'x');
                all.push_back({b->localAddress(), StringRef(text)});
                sent.push_back(std::move(text));
            }
            if (i % 10 == 0)
                all.push_back({c->localAddress(), "between"_sr});
        }
        co_await a->send(std::span<Datagram>(all));
        for (std::string const& each : sent) {
            Datagram got = co_await b->receive();
            CHECK(got.bytes == StringRef(each));
            CHECK(got.from == a->localAddress());
        }
        CHECK(a->counters().writes < sent.size() / 8);
        Datagram between = co_await c->receive();
        CHECK(between.bytes == "between"_sr);
    };
    loop.run(test());
}

TEST_CASE("real datagrams: where the kernel cannot cut them apart they are sent one by one") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Reference<DatagramSocket> a = transport().bind(Address(0x7F000001, 0));
        Reference<DatagramSocket> b = transport().bind(Address(0x7F000001, 0));
        // Without a checksum the kernel refuses to join them.
        int on = 1, without = dynamic_cast<RealDatagramSocket&>(*a.getPtr()).descriptor();
        REQUIRE(::setsockopt(without, SOL_SOCKET, SO_NO_CHECK, &on, sizeof on) == 0);
        std::vector<Datagram> all(20, Datagram{b->localAddress(), "alike"_sr});
        co_await a->send(std::span<Datagram>(all));
        for (int i = 0; i < 20; ++i) {
            Datagram got = co_await b->receive();
            CHECK(got.bytes == "alike"_sr);
        }
        CHECK(a->counters().bytesWritten == 100);
    };
    loop.run(test());
}
