#pragma once
// The bytes of a connection between processes: a greeting, then frames. All numbers are little-endian.
//
//     greeting: 8 bytes "MRC-RPC1", 8 protocol version, 4 flags (1: frames have checksums), 4 zeros
//     frame:    4 bytes: the number of bytes after the first 12 bytes; at least 28
//               4 bytes: CRC-32C of that number, to find a wrong number before waiting for the bytes
//               4 bytes: CRC-32C of the rest; both CRCs are 0 if the greetings say that there are no checksums
//               4 zeros
//               16 bytes: the token of an endpoint of the receiving process
//               8 bytes: the number for the reply, chosen by the sender; 0: no reply is expected
//               the message, an object of flow/memory/object.h; or a reply, see net/rpc/detail/reply_body.h
//
// The first half of a token gives the meaning of the other half. 0: the number for a reply. kWellKnown: the number of a
// well-known endpoint. kNamed: the hash of a name. A token of zeros is a ping. If the number for the reply is not 0,
// the ping asks for an empty frame as an answer. A frame to the well-known endpoint kDroppedCall has the number for the
// reply of an earlier request of this connection: nothing waits for that reply any more. A process does not use a
// number again on the same connection.
//
// A frame to the well-known endpoint kTraceOfCall has no number for a reply. Its message begins with 8 bytes: the
// number for the reply to the next request of this connection. Then follows the text "traceparent tracestate" of that
// request's span. Such a frame is sent only before a request that has a span. Programs that do not know this endpoint
// ignore the frame.
//
//     ParsedFrame parsed = parseFrame(bytes, limits);
//     if (parsed.fault == FrameFault::TooLarge) ...        // skip the frame, which has parsed.needed bytes
//     if (parsed.fault != FrameFault::None) ...            // close the connection
//     if (parsed.used == 0) ...                            // incomplete: parsed.needed bytes are needed
//     deliver(parsed.to, parsed.reply, parsed.message);    // the message points into `bytes`

#include "flow/base/uid.h"
#include "flow/memory/object.h"

#include <optional>

namespace flow::net {

enum class FrameFault : std::uint8_t { None, TooShort, TooLarge, Checksum };

struct FrameLimits {
    std::uint32_t largest; // the most bytes of a message
    bool hasChecksums = true;
};

struct ParsedFrame {
    FrameFault fault = FrameFault::None; // with TooLarge, `needed`, `to` and `reply` are set
    std::size_t used = 0;                // if complete: the bytes of the frame
    std::size_t needed = 0;              // if incomplete: the bytes of the header or of the whole frame
    UID to;
    std::uint64_t reply = 0;
    StringRef message;
};

constexpr std::size_t kFrameHeaderBytes = 40;
constexpr std::size_t kFramePrefixBytes = 12; // the size in a header does not count these bytes
constexpr std::uint64_t kWellKnown = ~std::uint64_t{0};
constexpr std::uint64_t kNamed = kWellKnown - 1;
constexpr std::uint64_t kDroppedCall = 1, kTraceOfCall = 2; // numbers of well-known endpoints

ParsedFrame parseFrame(StringRef bytes, FrameLimits const& limits);
/// Returns the second checksum in a header.
std::uint32_t checksumIn(StringRef header);
/// Begins a frame at the end of `out`. Then append the message, and call finishFrame() with the result as `begin`.
std::size_t beginFrame(std::string& out, UID to, std::uint64_t reply);
void finishFrame(std::string& out, std::size_t begin, bool hasChecksum);

struct Greeting {
    ProtocolVersion version;
    bool hasChecksums = true;
};
constexpr std::size_t kGreetingBytes = 24;
std::string greetingBytes(Greeting const& greeting);
/// Returns nothing if the first kGreetingBytes are no greeting.
std::optional<Greeting> parseGreeting(StringRef bytes);
/// True if the versions differ only in the lowest 16 bits.
bool isCompatible(ProtocolVersion a, ProtocolVersion b);

} // namespace flow::net
