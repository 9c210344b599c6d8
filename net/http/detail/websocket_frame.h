#pragma once
// The frames of RFC 6455: heads, masks and the rules for them, without extensions.

#include "net/connection.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace flow::net::http::websocket {

enum class Opcode : std::uint8_t { Continuation = 0, Text = 1, Binary = 2, Close = 8, Ping = 9, Pong = 10 };

enum CloseCode : std::uint16_t {
    kNormal = 1000,
    kGoingAway = 1001,
    kProtocolError = 1002,
    kNoCode = 1005,  // the Close frame had no code; is never sent
    kNoClose = 1006, // the connection ended without a Close frame; is never sent
    kInvalidText = 1007,
    kTooBig = 1009,
    kInternalError = 1011,
};

inline constexpr std::size_t kLargestHead = 14;     // bytes; the smallest has 2
inline constexpr std::size_t kLargestControl = 125; // bytes in a control frame
using Mask = std::array<std::uint8_t, 4>;

/// Returns the number of bytes of a head after its second byte.
std::size_t restOfHead(std::uint8_t second);

struct FrameHead {
    std::uint8_t first; // the FIN bit, three reserved bits, the opcode
    bool isMasked;
    bool isShortest; // the size is encoded in the shortest form
    Mask mask;
    std::uint64_t size; // of the payload

    /// Parses a whole head.
    explicit FrameHead(std::span<std::uint8_t const> bytes);
    Opcode opcode() const { return static_cast<Opcode>(first & 15); }
    bool isLast() const { return (first & 0x80) != 0; }
    bool isControl() const { return (first & 8) != 0; }

    /// Returns the fault of the frame, as text; null if it breaks no rule of the protocol. `fromClient`: a client has
    /// sent it, so it must have a mask. `isWithin`: earlier frames have begun a message.
    char const* fault(bool fromClient, bool isWithin) const;
};

/// Masks or unmasks the payload, from its first byte.
void applyMask(std::span<std::uint8_t> bytes, Mask mask);

/// Makes a whole frame with the FIN bit. A client must give a mask.
Bytes makeFrame(Opcode opcode, std::string_view payload, std::optional<Mask> mask);

bool isCloseCode(int code);

} // namespace flow::net::http::websocket
