#include "flow/memory/standalone.h"

#include "flow/base/optional.h"
#include "flow/memory/vector_ref.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <unordered_map>

using namespace flow;

namespace {

/// As users write it: a record of things in an arena.
struct Pair {
    StringRef key, value;
    Pair() = default;
    Pair(StringRef k, StringRef v) : key(k), value(v) {}
    Pair(Arena& arena, Pair const& other) : key(arena, other.key), value(arena, other.value) {}
};

Standalone<StringRef> make(std::string const& text) {
    return StringRef(text);
}

} // namespace

TEST_CASE("standalone: owns a copy") {
    test::Balance balance;
    Standalone<StringRef> key = make(std::string(100, 'k'));
    CHECK(key == StringRef(std::string(100, 'k')));
    Standalone<StringRef> literal = "text"_sr;
    Standalone<StringRef> fromString = std::string("text");
    CHECK(literal == fromString);
    CHECK(literal == "text"_sr);
    CHECK(key < literal);
    CHECK(literal.contents() == "text"_sr);
    Standalone<StringRef> explicitly("text");
    CHECK(explicitly == literal);
}

TEST_CASE("standalone: copies share, and outlive the original") {
    test::Balance balance;
    Standalone<StringRef> copy;
    {
        Standalone<StringRef> key = "a key that is copied"_sr;
        copy = key;
        CHECK(copy.begin() == key.begin());
        Standalone<StringRef> moved = std::move(key);
        CHECK(key.empty());
        CHECK(moved.begin() == copy.begin());
    }
    CHECK(copy == "a key that is copied"_sr);
    copy = *&copy;
    CHECK(copy == "a key that is copied"_sr);
    copy = copy.substr(2, 3); // a part of itself: copied before its memory goes
    CHECK(copy == "key"_sr);
}

TEST_CASE("standalone: vectors and records") {
    test::Balance balance;
    Standalone<VectorRef<StringRef>> keys;
    for (int i = 0; i < 100; ++i)
        keys.push_back_deep(keys.arena(), std::to_string(i));
    Standalone<VectorRef<StringRef>> copy = keys;
    Standalone<VectorRef<StringRef>> deep = keys.contents();
    CHECK(copy.begin() == keys.begin());
    CHECK(deep.begin() != keys.begin());
    keys = Standalone<VectorRef<StringRef>>();
    CHECK(copy[99] == "99"_sr);
    CHECK(deep[99] == "99"_sr);

    Standalone<Pair> pair;
    {
        std::string k = "key", v = "value";
        pair = Pair(k, v);
    }
    CHECK(pair.value == "value"_sr);
    Standalone<Pair> made(Pair("k"_sr, "v"_sr));
    CHECK(made.key == "k"_sr);
}

TEST_CASE("standalone: makeString and a shared arena") {
    test::Balance balance;
    Standalone<StringRef> text = makeString(5);
    std::memcpy(mutateString(text), "hello", 5);
    CHECK(text == "hello"_sr);
    CHECK(makeString(0).empty());
    Arena arena;
    StringRef inArena = makeString(3, arena);
    std::memcpy(mutateString(inArena), "abc", 3);
    Standalone<StringRef> sharing(inArena, arena);
    arena = Arena();
    CHECK(sharing == "abc"_sr);
    Standalone<StringRef> part(sharing.substr(1), sharing.arena());
    sharing = Standalone<StringRef>();
    CHECK(part == "bc"_sr);
}

TEST_CASE("standalone: keys of maps, in optionals") {
    std::unordered_map<Standalone<StringRef>, int> counts;
    ++counts["a"_sr];
    ++counts[make("a")];
    ++counts[make("b")];
    CHECK(counts.size() == 2);
    CHECK(counts["a"_sr] == 2);
    std::map<Standalone<StringRef>, int> ordered = {{"b"_sr, 2}, {"a"_sr, 1}};
    CHECK(ordered.begin()->first == "a"_sr);
    Optional<Standalone<StringRef>> found = make("found");
    CHECK(found.get() == "found"_sr);
    CHECK(found.map([](StringRef s) { return s.size(); }).get() == 5);
    Optional<StringRef> ref = found;
    CHECK(ref.get() == "found"_sr);
    Arena arena;
    Optional<StringRef> copied(arena, ref);
    CHECK(copied.get().begin() != ref.get().begin());
}

TEST_CASE("standalone: a string with a prefix or suffix has memory of its own") {
    test::Balance balance;
    Standalone<StringRef> joined;
    {
        std::string gone(100, 'k');
        joined = StringRef(gone).withPrefix("user/"_sr).withSuffix("/name"_sr);
    }
    CHECK(joined == StringRef("user/" + std::string(100, 'k') + "/name"));
    CHECK(StringRef().withPrefix(StringRef()).empty());
    CHECK(joined.withSuffix(""_sr) == joined);
}
