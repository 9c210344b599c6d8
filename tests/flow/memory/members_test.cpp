#include "flow/memory/members.h"

#include "flow/base/optional.h"
#include "flow/core/void.h"
#include "flow/memory/object.h"

#include <doctest/doctest.h>

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

using namespace flow;

namespace {

struct PlainInner {
    int number;
    std::string text;
    bool operator==(PlainInner const&) const = default;
};
struct PlainNothing {};
struct PlainOuter {
    constexpr static FileIdentifier file_identifier = 4712;
    std::uint64_t id = 0;
    PlainInner one;
    std::vector<PlainInner> many;
    Optional<PlainInner> maybe;
    std::map<std::string, PlainInner> named;
    std::array<std::uint16_t, 3> three = {};
    std::variant<int, PlainInner> either;
    std::tuple<bool, PlainInner> both;
    PlainNothing nothing;
    Void none;
    bool operator==(PlainOuter const& other) const {
        return std::tie(id, one, many, maybe, named, three, either, both) ==
               std::tie(other.id, other.one, other.many, other.maybe, other.named, other.three, other.either,
                        other.both);
    }
};

// The same structs with the member function.
struct NamedInner {
    int number;
    std::string text;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, number, text);
    }
};
struct NamedNothing {
    template <class Ar>
    void serialize(Ar&) {}
};
struct NamedOuter {
    constexpr static FileIdentifier file_identifier = 4712;
    std::uint64_t id = 0;
    NamedInner one;
    std::vector<NamedInner> many;
    Optional<NamedInner> maybe;
    std::map<std::string, NamedInner> named;
    std::array<std::uint16_t, 3> three = {};
    std::variant<int, NamedInner> either;
    std::tuple<bool, NamedInner> both;
    NamedNothing nothing;
    Void none;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, id, one, many, maybe, named, three, either, both, nothing, none);
    }
};

template <class Outer, class Inner>
Outer outer() {
    return {1,
            {2, "two"},
            {{3, "three"}, {}},
            Inner{4, "four"},
            {{"five", {5, ""}}},
            {6, 7, 8},
            Inner{9, "nine"},
            {true, Inner{10, "ten"}},
            {},
            {}};
}

struct PlainShort {
    constexpr static FileIdentifier file_identifier = 4713;
    std::vector<PlainNothing> list;
    int last = 0;
};
struct PlainLong {
    constexpr static FileIdentifier file_identifier = 4713;
    std::vector<PlainInner> list;
    int last = 0;
    std::string more = "default";
};

/// Is written with all three, although a std::pair has members of two of these names.
struct PlainThree {
    int first, second, third;
};
struct PlainMost {
    struct Eight {
        std::int8_t a, b, c, d, e, f, g, h;
    };
    Eight a, b;
    std::int8_t c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff;
};
struct PlainBase {
    int number = 0;
};
struct PlainDerived : PlainBase {
    int more = 0;
};
struct PlainArrays {
    int numbers[3];
    int more;
};

} // namespace

TEST_CASE("members: a plain struct has the bytes of one with serialize()") {
    auto plain = outer<PlainOuter, PlainInner>();
    auto named = outer<NamedOuter, NamedInner>();
    Standalone<StringRef> bytes = ObjectWriter::toValue(named, IncludeVersion());
    CHECK(ObjectWriter::toValue(plain, IncludeVersion()) == bytes);
    CHECK(BinaryWriter::toValue(plain, Unversioned()) == BinaryWriter::toValue(named, Unversioned()));
    CHECK(ObjectReader::fromStringRef<PlainOuter>(bytes, IncludeVersion()) == plain);
    bytes = BinaryWriter::toValue(named, Unversioned());
    CHECK(BinaryReader::fromStringRef<PlainOuter>(bytes, Unversioned()) == plain);
    CHECK(BinaryWriter::toValue(PlainThree{1, 2, 3}, Unversioned()).size() == 3 * sizeof(int));
}

TEST_CASE("members: older and newer programs read each other's plain structs, also an empty one that grows") {
    auto newer = ObjectReader::fromStringRef<PlainLong>(ObjectWriter::toValue(PlainShort{{{}, {}}, 7}, Unversioned()),
                                                        Unversioned());
    CHECK(newer.list == std::vector<PlainInner>{{0, ""}, {0, ""}}); // no member of it is left without a value
    CHECK(newer.last == 7);
    CHECK(newer.more == "default");
    newer.list[1] = {8, "eight"};
    auto older = ObjectReader::fromStringRef<PlainShort>(ObjectWriter::toValue(newer, Unversioned()), Unversioned());
    CHECK(older.list.size() == 2);
    CHECK(older.last == 7);
}

TEST_CASE("members: they are counted, and a base class or an array is found") {
    static_assert(flow::detail::countMembers<PlainNothing>() == 0);
    static_assert(flow::detail::countMembers<PlainOuter>() == 10);
    static_assert(flow::detail::countMembers<PlainMost>() == kMostMembers);
    static_assert(flow::detail::countMembers<PlainArrays>() == 2);
    static_assert(flow::detail::HasBase<PlainDerived> && !flow::detail::HasBase<PlainOuter> &&
                  !flow::detail::HasBase<PlainMost>);
    PlainMost most = {};
    most.ff = 5;
    auto read = BinaryReader::fromStringRef<PlainMost>(BinaryWriter::toValue(most, Unversioned()), Unversioned());
    CHECK(read.ff == 5);
    int sum = 0;
    PlainThree three = {1, 2, 3};
    forMembers(three, [&](auto const&... members) { sum = (members + ...); });
    CHECK(sum == 6);
}
