#pragma once
// The frames of RFC 6455: their heads, masks, and what a peer may not send. No extension is known.

#include "net/connection.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace flow::net::http::websocket {

enum class Opcode : std::uint8_t { Continuation = 0, Text = 1, Binary = 2, Close = 8, Ping = 9, Pong = 10 };

/// The codes of a Close frame that this library sends or shows.
enum CloseCode : std::uint16_t {
    kNormal = 1000,
    kGoingAway = 1001,
    kProtocolError = 1002,
    kNoCode = 1005,  // the Close frame had none; is never sent
    kNoClose = 1006, // the connection ended without a Close frame; is never sent
    kInvalidText = 1007,
    kTooBig = 1009,
    kInternalError = 1011,
};

inline constexpr std::size_t kLargestHead = 14;     // bytes; the smallest has 2
inline constexpr std::size_t kLargestControl = 125; // bytes in a control frame
using Mask = std::array<std::uint8_t, 4>;

/// Returns the number of bytes of a head behind its first two.
std::size_t restOfHead(std::uint8_t second);

struct FrameHead {
    std::uint8_t first; // the end mark, three reserved bits, the opcode
    bool isMasked;
    bool isShortest; // the size has the shortest form that is possible
    Mask mask;
    std::uint64_t size; // of the payload

    /// Reads a head: its first two bytes, and the rest of it.
    explicit FrameHead(std::span<std::uint8_t const> bytes);
    Opcode opcode() const { return static_cast<Opcode>(first & 15); }
    bool isLast() const { return (first & 0x80) != 0; }
    bool isControl() const { return (first & 8) != 0; }

    /// Returns a sentence that says how the frame breaks the protocol; null if it does not. `fromClient`: clients have
    /// sent it, and clients must mask. `isWithin`: earlier frames are the begin of a message.
    char const* fault(bool fromClient, bool isWithin) const;
};

/// Puts the mask on the bytes, or takes it off. `bytes` begins with the begin of the payload.
void applyMask(std::span<std::uint8_t> bytes, Mask mask);

/// Makes a whole frame, the only or last one of its message. A client gives a mask.
Bytes makeFrame(Opcode opcode, std::string_view payload, std::optional<Mask> mask);

/// True for the codes that may be in a Close frame.
bool isCloseCode(int code);

} // namespace flow::net::http::websocket
