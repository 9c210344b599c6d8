#include "net/rpc/endpoint.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;

TEST_CASE("endpoint: a plain value that can be serialized") {
    Address at(0x7F000001, 4500);
    Endpoint known = Endpoint::wellKnown({at, {}}, 9);
    CHECK(known.isWellKnown());
    CHECK(known.isValid());
    CHECK(!Endpoint().isValid());
    known.addresses.secondaryAddress = *Address::parse("[::1]:7");
    CHECK(known.addresses.contains(*Address::parse("[::1]:7")));
    CHECK(known.addresses.toString() == "127.0.0.1:4500, [::1]:7");
    auto same = ObjectReader::fromStringRef<Endpoint>(ObjectWriter::toValue(known, Unversioned()), Unversioned());
    CHECK(same == known);
    CHECK(std::hash<Endpoint>()(same) == std::hash<Endpoint>()(known));
    std::string bytes = ObjectWriter::toValue(known, Unversioned()).toString();
    bytes.replace(bytes.find("127.0.0.1"), 9, "127.0.0.x");
    CHECK_THROWS_AS((void)ObjectReader::fromStringRef<Endpoint>(bytes, Unversioned()), Error);
}
