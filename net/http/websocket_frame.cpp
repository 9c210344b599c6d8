#include "net/http/detail/websocket_frame.h"

#include <cstring>

namespace flow::net::http::websocket {

std::size_t restOfHead(std::uint8_t second) {
    std::uint8_t size = second & 0x7F;
    return (size < 126 ? 0 : size == 126 ? 2 : 8) + ((second & 0x80) != 0 ? 4 : 0);
}

FrameHead::FrameHead(std::span<std::uint8_t const> bytes)
    : first(bytes[0]), isMasked((bytes[1] & 0x80) != 0), isShortest(true), mask(), size(bytes[1] & 0x7F) {
    std::size_t at = 2;
    if (size >= 126) {
        std::size_t end = size == 126 ? 4 : 10;
        for (size = 0; at < end; ++at)
            size = size << 8 | bytes[at];
        isShortest = size >= (end == 4 ? 126 : 65536);
    }
    if (isMasked)
        std::memcpy(mask.data(), &bytes[at], mask.size());
}

char const* FrameHead::fault(bool fromClient, bool isWithin) const {
    if ((first & 0x70) != 0)
        return "a frame with a reserved bit";
    if (opcode() > Opcode::Pong || (opcode() > Opcode::Binary && opcode() < Opcode::Close))
        return "a frame of an unknown kind";
    if (isMasked != fromClient)
        return fromClient ? "a frame without a mask" : "a frame with a mask";
    if (!isShortest || size >> 63 != 0)
        return "a size that is not in its shortest form";
    if (isControl())
        return !isLast()                ? "a part of a control frame"
               : size > kLargestControl ? "a control frame above 125 bytes"
                                        : nullptr;
    if ((opcode() == Opcode::Continuation) != isWithin)
        return isWithin ? "a new message within a message" : "a part of no message";
    return nullptr;
}

void applyMask(std::span<std::uint8_t> bytes, Mask mask) {
    std::uint8_t* at = bytes.data();
    std::size_t left = bytes.size();
    std::uint64_t wide = 0;
    for (std::size_t half : {0, 4})
        std::memcpy(reinterpret_cast<std::uint8_t*>(&wide) + half, mask.data(), mask.size());
    for (std::uint64_t word; left >= sizeof word; at += sizeof word, left -= sizeof word) {
        std::memcpy(&word, at, sizeof word);
        word ^= wide;
        std::memcpy(at, &word, sizeof word);
    }
    for (std::size_t i = 0; i < left; ++i)
        at[i] ^= mask[i % 4];
}

Bytes makeFrame(Opcode opcode, std::string_view payload, std::optional<Mask> mask) {
    std::uint8_t head[kLargestHead];
    std::size_t sizeBytes = payload.size() < 126 ? 0 : payload.size() < 65536 ? 2 : 8;
    head[0] = static_cast<std::uint8_t>(0x80 | static_cast<std::uint8_t>(opcode));
    head[1] = static_cast<std::uint8_t>(sizeBytes == 0 ? payload.size() : sizeBytes == 2 ? 126 : 127);
    std::size_t at = 2;
    for (std::size_t left = sizeBytes; left > 0; --left)
        head[at++] = static_cast<std::uint8_t>(payload.size() >> (8 * (left - 1)));
    if (mask) {
        head[1] |= 0x80;
        std::memcpy(head + at, mask->data(), mask->size());
        at += mask->size();
    }
    Bytes frame = makeString(static_cast<int>(at + payload.size()));
    std::uint8_t* to = mutateString(frame);
    std::memcpy(to, head, at);
    std::memcpy(to + at, payload.data(), payload.size());
    if (mask)
        applyMask({to + at, payload.size()}, *mask);
    return frame;
}

bool isCloseCode(int code) {
    return (code >= 1000 && code <= 1014 && (code < 1004 || code > 1006)) || (code >= 3000 && code < 5000);
}

} // namespace flow::net::http::websocket
