#include "net/resolver.h"

#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/sim/sim_network.h"
#include "net/transport.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// Answers what it is given, later.
struct Counting final : Resolver {
    Future<Found> lookUp(std::string name) override {
        ++questions;
        co_await delay(0.1);
        co_return Found{{Address(0x0A000001, 0)}, name == "short" ? 1.0 : 1000.0};
    }
    int questions = 0;
};

} // namespace

TEST_CASE("resolver: numeric addresses are answered at once, without a server") {
    RealLoop loop;
    Counting resolver;
    for (auto const& [text, address] : {std::pair("10.1.2.3", "10.1.2.3:80"), std::pair("::1", "[::1]:80"),
                                        std::pair("fe80::1%1", "[fe80::1%1]:80")}) {
        Future<std::vector<Address>> found = resolver.resolve(text, 80);
        REQUIRE(found.isReady());
        CHECK(found.get() == std::vector<Address>{*Address::parse(address)});
    }
    CHECK(resolver.questions == 0);
    CHECK(loop.run(endOf(resolver.resolve(std::string("a\0b", 3), 80))) == lookup_failed());
    CHECK(loop.run(endOf(resolver.resolve(std::string(254, 'a'), 80))) == lookup_failed());
}

TEST_CASE("resolver: localhost, and what ends in it, is the loopback address, whatever a server or a file says") {
    RealLoop loop;
    Counting resolver;
    for (char const* name : {"localhost", "LocalHost.", "a.b.localhost", "x.localhost."}) {
        Future<std::vector<Address>> found = resolver.resolve(name, 80);
        REQUIRE(found.isReady());
        CHECK(found.get() == std::vector<Address>{Address(0x7F000001, 80), *Address::parse("[::1]:80")});
    }
    CHECK(resolver.questions == 0);
    for (char const* name : {"notlocalhost", "localhost.example", "localhost.."})
        CHECK(loop.run(resolver.resolve(name, 80)) == std::vector<Address>{Address(0x0A000001, 80)});
    CHECK(resolver.questions == 3);
}

TEST_CASE("resolver: keeps a bounded number of names, and the short-lived ones not for long") {
    World world(1);
    auto test = []() -> Future<Void> {
        Counting resolver;
        co_await resolver.resolve("short", 1);
        co_await resolver.resolve("short", 1);
        CHECK(resolver.questions == 1);
        co_await delay(1.5);
        co_await resolver.resolve("short", 1);
        CHECK(resolver.questions == 2);
        std::vector<Future<std::vector<Address>>> all;
        for (int i = 0; i < 1200; ++i)
            all.push_back(resolver.resolve(std::to_string(i) + "x", 1));
        co_await waitForAll(all);
        CHECK(resolver.keptNames() == Resolver::kMostNames);
        resolver.clear();
        CHECK(resolver.keptNames() == 0);
    };
    Process& process = world.start({.name = "p", .main = test});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
}

TEST_CASE("resolver: in a simulation the names are those of its network") {
    World world(1);
    SimNetwork network(world);
    network.setName("db", {Address(0x0A000001, 0), Address(0x0A000002, 0)});
    auto test = []() -> Future<Void> {
        Resolver& names = transport().resolver();
        std::vector<Address> found = co_await names.resolve("DB", 7);
        CHECK(found == std::vector<Address>{Address(0x0A000001, 7), Address(0x0A000002, 7)});
        found = co_await names.resolve("localhost", 7);
        CHECK(found == std::vector<Address>{Address(0x7F000001, 7)});
        Error error = co_await endOf(names.resolve("other", 7));
        CHECK(error == lookup_failed());
    };
    Process& process = world.start({.name = "p", .main = test});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
}
