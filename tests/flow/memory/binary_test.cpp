#include "flow/memory/binary.h"

#include "flow/base/optional.h"
#include "flow/base/random.h"
#include "flow/base/uid.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <vector>

using namespace flow;

namespace {

enum class Colour : std::uint16_t { Red = 0x0102 };

struct Peer {
    UID id;
    std::string name;
    Optional<int> port;
    std::vector<Peer> known;

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, id, name, port, known);
    }
    bool operator==(Peer const&) const = default;
};

struct Old {
    std::int32_t a = 0;
    double b = 0;
    bool seen = false;

    template <class Ar>
    void serialize(Ar& ar) {
        seen = Ar::isDeserializing;
        ar & a & b;
    }
};

template <class T>
std::string hex(T const& value) {
    return BinaryWriter::toValue(value, Unversioned()).toFullHexStringPlain();
}

template <class T>
T copyOf(T const& value) {
    return BinaryReader::fromStringRef<T>(BinaryWriter::toValue(value, Unversioned()), Unversioned());
}

template <class T>
Error reading(StringRef bytes) {
    try {
        BinaryReader::fromStringRef<T>(bytes, Unversioned());
    } catch (Error& error) {
        return error;
    }
    return Error();
}

} // namespace

TEST_CASE("binary: the bytes are fixed") {
    CHECK(hex(std::int32_t{1}) == "01000000");
    CHECK(hex(std::uint64_t{0x0102030405060708}) == "0807060504030201");
    CHECK(hex(std::int8_t{-1}) == "ff");
    CHECK(hex(1.0) == "000000000000f03f");
    CHECK(hex(true) == "01");
    CHECK(hex(Colour::Red) == "0201");
    CHECK(hex(std::string("ab")) == "020000006162");
    CHECK(hex("ab"_sr) == "020000006162");
    CHECK(hex(Standalone<StringRef>("ab"_sr)) == "020000006162");
    CHECK(hex(Optional<bool>()) == "00");
    CHECK(hex(Optional<bool>(false)) == "0100");
    CHECK(hex(std::vector<std::int16_t>{1, 2}) == "0200000001000200");
    CHECK(hex(std::pair<bool, std::string>{true, ""}) == "0100000000");
    CHECK(hex(UID(1, 2)) == "01000000000000000200000000000000");
    CHECK(BinaryWriter::toValue(true, IncludeVersion(ProtocolVersion(0x0a))).toFullHexStringPlain() ==
          "0a0000000000000001");
}

TEST_CASE("binary: what was written is read") {
    test::Balance balance;
    Peer peer{UID(5, 6), "name", 4500, {Peer{UID(), "", {}, {}}, Peer{UID(1, 0), "x", 0, {}}}};
    CHECK(copyOf(peer) == peer);
    Old old{-5, 0.25};
    CHECK(copyOf(old).a == -5);
    CHECK(copyOf(old).b == 0.25);
    CHECK(copyOf(old).seen);
    std::map<std::string, std::vector<int>> map = {{"a", {1, 2}}, {"", {}}};
    CHECK(copyOf(map) == map);
    std::set<Colour> set = {Colour::Red};
    CHECK(copyOf(set) == set);
    std::vector<bool> bits = {true, false, true};
    CHECK(copyOf(bits) == bits);
    Optional<Optional<std::string>> nested = Optional<std::string>("x");
    CHECK(copyOf(nested) == nested);
}

TEST_CASE("binary: what refers to memory lives in the reader's arena") {
    test::Balance balance;
    Standalone<VectorRef<StringRef>> keys;
    keys.push_back_deep(keys.arena(), "first"_sr);
    keys.push_back_deep(keys.arena(), ""_sr);
    Standalone<VectorRef<StringRef>> read;
    Arena arena;
    StringRef text;
    {
        Standalone<StringRef> bytes = BinaryWriter::toValue(std::pair(keys, "text"_sr), Unversioned());
        BinaryReader reader(bytes, Unversioned());
        reader >> read >> text;
        reader.assertEnd();
        arena = reader.arena();
        std::memset(mutateString(bytes), '#', static_cast<std::size_t>(bytes.size()));
    }
    CHECK(read == keys);
    CHECK(text == "text"_sr);
}

