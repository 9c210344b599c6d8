#include "net/real/detail/shared_block.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>

using namespace flow;
using namespace flow::net;

namespace {

void receive(SharedBlock& block, ByteBuffer& buffer, std::string const& text) {
    auto room = block.roomFor(buffer);
    REQUIRE(room.size() >= text.size());
    std::memcpy(room.data(), text.data(), text.size());
    block.received(buffer, room, text.size());
}

std::string textOf(ByteBuffer const& buffer) {
    return {reinterpret_cast<char const*>(buffer.data()), buffer.size()};
}

} // namespace

TEST_CASE("shared block: what one buffer has left survives what another one receives") {
    SharedBlock block;
    ByteBuffer a, b;
    receive(block, a, "first");
    CHECK(a.isBorrowed());
    a.consume(1);
    receive(block, b, "second");
    CHECK_FALSE(a.isBorrowed());
    CHECK(b.isBorrowed());
    receive(block, a, "+third");
    CHECK(textOf(a) == "irst+third");
    CHECK(textOf(b) == "second");
    a.consume(a.size());
    receive(block, a, "new");
    CHECK(a.isBorrowed());
    CHECK(textOf(b) == "second");
    block.forget(a);
    block.forget(b);
}

TEST_CASE("shared block: bytes that come behind those of the same buffer are joined in place, while there is room") {
    SharedBlock block;
    ByteBuffer buffer;
    std::string expected;
    for (int i = 0; i < 100; ++i) {
        std::string piece(1000, static_cast<char>('a' + i % 26));
        receive(block, buffer, piece);
        expected += piece;
        CHECK(buffer.isBorrowed() == (i < 50));
    }
    CHECK(textOf(buffer) == expected);
    block.forget(buffer);
}
