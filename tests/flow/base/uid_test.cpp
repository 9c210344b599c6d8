#include "flow/base/uid.h"

#include <doctest/doctest.h>

#include <unordered_set>

using namespace flow;

TEST_CASE("uid: text and back") {
    UID id(0x123456789abcdef0u, 0xfu);
    CHECK(id.toString() == "123456789abcdef0000000000000000f");
    CHECK(id.shortString() == "123456789abcdef0");
    CHECK(UID::fromString(id.toString()) == id);
    for (char const* wrong :
         {"", "123456789abcdef0000000000000000", "123456789abcdef0000000000000000g", "g23456789abcdef0000000000000000f",
          "-23456789abcdef0000000000000000f", "123456789abcdef0000000000000000f0"})
        CHECK_THROWS_AS((void)UID::fromString(wrong), Error);
}

TEST_CASE("uid: none, order and hash") {
    CHECK_FALSE(UID().isValid());
    CHECK(UID(0, 1).isValid());
    CHECK(UID(1, 0).isValid());
    CHECK(UID(1, 2) < UID(2, 0));
    CHECK(UID(1, 2) < UID(1, 3));
    CHECK(UID(5, 6).first() == 5);
    CHECK(UID(5, 6).second() == 6);
    std::unordered_set<UID> set = {UID(1, 2), UID(2, 1), UID(1, 2)};
    CHECK(set.size() == 2);
}
