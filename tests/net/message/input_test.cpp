#include "net/message/detail/input.h"

#include "flow/base/random.h"
#include "flow/core/detail/turn_budget.h"
#include "flow/loop/real_loop.h"
#include "net/connection.h"
#include "tests/net/message/fake_connection.h"
#include "tests/net/message/fuzz_count.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using Found = Input::Found;

namespace {

/// The next thing that is found, reading as long as there is something.
Found next(Input& input, Connection& connection, zmtp::Limits const& limits = {}) {
    for (;;) {
        TurnBudget::begin(); // each read is in a turn of its own
        Found found = input.findShort(limits) ? Found::Message : input.find(limits);
        if (found != Found::Nothing || input.read(connection) != Input::Read::Some)
            return found;
    }
}

} // namespace

TEST_CASE("input: messages of all sizes, however they are cut, and held or not") {
    RealLoop loop;
    DeterministicRandom random(3);
    for (int round = 0; round < 40; ++round) {
        test::FakeConnection connection;
        connection.atATime = static_cast<std::size_t>(random.randomInt(1, round % 2 == 0 ? 300 : 70'000));
        std::vector<std::string> sent;
        for (int i = 0; i < 60; ++i) {
            Message message;
            for (int parts = random.randomInt(1, 4); parts > 0; --parts)
                message.add(std::string(static_cast<std::size_t>(random.randomInt(0, i % 9 == 0 ? 50'000 : 400)), 'a'));
            sent.emplace_back(message.wire());
            connection.incoming += sent.back();
            if (i % 7 == 0)
                zmtp::appendCommand(connection.incoming, "PING", "xx");
        }
        Input input;
        std::vector<Message> held;
        for (std::string const& each : sent) {
            Found found;
            while ((found = next(input, connection)) == Found::Command)
                CHECK(input.command().body == "\4PINGxx");
            REQUIRE(found == Found::Message);
            CHECK(input.first().wire() == each);
            Message message = input.take();
            REQUIRE(message.wire() == each);
            if (random.randomInt(0, 3) == 0)
                held.push_back(message);
            if (random.randomInt(0, 3) == 0)
                input.rest();
            if (held.size() > 5)
                held.clear();
        }
        while (next(input, connection) == Found::Command) {
        }
        CHECK(input.size() == 0);
    }
}

TEST_CASE("input: commands behind unread messages are found, also between two parts") {
    RealLoop loop;
    test::FakeConnection connection;
    Message two("first");
    two.add("second");
    std::string ping;
    zmtp::appendCommand(ping, "PING", "xx");
    connection.incoming = std::string(Message("one").wire()) + std::string(two.wire().substr(0, 7)) + ping +
                          std::string(two.wire().substr(7)) + ping;
    Input input;
    CHECK(next(input, connection) == Found::Message);
    CHECK(next(input, connection) == Found::Command);
    CHECK(next(input, connection) == Found::Message);
    CHECK(next(input, connection) == Found::Command);
    CHECK(input.messages() == 2);
    CHECK(input.firstPart() == "one");
    CHECK(input.take()[0] == "one");
    CHECK(input.firstHasMore());
    CHECK(input.take().wire() == two.wire());
}

TEST_CASE("input: limits hold before the body has come") {
    RealLoop loop;
    zmtp::Limits limits;
    limits.messageBytes = 1000;
    limits.parts = 3;
    auto faultOf = [&](std::string bytes) {
        test::FakeConnection connection;
        connection.incoming = bytes;
        Input input;
        CHECK(next(input, connection, limits) == Found::Fault);
        return input.fault();
    };
    CHECK(faultOf(std::string("\2\0\0\0\0\0\0\3\xE9", 9)) == zmtp::Fault::MessageTooLarge);
    CHECK(faultOf(std::string("\1\0\1\0\1\0\1\0", 8)) == zmtp::Fault::TooManyParts);
    CHECK(faultOf("\x80") == zmtp::Fault::BadFlags);
    limits.messageBytes = 5;
    CHECK(faultOf("\1\4abcd" + std::string("\0\2", 2)) == zmtp::Fault::MessageTooLarge);
    CHECK(faultOf(std::string("\0\6", 2)) == zmtp::Fault::MessageTooLarge);
}

TEST_CASE("input: bytes that were changed at random give messages within the limits, or a fault") {
    RealLoop loop;
    DeterministicRandom random(11);
    zmtp::Limits limits{.messageBytes = 3000, .parts = 3, .commandBytes = 100, .topicBytes = 10};
    int messages = 0, faults = 0;
    for (int round = test::fuzzCount(); round > 0; --round) {
        test::FakeConnection connection;
        std::string& bytes = connection.incoming;
        for (int frames = random.randomInt(1, 8); frames > 0; --frames)
            zmtp::appendFrame(bytes, std::string(static_cast<std::size_t>(random.randomInt(0, 400)), '\0'),
                              {.more = random.randomInt(0, 3) == 0, .command = false});
        for (int changes = random.randomInt(0, 4); changes > 0; --changes) {
            auto at = static_cast<std::size_t>(random.randomInt(0, static_cast<int>(bytes.size())));
            bytes[at] = static_cast<char>(random.randomInt(0, 16));
        }
        connection.atATime = static_cast<std::size_t>(random.randomInt(1, 2000));
        Input input;
        for (Found found; (found = next(input, connection, limits)) != Found::Nothing;) {
            if (found == Found::Fault) {
                REQUIRE(input.fault() != zmtp::Fault::None);
                ++faults;
                break;
            }
            if (found == Found::Command) {
                REQUIRE(input.command().body.size() <= limits.commandBytes);
                continue;
            }
            if (random.coinflip())
                continue; // taken later
            while (input.messages() != 0) {
                Message message = input.take();
                REQUIRE(message.parts() >= 1);
                REQUIRE(message.parts() <= limits.parts);
                REQUIRE(message.bytes() <= limits.messageBytes);
                ++messages;
            }
        }
    }
    CHECK(messages > 1000);
    CHECK(faults > 1000);
}
