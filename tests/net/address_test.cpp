#include "net/address.h"

#include "flow/base/error.h"
#include "flow/base/random.h"

#include <algorithm>
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <net/if.h>
#include <sys/un.h>

#include <iterator>
#include <unordered_set>

using namespace flow;
using net::Address;
using net::ParsedAddress;

TEST_CASE("address: text and back") {
    for (const char* text :
         {"10.0.0.1:4500", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80", "[2001:db8::ff]:443", "[::]:0",
          "[fe80::1%7]:80", "[1:2:3:4:5:6:7:8]:9", "[::ffff:1.2.3.4]:5", "unix:/run/service", "unix:relative",
          "unix:./@path", "unix:@name", "unix:@@", "unix:/with:colon %and\nline"}) {
        INFO(text);
        CHECK(Address::parse(text)->toString() == text);
    }
    CHECK(*Address::parse("10.0.0.1:4500") == Address(0x0A000001, 4500));
    CHECK(Address(0x0A000001, 4500).v4() == 0x0A000001);
    CHECK(Address::parse("[::1]:80")->isV6());
    CHECK(NetworkAddress().toString() == "0.0.0.0:0");
    CHECK(*Address::parse("[1:0:0:2:3:4:5:6]:1") == *Address::parse("[1::2:3:4:5:6]:1"));
    CHECK(Address::parse("[FE80::1%2]:1")->scope() == 2);
    CHECK(Address::parse("unix:@name")->unixName() == "name");
    std::string withZero("unix:@a\0b", 9);
    CHECK(Address::parse(withZero)->toString() == withZero);
}

TEST_CASE("address: the name of an interface is a scope") {
    unsigned index = ::if_nametoindex("lo");
    if (index != 0)
        CHECK(Address::parse("[fe80::1%lo]:80")->scope() == index);
}

TEST_CASE("address: the error of a text says where it is none") {
    struct Wrong {
        const char* text;
        std::size_t position;
    };
    std::string longPath = "unix:" + std::string(108, 'x');
    for (auto [text, position] : std::initializer_list<Wrong>{{"", 0},
                                                              {":", 0},
                                                              {"10.0.0.1", 8},
                                                              {"10.0.0.1:", 9},
                                                              {"10.0.0.1:65536", 13},
                                                              {"10.0.0.1:-1", 9},
                                                              {"10.0.0.1:4x", 10},
                                                              {"10.0.0:1", 6},
                                                              {"::1:80", 0},
                                                              {"[::1]", 5},
                                                              {"[10.0.0.1]:1", 9},
                                                              {"localhost:80", 0},
                                                              {" 10.0.0.1:1", 0},
                                                              {"[]:1", 1},
                                                              {"]:1", 0},
                                                              {"10.0.0.256:1", 9},
                                                              {"10.0.01.1:1", 6},
                                                              {"[1:2:3]:4", 6},
                                                              {"[1::2::3]:4", 6},
                                                              {"[12345::]:1", 5},
                                                              {"[1:2:3:4:5:6:7:8:9]:1", 16},
                                                              {"[::1", 4},
                                                              {"[fe80::1%]:1", 9},
                                                              {"[fe80::1%0]:1", 9},
                                                              {"[fe80::1%no such]:1", 9},
                                                              {"[1:]:1", 3},
                                                              {"unix:", 5},
                                                              {"unix:@", 6},
                                                              {longPath.c_str(), 112},
                                                              {"[::1.2.3]:1", 8}}) {
        INFO(text);
        ParsedAddress parsed = Address::parse(text);
        CHECK(!parsed);
        CHECK(parsed.position() == position);
        CHECK(std::string_view(parsed.message()) != "");
        CHECK_THROWS_AS((void)parsed.get(), Error);
    }
    try {
        (void)*Address::parse("10.0.0.1:70000");
        FAIL("the port is too high");
    } catch (Error const& error) {
        CHECK(
            error.what() ==
            std::string("the address \"10.0.0.1:70000\" is wrong at byte 13: a port from 0 to 65535 is expected here"));
    }
    CHECK_THROWS_AS(Address::unixPath("@name"), Error);
    try {
        Address::unixAbstract(std::string(108, 'x'));
        FAIL("the name is too long");
    } catch (Error const& error) {
        CHECK(error.what() ==
              "an abstract name has at most 107 bytes; this one has 108: \"" + std::string(108, 'x') + '"');
    }
    CHECK_THROWS_AS(Address::unixAbstract(""), Error);
}

