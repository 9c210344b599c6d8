#include "net/http/detail/websocket_frame.h"

#include "flow/memory/standalone.h"
#include "net/http/detail/websocket_key.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::net;

namespace {

namespace websocket = flow::net::http::websocket;
using websocket::FrameHead;

std::span<std::uint8_t const> bytesOf(std::string const& text) {
    return {reinterpret_cast<std::uint8_t const*>(text.data()), text.size()};
}

FrameHead frameHeadOf(std::string const& bytes) {
    REQUIRE(bytes.size() >= 2 + websocket::restOfHead(static_cast<std::uint8_t>(bytes[1])));
    return FrameHead(bytesOf(bytes));
}

} // namespace

TEST_CASE("WebSocket frames: each size of a payload comes back, with and without a mask") {
    for (std::size_t size : {0, 1, 7, 8, 9, 125, 126, 127, 65535, 65536, 100000})
        for (bool isMasked : {false, true}) {
            std::string payload;
            for (std::size_t i = 0; i < size; ++i)
                payload += static_cast<char>(i * 7);
            std::optional<websocket::Mask> mask;
            if (isMasked)
                mask = websocket::Mask{1, 2, 0xFE, 0xFF};
            std::string frame = websocket::makeFrame(websocket::Opcode::Binary, payload, mask).toString();
            FrameHead head = frameHeadOf(frame);
            CHECK(head.opcode() == websocket::Opcode::Binary);
            CHECK(head.isLast());
            CHECK(head.size == size);
            CHECK(head.isMasked == isMasked);
            CHECK(head.fault(isMasked, false) == nullptr);
            std::size_t begin = 2 + websocket::restOfHead(static_cast<std::uint8_t>(frame[1]));
            CHECK(begin == 2 + (size < 126 ? 0 : size < 65536 ? 2 : 8) + (isMasked ? 4 : 0));
            REQUIRE(frame.size() == begin + size);
            CHECK((frame.substr(begin) == payload) == (!isMasked || size == 0));
            websocket::applyMask({reinterpret_cast<std::uint8_t*>(frame.data()) + begin, size}, head.mask);
            CHECK(frame.substr(begin) == payload);
        }
}

TEST_CASE("WebSocket frames: the examples of the RFC") {
    CHECK(websocket::makeFrame(websocket::Opcode::Text, "Hello", {}) == "\x81\x05Hello"_sr);
    CHECK(websocket::makeFrame(websocket::Opcode::Text, "Hello", websocket::Mask{0x37, 0xFA, 0x21, 0x3D}) ==
          "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"_sr);
    CHECK(websocket::acceptFor("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST_CASE("WebSocket keys: SHA-1 at the edges of a block, and base64") {
    for (auto const& [bytes, text] : {std::pair("", ""), {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}})
        CHECK(websocket::base64(bytes) == text);
    // Made by Python's hashlib, for keys of so many letters.
    for (auto const& [length, accept] : {std::pair(18, "qChxkF3JDYNASeew3saQqqTWi7o="),
                                         {19, "tWclcP21hrR+xgjYVswtQRW71GQ="},
                                         {20, "tSsjsIAvEVIQ+IC5K8+T/OkG8nU="},
                                         {27, "qUNe7W8rvas6tQS5F4QBTf/JpvE="},
                                         {28, "x9bmfLYIxLMaaT5h0sFuRlAhhb8="}})
        CHECK(websocket::acceptFor(std::string(static_cast<std::size_t>(length), 'k')) == accept);
}

TEST_CASE("WebSocket frames: what breaks the protocol") {
    auto fault = [](std::string const& bytes, bool fromClient = false, bool isWithin = false) {
        char const* found = frameHeadOf(bytes).fault(fromClient, isWithin);
        return std::string(found ? found : "");
    };
    using namespace std::string_literals;
    CHECK(fault("\x81\x00"s).empty());
    CHECK(fault("\x01\x00"s).empty());
    CHECK(fault("\x80\x00"s, false, true).empty());
    CHECK(fault("\x89\x7D"s, false, true).empty());
    CHECK(fault("\x89\x7D"s).empty());
    for (char first : {'\xC1', '\xA1', '\x91'})
        CHECK(fault(first + "\x00"s) == "a frame with a reserved bit");
    for (char first : {'\x83', '\x87', '\x8B', '\x8F'})
        CHECK(fault(first + "\x00"s) == "a frame of an unknown kind");
    CHECK(fault("\x81\x00"s, true) == "a frame without a mask");
    CHECK(fault("\x81\x80mask"s) == "a frame with a mask");
    CHECK(fault("\x81\x7E\x00\x7D"s) == "a size that is not in its shortest form");
    CHECK(fault("\x81\x7F\x00\x00\x00\x00\x00\x00\xFF\xFF"s) == "a size that is not in its shortest form");
    CHECK(fault("\x81\x7F\x80\x00\x00\x00\x00\x01\x00\x00"s) == "a size that is not in its shortest form");
    CHECK(fault("\x09\x00"s) == "a part of a control frame");
    CHECK(fault("\x89\x7E\x00\x7E"s) == "a control frame above 125 bytes");
    CHECK(fault("\x81\x00"s, false, true) == "a new message within a message");
    CHECK(fault("\x80\x00"s) == "a part of no message");
}
