#include "net/rpc/detail/wire_format.h"

#include "flow/base/random.h"
#include "tests/net/message/fuzz_count.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;

namespace {

std::string frameOf(std::string const& message, bool hasChecksum = true) {
    std::string out = "before";
    std::size_t begin = beginFrame(out, UID(1, 2), 3);
    out += message;
    finishFrame(out, begin, hasChecksum);
    return out.substr(6);
}

constexpr FrameLimits kLimits{1000, true};

} // namespace

TEST_CASE("frame: what is written is what is parsed") {
    std::string two = frameOf("first") + frameOf("");
    ParsedFrame parsed = parseFrame(two, kLimits);
    CHECK(parsed.fault == FrameFault::None);
    CHECK(parsed.used == kFrameHeaderBytes + 5);
    CHECK(parsed.to == UID(1, 2));
    CHECK(parsed.reply == 3);
    CHECK(parsed.message == "first"_sr);
    parsed = parseFrame(StringRef(two).substr(static_cast<int>(parsed.used)), kLimits);
    CHECK(parsed.used == kFrameHeaderBytes);
    CHECK(parsed.message.empty());
}

TEST_CASE("frame: one that is cut off says how many bytes it needs; one that is wrong says why") {
    std::string frame = frameOf("message");
    for (std::size_t size = 0; size < frame.size(); ++size) {
        ParsedFrame parsed = parseFrame(StringRef(frame).substr(0, static_cast<int>(size)), kLimits);
        CHECK(parsed.fault == FrameFault::None);
        CHECK(parsed.used == 0);
        CHECK(parsed.needed == (size < 12 ? kFrameHeaderBytes : frame.size()));
    }
    for (std::size_t at = 4; at < frame.size(); ++at) {
        std::string changed = frame;
        changed[at] = static_cast<char>(changed[at] ^ 0x10);
        CHECK(parseFrame(changed, kLimits).fault == FrameFault::Checksum);
    }
    CHECK(parseFrame(frameOf("message", false), {1000, false}).message == "message"_sr);
    std::string large = frameOf(std::string(1001, 'x'));
    for (std::size_t size : {12, 39, 40, 500}) { // of one that is too large the header is waited for, and no more
        ParsedFrame parsed = parseFrame(StringRef(large).substr(0, static_cast<int>(size)), kLimits);
        CHECK(parsed.fault == (size < kFrameHeaderBytes ? FrameFault::None : FrameFault::TooLarge));
        CHECK(parsed.needed == (size < kFrameHeaderBytes ? kFrameHeaderBytes : large.size()));
        CHECK(parsed.to == (size < kFrameHeaderBytes ? UID() : UID(1, 2)));
    }
    CHECK(parseFrame(frameOf(std::string(1000, 'x')), kLimits).fault == FrameFault::None);
    CHECK(parseFrame("\x1B\0\0\0\0\0\0\0\0\0\0\0"_sr, kLimits).fault == FrameFault::TooShort);
    // A wrong length is found at once: the bytes that it says are not waited for.
    for (int bit = 0; bit < 32; ++bit) {
        std::string changed = frame;
        changed[static_cast<std::size_t>(bit / 8)] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
        ParsedFrame parsed = parseFrame(StringRef(changed).substr(0, 12), kLimits);
        CHECK(parsed.fault != FrameFault::None);
    }
}

TEST_CASE("frame: greetings") {
    Greeting greeting{ProtocolVersion(0x123450007), false};
    std::string bytes = greetingBytes(greeting);
    REQUIRE(bytes.size() == kGreetingBytes);
    std::optional<Greeting> parsed = parseGreeting(bytes);
    REQUIRE(parsed);
    CHECK(parsed->version == greeting.version);
    CHECK(!parsed->hasChecksums);
    CHECK(!parseGreeting(StringRef(bytes).substr(0, 23)));
    CHECK(!parseGreeting("GET / HTTP/1.1\r\nHost: a.b"_sr));
    CHECK(isCompatible(ProtocolVersion(0x10001), ProtocolVersion(0x1FFFF)));
    CHECK(!isCompatible(ProtocolVersion(0x10001), ProtocolVersion(0x20001)));
}

TEST_CASE("frame: bytes changed at random are frames or faults") {
    DeterministicRandom random(2);
    for (int i = flow::test::fuzzCount(); i > 0; --i) {
        std::string bytes = frameOf(std::string(static_cast<std::size_t>(random.randomInt(0, 40)), 'x'));
        for (int changes = random.randomInt(0, 8); changes > 0; --changes)
            bytes[static_cast<std::size_t>(random.randomInt(0, static_cast<int>(bytes.size())))] =
                static_cast<char>(random.randomInt(0, 256));
        bytes.resize(static_cast<std::size_t>(random.randomInt(0, static_cast<int>(bytes.size()) + 1)));
        ParsedFrame parsed = parseFrame(bytes, {1000, random.coinflip()});
        if (parsed.fault == FrameFault::None)
            CHECK((parsed.used == 0 ? parsed.needed > bytes.size() : parsed.used <= bytes.size()));
        if (std::optional<Greeting> greeting = parseGreeting("MRC-RPC1" + bytes))
            CHECK(8 + bytes.size() >= kGreetingBytes);
    }
}
