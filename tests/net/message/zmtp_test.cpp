#include "net/message/detail/zmtp.h"

#include "flow/base/random.h"
#include "tests/net/message/fuzz_count.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using zmtp::Fault;

TEST_CASE("zmtp: a greeting is read back, and refused at the first byte that is wrong") {
    std::string out;
    zmtp::appendGreeting(out, "PLAIN", true);
    REQUIRE(out.size() == zmtp::kGreetingBytes);
    zmtp::Greeting greeting;
    for (std::size_t size = 0; size < out.size(); ++size) {
        zmtp::Parsed parsed = zmtp::parseGreeting(std::string_view(out).substr(0, size), greeting);
        CHECK(parsed.used == 0);
        CHECK(parsed.need > size);
        CHECK(parsed.fault == Fault::None);
    }
    CHECK(zmtp::parseGreeting(out, greeting).used == zmtp::kGreetingBytes);
    CHECK(greeting.mechanism == "PLAIN");
    CHECK(greeting.asServer);
    CHECK(greeting.major == 3);
    CHECK(zmtp::parseGreeting("G", greeting).fault == Fault::BadSignature);
    out[9] = 0;
    CHECK(zmtp::parseGreeting(out.substr(0, 10), greeting).fault == Fault::BadSignature);
    out[9] = 0x7F;
    out[10] = 2;
    CHECK(zmtp::parseGreeting(out.substr(0, 11), greeting).fault == Fault::VersionTooOld);
}

TEST_CASE("zmtp: frames are read back, whatever their size") {
    for (std::size_t size : {0u, 1u, 255u, 256u, 70000u})
        for (bool more : {false, true}) {
            std::string body(size, 'b'), out;
            zmtp::appendFrame(out, body, {.more = more});
            CHECK(out.size() == zmtp::frameBytes(size));
            zmtp::Frame frame;
            zmtp::Limits limits;
            for (std::size_t part : {std::size_t{0}, std::size_t{1}, out.size() - 1}) {
                zmtp::Parsed parsed = zmtp::parseFrame(out.substr(0, part), limits, frame);
                CHECK(parsed.used == 0);
                CHECK(parsed.need > part);
                CHECK(parsed.need <= out.size());
            }
            out += "next";
            CHECK(zmtp::parseFrame(out, limits, frame).used == out.size() - 4);
            CHECK(frame.body == body);
            CHECK(frame.more == more);
            CHECK_FALSE(frame.command);
        }
}

TEST_CASE("zmtp: limits hold before a body has come") {
    zmtp::Limits limits{.messageBytes = 1000, .parts = 3, .commandBytes = 100, .topicBytes = 10};
    zmtp::Frame frame;
    std::string header;
    zmtp::appendFrameHeader(header, 1001, {});
    CHECK(zmtp::parseFrame(header, limits, frame).fault == Fault::MessageTooLarge);
    CHECK(zmtp::parseFrame(header, limits, 2000, frame).need == 1010);
    header.clear();
    zmtp::appendFrameHeader(header, 101, {.command = true});
    CHECK(zmtp::parseFrame(header, limits, frame).fault == Fault::CommandTooLarge);
    CHECK(zmtp::parseFrame("\x08", limits, frame).fault == Fault::BadFlags);
    CHECK(zmtp::parseFrame("\x05", limits, frame).fault == Fault::BadFlags);
    CHECK(zmtp::parseFrame(std::string_view("\x02\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 9), limits, frame).fault ==
          Fault::MessageTooLarge);
}

TEST_CASE("zmtp: commands and their properties are read back") {
    std::string data;
    zmtp::appendProperty(data, "Socket-Type", "ROUTER");
    zmtp::appendProperty(data, "Identity", "");
    std::string body = zmtp::commandBody("READY", data);
    zmtp::Command command;
    REQUIRE(zmtp::parseCommand(body, command));
    CHECK(command.name == "READY");
    std::string_view list = command.data, name, value;
    CHECK(zmtp::takeProperty(list, name, value));
    CHECK(zmtp::sameName(name, "socket-type"));
    CHECK(value == "ROUTER");
    CHECK(zmtp::takeProperty(list, name, value));
    CHECK(value.empty());
    CHECK(list.empty());
    CHECK_FALSE(zmtp::takeProperty(list, name, value));
    for (std::size_t size = 1; size < data.size(); ++size) {
        std::string_view cut = std::string_view(data).substr(0, size);
        while (zmtp::takeProperty(cut, name, value)) {
        }
    }
    CHECK_FALSE(zmtp::parseCommand("", command));
    CHECK_FALSE(zmtp::parseCommand(std::string_view("\0", 1), command));
    CHECK_FALSE(zmtp::parseCommand("\x05READ", command));
}

TEST_CASE("zmtp: bytes that were changed at random give frames within the limits, or a fault, and never more is read") {
    DeterministicRandom random(7);
    zmtp::Limits limits{.messageBytes = 5000, .parts = 3, .commandBytes = 100, .topicBytes = 10};
    for (int round = test::fuzzCount(); round > 0; --round) {
        std::string bytes;
        for (int frames = random.randomInt(1, 6); frames > 0; --frames)
            zmtp::appendFrame(bytes, std::string(static_cast<std::size_t>(random.randomInt(0, 600)), 'x'),
                              {.more = random.coinflip(), .command = false});
        for (int changes = random.randomInt(0, 4); changes > 0; --changes)
            bytes[static_cast<std::size_t>(random.randomInt(0, static_cast<int>(bytes.size())))] =
                static_cast<char>(random.randomInt(0, 256));
        std::string copy(bytes); // of exactly this size, so that a sanitizer sees a read behind it
        std::string_view rest = copy;
        for (;;) {
            zmtp::Frame frame;
            zmtp::Parsed parsed = zmtp::parseFrame(rest, limits, frame);
            if (parsed.fault != Fault::None || parsed.used == 0) {
                if (parsed.fault == Fault::None)
                    REQUIRE(parsed.need > rest.size());
                break;
            }
            REQUIRE(parsed.used <= rest.size());
            REQUIRE(frame.body.size() <= limits.messageBytes);
            zmtp::Command command;
            if (frame.command && zmtp::parseCommand(frame.body, command)) {
                std::string_view list = command.data, name, value;
                while (zmtp::takeProperty(list, name, value))
                    REQUIRE(!name.empty());
            }
            rest.remove_prefix(parsed.used);
        }
    }
}
