#include "net/rpc/detail/receiver.h"

#include "flow/base/random.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;

namespace {
struct Ignoring : MessageReceiver {
    void receive(ObjectReader&, MessageContext&) override {}
};
} // namespace

TEST_CASE("endpoint table: a token finds its receiver as long as that is there, and no other one after it") {
    setThreadLocalDeterministicRandomSeed(1);
    EndpointTable table;
    Ignoring a, b;
    UID first = table.add(a);
    std::uint64_t reply = table.addReply(b);
    CHECK(reply != 0);
    CHECK(table.find(first) == &a);
    CHECK(table.find(UID(0, reply)) == &b);
    CHECK(table.find(UID(first.first() + 1, first.second())) == nullptr);
    CHECK(table.find(UID(0, first.second())) == nullptr);
    CHECK(table.find(UID(first.first(), ~0u)) == nullptr);
    table.remove(first);
    table.remove(first);
    CHECK(table.find(first) == nullptr);
    UID second = table.add(b); // in the same place
    CHECK(static_cast<std::uint32_t>(second.second()) == static_cast<std::uint32_t>(first.second()));
    CHECK(table.find(first) == nullptr);
    table.remove(first);
    CHECK(table.find(second) == &b);
    CHECK(table.size() == 2);
}

TEST_CASE("endpoint table: well-known endpoints") {
    EndpointTable table;
    Ignoring a, b;
    CHECK(table.addWellKnown(a, 7));
    CHECK(!table.addWellKnown(b, 7));
    CHECK(!table.addWellKnown(b, -1));
    CHECK(!table.addWellKnown(b, EndpointTable::kLargestNumber + 1));
    CHECK(table.find(UID(kWellKnown, 7)) == &a);
    CHECK(table.find(UID(kWellKnown, 6)) == nullptr);
    CHECK(table.find(UID(kWellKnown, ~std::uint64_t{0})) == nullptr);
    table.remove(UID(kWellKnown, 7));
    CHECK(table.find(UID(kWellKnown, 7)) == nullptr);
    CHECK(table.addWellKnown(b, 7));
}