TEST_CASE("address: order, hash, and what it says of itself") {
    Address a(0x0A000001, 4500), b(0x0A000001, 4501), c(0x0A000002, 1), d = *Address::parse("[::1]:1");
    Address e = Address::unixPath("/a"), f = Address::unixAbstract("/a");
    CHECK(a < b);
    CHECK(b < c);
    CHECK(c < d);
    CHECK(d < e);
    CHECK(e < f);
    CHECK(a.withPort(4501) == b);
    CHECK(std::unordered_set<Address>{a, b, c, d, e, f, a}.size() == 6);
    CHECK(Address(0, 5).isAny());
    CHECK(!a.isAny());
    CHECK(!e.isAny());
    CHECK(d.isLoopback());
    CHECK(!e.isLoopback());
    CHECK(Address::parse("127.1.2.3:1")->isLoopback());
    CHECK(!a.isLoopback());
}

TEST_CASE("address: what the system gets is what it gives back") {
    std::string longest(107, 'x');
    for (Address const& address : {*Address::parse("10.1.2.3:45"), *Address::parse("[fe80::1%3]:80"),
                                   Address::unixPath("/run/x"), Address::unixPath(longest),
                                   Address::unixAbstract(longest), Address::unixAbstract(std::string_view("a\0", 2))}) {
        sockaddr_storage storage;
        unsigned size = address.toSystem(storage);
        CHECK(Address::fromSystem(reinterpret_cast<sockaddr*>(&storage), size) == address);
    }
    sockaddr_un nameless{};
    nameless.sun_family = AF_UNIX;
    CHECK(Address::fromSystem(reinterpret_cast<sockaddr*>(&nameless), sizeof nameless.sun_family) == Address());
    sockaddr_un full{}; // Linux takes a path of 108 bytes, without a zero byte after it
    full.sun_family = AF_UNIX;
    std::fill(std::begin(full.sun_path), std::end(full.sun_path), 'x');
    CHECK(Address::fromSystem(reinterpret_cast<sockaddr*>(&full), sizeof full) == Address());
    sockaddr other{};
    other.sa_family = AF_APPLETALK;
    CHECK(!Address::fromSystem(&other, sizeof other));
    CHECK(!Address::fromSystem(&other, 0));
}

/// What the C library says of the part of a text in front of its port.
static bool systemAccepts(std::string const& text) {
    std::size_t colon = text.rfind(':');
    std::string ip = text.substr(0, colon);
    bool isV6 = ip.starts_with('[');
    if (isV6)
        ip = ip.substr(1, ip.size() - 2);
    char bytes[16];
    return ::inet_pton(isV6 ? AF_INET6 : AF_INET, ip.c_str(), bytes) == 1;
}

TEST_CASE("address: random texts are accepted as the C library accepts them, and all that is accepted round-trips") {
    DeterministicRandom random(26);
    const char* const parts[] = {":", "::", "1", "0", "25", "256", "ab", "fff0", "1.2.3.4", ".", "f", "00012"};
    int accepted = 0;
    for (int i = 0; i < 100'000; i++) {
        std::string text;
        for (int n = random.randomInt(1, 17); n-- > 0;)
            text += parts[random.randomInt(0, static_cast<int>(std::size(parts)))];
        text = (i % 2 ? "[" + text + "]" : text) + ":80";
        INFO(text);
        ParsedAddress parsed = Address::parse(text);
        REQUIRE(parsed.present() == systemAccepts(text));
        REQUIRE(parsed.position() <= text.size());
        if (parsed) {
            accepted++;
            REQUIRE(*Address::parse(parsed->toString()) == *parsed);
        }
    }
    CHECK(accepted > 100);
}

TEST_CASE("address: changed texts never do more than fail") {
    DeterministicRandom random(27);
    const char* const seeds[] = {"10.0.0.1:4500", "[fe80::1%2]:80", "unix:/run/service", "unix:@name", "[::1.2.3.4]:5"};
    for (int i = 0; i < 100'000; i++) {
        std::string text = seeds[i % static_cast<int>(std::size(seeds))];
        for (int n = random.randomInt(1, 4); n-- > 0;) {
            std::size_t at = static_cast<std::size_t>(random.randomInt(0, static_cast<int>(text.size()) + 1));
            if (random.random01() < 0.5)
                text.insert(at, 1, static_cast<char>(random.randomInt(0, 256)));
            else
                text.erase(at, 1);
        }
        ParsedAddress parsed = Address::parse(text);
        if (parsed)
            REQUIRE(*Address::parse(parsed->toString()) == *parsed);
        else
            REQUIRE(parsed.position() <= text.size());
    }
}
