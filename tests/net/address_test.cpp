#include "net/address.h"

#include "flow/base/error.h"

#include <doctest/doctest.h>

#include <map>
#include <unordered_set>

using namespace flow;
using net::Address;

TEST_CASE("address: text and back") {
    for (const char* text : {"10.0.0.1:4500", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80", "[2001:db8::ff]:443"})
        CHECK(Address::parse(text).toString() == text);
    CHECK(Address::parse("10.0.0.1:4500") == Address(0x0A000001, 4500));
    CHECK(Address(0x0A000001, 4500).v4() == 0x0A000001);
    CHECK(Address::parse("[::1]:80").isV6());
    CHECK(NetworkAddress().toString() == "0.0.0.0:0");
}

TEST_CASE("address: what is none") {
    for (const char* text :
         {"", ":", "10.0.0.1", "10.0.0.1:", "10.0.0.1:65536", "10.0.0.1:-1", "10.0.0.1:4x", "10.0.0:1", "::1:80",
          "[::1]", "[10.0.0.1]:1", "localhost:80", " 10.0.0.1:1", "[]:1", "]:1", "10.0.0.256:1"}) {
        INFO(text);
        CHECK_THROWS_AS((void)Address::parse(text), Error);
    }
}

TEST_CASE("address: order, hash, and what it says of itself") {
    Address a(0x0A000001, 4500), b(0x0A000001, 4501), c(0x0A000002, 1), d = Address::parse("[::1]:1");
    CHECK(a < b);
    CHECK(b < c);
    CHECK(c < d);
    CHECK(a.withPort(4501) == b);
    CHECK(std::unordered_set<Address>{a, b, c, d, a}.size() == 4);
    CHECK(Address(0, 5).isAny());
    CHECK(!a.isAny());
    CHECK(d.isLoopback());
    CHECK(Address::parse("127.1.2.3:1").isLoopback());
    CHECK(!a.isLoopback());
}