TEST_CASE("binary: several values, raw bytes and the end") {
    BinaryWriter writer(Unversioned());
    writer << 7 << 'x';
    writer.serializeBytes("raw"_sr);
    writer.serializeBytes("!", 1);
    CHECK(writer.getLength() == 9);
    BinaryReader reader(writer.getData(), writer.getLength(), Unversioned());
    int number;
    char letter;
    reader >> number >> letter;
    CHECK(number == 7);
    CHECK(letter == 'x');
    CHECK_THROWS_AS(reader.assertEnd(), Error);
    char raw[3];
    reader.serializeBytes(raw, 3);
    CHECK(std::string(raw, 3) == "raw");
    CHECK(reader.remaining() == 1);
    CHECK_THROWS_AS(reader.readBytes(2), Error);
    CHECK(*reader.readBytes(1) == '!');
    CHECK(reader.empty());
    reader.assertEnd();
    CHECK_THROWS_AS(reader >> letter, Error);
}

TEST_CASE("binary: versions") {
    ProtocolVersion current = currentProtocolVersion();
    Standalone<StringRef> bytes = BinaryWriter::toValue(7, IncludeVersion());
    CHECK(BinaryReader(bytes, IncludeVersion()).protocolVersion() == current);
    CHECK(BinaryReader::fromStringRef<int>(bytes, IncludeVersion()) == 7);
    auto version = [](std::uint64_t number) { return IncludeVersion(ProtocolVersion(number)); };
    bytes = BinaryWriter::toValue(7, version(5));
    CHECK(BinaryReader(bytes, version(6)).protocolVersion().version() == 5);
    for (std::uint64_t reader : {0, 4})
        CHECK_THROWS_AS(BinaryReader(bytes, version(reader)), Error);
    CHECK_THROWS_AS(BinaryReader(BinaryWriter::toValue(7, version(0)), version(6)), Error);
    CHECK_THROWS_AS(BinaryReader("short"_sr, IncludeVersion()), Error);
    CHECK(BinaryReader(""_sr, AssumeVersion(ProtocolVersion(9))).protocolVersion().version() == 9);
    CHECK(BinaryWriter(AssumeVersion(ProtocolVersion(9))).getLength() == 0);
}

TEST_CASE("binary: a length that lies is an error before anything is allocated") {
    test::Balance balance;
    auto before = memory::totalStatistics().allocated;
    for (StringRef bytes : {"\xff\xff\xff\xff"_sr, "\xff\xff\xff\x7f"_sr, "\x05\0\0\0abcd"_sr, "\x01\0\0"_sr, ""_sr}) {
        CHECK(reading<std::string>(bytes) == serialization_failed());
        CHECK(reading<StringRef>(bytes) == serialization_failed());
        CHECK(reading<Standalone<StringRef>>(bytes) == serialization_failed());
        CHECK(reading<std::vector<char>>(bytes) == serialization_failed());
        CHECK(reading<std::map<int, int>>(bytes) == serialization_failed());
        CHECK(reading<VectorRef<std::uint64_t>>(bytes) == serialization_failed());
        CHECK(reading<Peer>(bytes) == serialization_failed());
    }
    CHECK(memory::totalStatistics().allocated == before);
    CHECK(reading<std::string>("\0\0\0\0left over"_sr) == serialization_failed());
}

TEST_CASE("binary: values nested without end are an error, not a stack overflow") {
    BinaryWriter writer(Unversioned());
    for (int i = 0; i < 1000000; ++i)
        writer << UID() << std::string() << Optional<int>() << std::uint32_t{1};
    CHECK(reading<Peer>(writer.toValue()) == serialization_failed());
    Peer deep;
    for (int i = 0; i < 200; ++i)
        deep = Peer{UID(), "", {}, {deep}};
    CHECK(copyOf(deep) == deep);
}

TEST_CASE("binary: random bytes are read or refused") {
    DeterministicRandom random(5);
    Peer peer{UID(5, 6), "name", 4500, {Peer{UID(), "", {}, {}}}};
    Standalone<StringRef> good = BinaryWriter::toValue(peer, Unversioned());
    int refused = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string bytes = good.toString();
        for (int changes = random.randomInt(1, 4); changes > 0; --changes)
            bytes[static_cast<std::size_t>(random.randomInt(0, good.size()))] =
                static_cast<char>(random.randomInt(0, 256));
        bytes.resize(static_cast<std::size_t>(random.randomInt(0, good.size() + 1)));
        Error error = reading<Peer>(bytes);
        refused += error.isValid();
        CHECK((!error.isValid() || error == serialization_failed()));
    }
    CHECK(refused > 10000);
}
