#include "net/detail/byte_buffer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace flow;
using namespace flow::net;

namespace {

std::string textOf(ByteBuffer const& buffer) {
    return {reinterpret_cast<char const*>(buffer.data()), buffer.size()};
}

} // namespace

TEST_CASE("byte buffer: gives what was appended, in order, whatever was taken in between") {
    ByteBuffer buffer;
    std::string expected;
    for (int i = 0; i < 1000; ++i) {
        std::string piece = std::to_string(i);
        buffer.append(StringRef(piece));
        expected += piece;
        std::size_t taken = std::min<std::size_t>(i % 5, buffer.size());
        buffer.consume(taken);
        expected.erase(0, taken);
        REQUIRE(textOf(buffer) == expected);
    }
    buffer.consume(buffer.size());
    CHECK(buffer.isEmpty());
    CHECK(buffer.data() == nullptr);
}

TEST_CASE("byte buffer: what is borrowed is copied when it must be") {
    std::string block = "borrowed bytes";
    auto const* data = reinterpret_cast<std::uint8_t const*>(block.data());
    ByteBuffer buffer;
    buffer.own(); // of nothing
    buffer.borrow(data, 8);
    CHECK(buffer.isBorrowed());
    buffer.consume(3);
    buffer.own();
    CHECK_FALSE(buffer.isBorrowed());
    block.assign(block.size(), '-');
    CHECK(textOf(buffer) == "rowed");
    buffer.append("!"_sr);
    CHECK(textOf(buffer) == "rowed!");
}

TEST_CASE("byte buffer: finds a text, and returns where to continue the search") {
    ByteBuffer buffer;
    CHECK(buffer.find("\n"_sr, 0) == 0);
    buffer.append("one\r\ntwo"_sr);
    CHECK(buffer.find("\r\n"_sr, 0) == 3);
    CHECK(buffer.find("\r\n"_sr, 4) == buffer.size());
    CHECK(buffer.find("none"_sr, 0) == buffer.size());
    CHECK(buffer.find("o"_sr, 100) == buffer.size());
}
