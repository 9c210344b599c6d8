#include "flow/memory/string_ref.h"

#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <map>
#include <unordered_set>

using namespace flow;

TEST_CASE("string_ref: literals, strings and views") {
    StringRef empty;
    CHECK(empty.empty());
    CHECK(empty.toString().empty());
    CHECK(empty == ""_sr);
    CHECK("a\0b"_sr.size() == 3);
    CHECK(LiteralStringRef("a\0b") == "a\0b"_sr);
    std::string string = "text";
    StringRef ref = string;
    CHECK(ref.begin() == reinterpret_cast<std::uint8_t const*>(string.data()));
    CHECK(ref == string);
    CHECK(StringRef("text") == ref);
    CHECK(StringRef(std::string_view("te")) != ref);
    CHECK(ref[3] == 't');
    CHECK(ref.toString() == "text");
    CHECK(ref.expectedSize() == 4);
}

TEST_CASE("string_ref: bytes compare unsigned, shorter first") {
    CHECK("a"_sr < "b"_sr);
    CHECK("a"_sr < "ab"_sr);
    CHECK("\x7f"_sr < "\x80"_sr);
    CHECK("\xff"_sr > "a"_sr);
    CHECK(""_sr < "\0"_sr);
    CHECK("a"_sr.compare("b"_sr) < 0);
    CHECK("b"_sr.compare("b"_sr) == 0);
    CHECK("c"_sr.compare("b"_sr) > 0);
    std::map<StringRef, int> map = {{"b"_sr, 2}, {"a"_sr, 1}};
    CHECK(map.begin()->second == 1);
    std::unordered_set<StringRef> set = {"a"_sr, "b"_sr, "a"_sr};
    CHECK(set.size() == 2);
}

TEST_CASE("string_ref: parts") {
    StringRef text = "user/7/name"_sr;
    CHECK(text.substr(5) == "7/name"_sr);
    CHECK(text.substr(5, 1) == "7"_sr);
    CHECK(text.substr(5, 1000) == "7/name"_sr);
    CHECK("abc"_sr.substr(2, 7) == "c"_sr);
    CHECK("abc"_sr.substr(3, 7).empty());
    CHECK(text.substr(text.size()).empty());
    CHECK(text.startsWith("user/"_sr));
    CHECK_FALSE(text.startsWith("user//"_sr));
    CHECK_FALSE("u"_sr.startsWith(text));
    CHECK(text.startsWith(StringRef()));
    CHECK(text.endsWith("name"_sr));
    CHECK_FALSE(text.endsWith("nam"_sr));
    CHECK(text.removePrefix("user/"_sr) == "7/name"_sr);
    CHECK(text.removeSuffix("/name"_sr) == "user/7"_sr);
    CHECK(text.commonPrefixLength("user/8"_sr) == 5);
    CHECK(text.commonPrefixLength(text) == text.size());
    CHECK(text.commonPrefixLength(StringRef()) == 0);
    Arena arena;
    CHECK("b"_sr.withPrefix("a"_sr, arena) == "ab"_sr);
    CHECK("b"_sr.withSuffix("c"_sr, arena) == "bc"_sr);
    CHECK(StringRef().withSuffix(StringRef(), arena).empty());
}

TEST_CASE("string_ref: out of range aborts") {
    CHECK_DIES((void)"abc"_sr.substr(4), "substr");
    CHECK_DIES((void)"abc"_sr.substr(-1), "substr");
    CHECK_DIES((void)"abc"_sr.substr(1, -1), "substr");
    CHECK_DIES((void)"abc"_sr.removePrefix("b"_sr), "removePrefix");
    CHECK_DIES((void)"abc"_sr.removeSuffix("b"_sr), "removeSuffix");
#if FLOW_CHECKED
    CHECK_DIES((void)"abc"_sr[3], "out of range");
    CHECK_DIES((void)"abc"_sr[-1], "out of range");
#endif
}

TEST_CASE("string_ref: eat says whether there was a separator, and eatAny which") {
    StringRef text = "a=1;b"_sr;
    bool found = false;
    CHECK((text.eat("="_sr, &found) == "a"_sr && found));
    std::uint8_t which = 0;
    CHECK((text.eatAny("=;", &which) == "1"_sr && which == ';'));
    CHECK((text.eatAny("=;"_sr, &which) == "b"_sr && which == ';' && text.empty()));
    CHECK((text.eat("=", &found).empty() && !found));
    CHECK(StringRef("x.y").eatAny(".", nullptr) == "x"_sr);
    CHECK("a.b,,c"_sr.splitAny(".,"_sr) == std::vector<StringRef>{"a"_sr, "b"_sr, ""_sr, "c"_sr});
    CHECK("a."_sr.splitAny("."_sr) == std::vector<StringRef>{"a"_sr});
    CHECK(""_sr.splitAny("."_sr).empty());
}

TEST_CASE("string_ref: eat takes one part after the other") {
    StringRef text = "a=1;;b=2"_sr;
    CHECK(text.eat(";"_sr) == "a=1"_sr);
    CHECK(text.eat(";") == ""_sr);
    CHECK(text.eat("=") == "b"_sr);
    CHECK(text.eat(";") == "2"_sr);
    CHECK(text.empty());
    CHECK(text.eat(";").empty());
    text = "a--b"_sr;
    CHECK((text.eat("--") == "a"_sr && text == "b"_sr));
    text = "rest"_sr;
    CHECK(text.eat() == "rest"_sr);
    CHECK(text.empty());
}

TEST_CASE("string_ref: printable and hexadecimal") {
    CHECK("plain ~"_sr.printable() == "plain ~");
    CHECK("\0\x7f\xff\\\n"_sr.printable() == "\\x00\\x7f\\xff\\\\\\x0a");
    CHECK(printable(std::string("a\tb")) == "a\\x09b");
    CHECK("\x01\xab"_sr.toFullHexStringPlain() == "01ab");
    CHECK(""_sr.toHexString().empty());
    CHECK("az/09 AZ"_sr.toHexString() == "61 (a) 7a (z) 2f 30 (0) 39 (9) 20 41 (A) 5a (Z)");
    CHECK("abcdefghij"_sr.toHexString(10) == "abcdefghij"_sr.toHexString());
    CHECK("abcdefghij"_sr.toHexString(9) ==
          "61 (a) 62 (b) 63 (c) 64 (d) 65 (e) 66 (f)...68 (h) 69 (i) 6a (j) [10 bytes]");
    CHECK("abcdefghij"_sr.toHexString(2) == "61 (a) 62 (b)...[10]");
    CHECK("abcdefghij"_sr.toHexString(0) == "...[10]");
}

TEST_CASE("string_ref: copies in an arena") {
    Arena arena;
    StringRef copy;
    {
        std::string gone = "short lived, but copied";
        copy = StringRef(arena, gone);
        CHECK(copy.begin() != StringRef(gone).begin());
        gone.assign(gone.size(), '#');
    }
    CHECK(copy == "short lived, but copied"_sr);
    CHECK(StringRef(copy, arena) == copy);
    CHECK(StringRef(arena, copy.begin(), 5) == "short"_sr);
    CHECK(StringRef(arena, StringRef()).empty());
    std::uint8_t bytes[5];
    CHECK(copy.substr(0, 5).copyTo(bytes) == bytes + 5);
    CHECK(StringRef(bytes, 5) == "short"_sr);
    CHECK(StringRef().copyTo(bytes) == bytes);
}
