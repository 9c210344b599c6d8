#include "flow/memory/object.h"

#include "flow/base/optional.h"
#include "flow/base/random.h"
#include "flow/base/uid.h"
#include "flow/core/error_or.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <map>
#include <vector>

using namespace flow;

namespace {

struct Inner {
    int number = 7;
    std::string text;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, number, text);
    }
    bool operator==(Inner const&) const = default;
};

struct Whole {
    constexpr static FileIdentifier file_identifier = 4711;
    UID id;
    std::vector<Inner> inner;
    Optional<Inner> one;
    std::map<int, std::string> names;
    std::variant<int, std::string, Inner> either;
    std::array<std::uint16_t, 3> three{};
    std::tuple<bool, double> pair;
    ErrorOr<Inner> result;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, id, inner, one, names, either, three, pair, result);
    }
    bool operator==(Whole const&) const = default;
};

/// Whole as it was two versions ago, and as it will be.
struct Older {
    constexpr static FileIdentifier file_identifier = 4711;
    UID id;
    std::vector<Inner> inner;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, id, inner);
    }
};
struct NewerInner : Inner {
    std::vector<int> more{1, 2, 3};
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, number, text, more);
    }
};
struct NewerOlder {
    constexpr static FileIdentifier file_identifier = 4711;
    UID id;
    std::vector<NewerInner> inner;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, id, inner);
    }
};

struct Linked {
    std::vector<Linked> next;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, next);
    }
};

struct Keys {
    Arena arena;
    VectorRef<StringRef> keys;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, keys, arena);
    }
};

Whole example() {
    Whole whole;
    whole.id = UID(1, 2);
    whole.inner = {Inner{1, "one"}, Inner{2, ""}};
    whole.one = Inner{3, "three"};
    whole.names = {{5, "five"}};
    whole.either = Inner{4, "four"};
    whole.three = {1, 2, 3};
    whole.pair = {true, 0.5};
    whole.result = timed_out();
    return whole;
}

template <class T>
Error readingObject(StringRef bytes) {
    try {
        (void)ObjectReader::fromStringRef<T>(bytes, IncludeVersion());
    } catch (Error& error) {
        return error;
    }
    return Error();
}

} // namespace

TEST_CASE("object: what is written is what is read") {
    Standalone<StringRef> bytes = ObjectWriter::toValue(example(), IncludeVersion());
    CHECK(ObjectReader::fromStringRef<Whole>(bytes, IncludeVersion()) == example());
    CHECK(readingObject<Inner>(bytes).code() == error_code_serialization_failed);
    CHECK(readingObject<int>(ObjectWriter::toValue(1.5f, IncludeVersion())).code() == error_code_serialization_failed);
    CHECK(ObjectReader::fromStringRef<std::string>(ObjectWriter::toValue("text"_sr, Unversioned()), Unversioned()) ==
          "text");
}

TEST_CASE("object: the bytes are those that the header says") {
    CHECK(ObjectWriter::toValue(Inner{0x01020304, "ab"}, Unversioned()).toFullHexStringPlain() ==
          StringRef(std::string("\x00\x00\x52\x4d\x0a\x00\x00\x00\x04\x03\x02\x01\x02\x00\x00\x00"
                                "ab",
                                18))
              .toFullHexStringPlain());
    CHECK(ObjectWriter::toValue(7, IncludeVersion()).size() == 8 + 4 + 4 + 4);
}

TEST_CASE("object: older and newer programs read each other's structs") {
    Whole whole = example();
    auto older = ObjectReader::fromStringRef<Older>(ObjectWriter::toValue(whole, IncludeVersion()), IncludeVersion());
    CHECK(older.id == whole.id);
    CHECK(older.inner == whole.inner);
    auto newer = ObjectReader::fromStringRef<Whole>(ObjectWriter::toValue(older, IncludeVersion()), IncludeVersion());
    CHECK(newer.inner == whole.inner);
    CHECK(!newer.one.present());
    // Within a vector, too.
    auto inner =
        ObjectReader::fromStringRef<NewerOlder>(ObjectWriter::toValue(older, IncludeVersion()), IncludeVersion());
    REQUIRE(inner.inner.size() == 2);
    CHECK(inner.inner[0].text == "one");
    CHECK(inner.inner[1].more == std::vector<int>{1, 2, 3});
    inner.inner[0].more = {9};
    older = ObjectReader::fromStringRef<Older>(ObjectWriter::toValue(inner, IncludeVersion()), IncludeVersion());
    CHECK(older.inner == whole.inner);
}

TEST_CASE("object: a newer version of the protocol is refused") {
    ProtocolVersion newer(currentProtocolVersion().version() + 1);
    CHECK(readingObject<Inner>(ObjectWriter::toValue(Inner(), IncludeVersion(newer))).code() ==
          error_code_incompatible_protocol_version);
    ObjectReader reader(ObjectWriter::toValue(Inner(), Unversioned()), AssumeVersion(newer));
    CHECK(reader.protocolVersion() == newer);
}

TEST_CASE("object: an arena among the members keeps what was read alive") {
    test::Balance balance;
    Keys keys;
    keys.keys.push_back_deep(keys.arena, "first"_sr);
    keys.keys.push_back_deep(keys.arena, "second"_sr);
    Keys same;
    {
        Standalone<StringRef> bytes = ObjectWriter::toValue(keys, Unversioned());
        ArenaObjectReader reader(Arena(), bytes, Unversioned());
        reader.deserialize(same);
    }
    REQUIRE(same.keys.size() == 2);
    CHECK(same.keys[1] == "second"_sr);
}

TEST_CASE("object: bytes that are cut off, changed at random, or nested too deep are errors and nothing else") {
    Standalone<StringRef> bytes = ObjectWriter::toValue(example(), IncludeVersion());
    for (int size = 0; size < bytes.size(); ++size)
        CHECK(readingObject<Whole>(bytes.substr(0, size)).isValid());
    DeterministicRandom random(32);
    for (int i = 0; i < 20'000; ++i) {
        std::string changed = bytes.toString();
        for (int changes = random.randomInt(1, 6); changes > 0; --changes)
            changed[static_cast<std::size_t>(random.randomInt(0, static_cast<int>(changed.size())))] =
                static_cast<char>(random.randomInt(0, 256));
        Error error = readingObject<Whole>(changed);
        CHECK((!error.isValid() || error.code() == error_code_serialization_failed ||
               error.code() == error_code_incompatible_protocol_version));
    }
    std::string deep;
    for (std::uint32_t level = 0; level < 2000; ++level) { // each: its size, a count of one
        BinaryWriter head((Unversioned()));
        head << (2000 - level) * 8 - 4 << std::uint32_t{level == 1999 ? 0u : 1u};
        deep.append(static_cast<char const*>(head.getData()), static_cast<std::size_t>(head.getLength()));
    }
    ObjectReader reader(deep, Unversioned());
    Linked linked;
    CHECK_THROWS_AS(reader >> linked, Error);
}
