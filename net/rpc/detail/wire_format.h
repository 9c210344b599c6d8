#pragma once
// The bytes of a connection between processes: a greeting, then frames. All numbers are little-endian.
//
//     greeting: 8 bytes "MRC-RPC1", 8 protocol version, 4 flags (1: frames have checksums), 4 zeros
//     frame:    4 bytes: the number of bytes after the first 12 bytes; at least 28
//               4 bytes: CRC-32C of that number. A receiver finds a wrong number before it waits for so many bytes
//               4 bytes: CRC-32C of the rest; both CRCs are 0 if the greetings say that there are no checksums
//               4 zeros
//               16 bytes: the token of an endpoint of the receiving process
//               8 bytes: the number for the reply, by which the sender finds the waiter; 0: no reply is expected
//               the message, an object of flow/memory/object.h; or a reply, see net/rpc/detail/reply_body.h
//
// If the first half of a token is 0, the other half is the number for a reply. If both halves are 0, the frame is a
// ping; if the number for the reply is not 0, the ping asks for an empty frame as an answer. If the first half is all
// ones, the other half is the number of a well-known endpoint. If the first half is kNamed, the other half is the hash
// of a name. A frame to the well-known endpoint kDroppedCall has the number for the reply of an earlier request of this
// connection: nothing waits for that reply any more. A process does not use a number again on the same connection.
//
//     ParsedFrame parsed = parseFrame(bytes, limits);
//     if (parsed.fault == FrameFault::TooLarge) ...        // skip the frame, which has parsed.needed bytes
//     if (parsed.fault != FrameFault::None) ...            // the connection cannot be used any more
//     if (parsed.used == 0) ...                            // incomplete: the whole frame has parsed.needed bytes
//     deliver(parsed.to, parsed.reply, parsed.message);    // the message lies in `bytes`

#include "flow/base/uid.h"
#include "flow/memory/object.h"

#include <optional>

namespace flow::net {

enum class FrameFault : std::uint8_t { None, TooShort, TooLarge, Checksum };

struct FrameLimits {
    std::uint32_t largest;    // the most bytes of a message
    bool hasChecksums = true; // true if checksums are checked
};

struct ParsedFrame {
    FrameFault fault = FrameFault::None; // if TooLarge, `needed`, `to` and `reply` are set
    std::size_t used = 0;                // the bytes of the frame, if it is whole
    std::size_t needed = 0;              // if not whole: the bytes needed next: the header, or the whole frame
    UID to;
    std::uint64_t reply = 0;
    StringRef message;
};

constexpr std::size_t kFrameHeaderBytes = 40;
constexpr std::size_t kFramePrefixBytes =
    12; // the first bytes of a header; the size at the beginning of a frame does not count them
constexpr std::uint64_t kWellKnown = ~std::uint64_t{0};
constexpr std::uint64_t kNamed = kWellKnown - 1;
constexpr std::uint64_t kDroppedCall = 1; // the number of a well-known endpoint

/// Parses the first frame in `bytes`.
ParsedFrame parseFrame(StringRef bytes, FrameLimits const& limits);
/// Returns the checksum that a frame's header has for the bytes after the first kFramePrefixBytes.
std::uint32_t checksumIn(StringRef header);
/// Begins a frame at the end of `out`. Append the message next. Then pass the result to finishFrame(), as `begin`.
std::size_t beginFrame(std::string& out, UID to, std::uint64_t reply);
void finishFrame(std::string& out, std::size_t begin, bool hasChecksum);

struct Greeting {
    ProtocolVersion version;
    bool hasChecksums = true;
};
constexpr std::size_t kGreetingBytes = 24;
std::string greetingBytes(Greeting const& greeting);
/// Parses the first kGreetingBytes of a connection. Returns nothing if these bytes are no greeting.
std::optional<Greeting> parseGreeting(StringRef bytes);
/// True if programs of these versions are compatible: they may differ only in the lowest 16 bits.
bool isCompatible(ProtocolVersion a, ProtocolVersion b);

} // namespace flow::net
