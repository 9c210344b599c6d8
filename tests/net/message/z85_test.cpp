#include "net/message/z85.h"

#include <doctest/doctest.h>

using namespace flow::net;

TEST_CASE("z85: the example of the specification, and back") {
    std::string bytes("\x86\x4F\xD2\x6F\xB5\x59\xF7\x5B", 8);
    CHECK(z85Encode(bytes) == "HelloWorld");
    CHECK(z85Decode("HelloWorld") == bytes);
    CHECK(z85Encode("") == "");
    std::string all;
    for (int i = 0; i < 256; ++i)
        all.push_back(static_cast<char>(i));
    CHECK(z85Decode(z85Encode(all)) == all);
}

TEST_CASE("z85: what is no text of it gives nothing") {
    CHECK_FALSE(z85Decode("Hell"));
    CHECK_FALSE(z85Decode("Hell~"));
    CHECK_FALSE(z85Decode("#####")); // more than 32 bits
}
