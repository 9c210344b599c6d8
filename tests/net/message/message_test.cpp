#include "net/message/message.h"

#include "flow/base/error.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;

namespace {

std::vector<std::string> partsOf(Message const& message) {
    std::vector<std::string> parts;
    for (std::string_view part : message)
        parts.emplace_back(part);
    return parts;
}

} // namespace

TEST_CASE("message: parts of all sizes, in order") {
    std::vector<std::string> parts = {"", "a", std::string(255, 'b'), std::string(256, 'c'), std::string(100'000, 'd'),
                                      ""};
    Message message;
    CHECK(message.isEmpty());
    for (std::string const& part : parts)
        message.add(part);
    CHECK(partsOf(message) == parts);
    CHECK(message.parts() == 6);
    CHECK(message.bytes() == 255 + 256 + 100'000 + 1);
    CHECK(message[3] == parts[3]);
    zmtp::Frame frame;
    std::string_view wire = message.wire();
    for (std::size_t i = 0; i < parts.size(); ++i) {
        zmtp::Parsed parsed = zmtp::parseFrame(wire, {}, frame);
        CHECK(frame.body == parts[i]);
        CHECK(frame.more == (i + 1 != parts.size()));
        wire.remove_prefix(parsed.used);
    }
    CHECK(wire.empty());
}

TEST_CASE("message: copies share, and adding to one changes no other") {
    Message one("one");
    Message two = one;
    CHECK(two.wire().data() == one.wire().data());
    two.add("two");
    CHECK(partsOf(one) == std::vector<std::string>{"one"});
    CHECK(partsOf(two) == std::vector<std::string>{"one", "two"});
    two.add(two[0]); // a part of itself, which may move
    CHECK(two[2] == "one");
    Message own = two.own();
    CHECK(own.wire() == two.wire());
    CHECK(own.wire().data() != two.wire().data());
    CHECK(partsOf(two.behind(1)) == std::vector<std::string>{"two", "one"});
    CHECK(Message::join(two.front(1).wire(), 1, two.behind(1)).wire() == two.wire());
}

TEST_CASE("message: a routing id is no part") {
    Message message = Message::to("ann");
    CHECK(message.isEmpty());
    message.add("x");
    CHECK(message.routingId() == "ann");
    CHECK(message.own().routingId() == "ann");
    CHECK(Message("x").routingId().empty());
}
