#pragma once
// The bytes of a connection between processes: a greeting, then frames. All numbers are little-endian.
//
//     greeting: 8 bytes "MRC-RPC1", 8 protocol version, 4 flags (1: frames have checksums), 4 zeros
//     frame:    4 bytes: how many follow behind the first 12, 28 at least
//               4 bytes: CRC-32C of that number, so that a wrong one is found before its bytes are waited for
//               4 bytes: CRC-32C of what follows; both are 0 where the greetings say that there are no checksums
//               4 zeros
//               16 bytes: token: to which endpoint of the receiving process
//               8 bytes: where the reply goes, in the sending process; 0: there is none
//               the message, an object of flow/memory/object.h; or a reply, see net/rpc/reply_body.h
//
// If the first half of a token is 0, the other half names the place for a reply. If that is 0 too, the frame is a ping;
// it asks for an empty frame back if its own place for the reply is not 0. If the first half is all ones, the token is
// a well-known endpoint with the number in the other half. If it is kNamed, the other half is the hash of a name.
// A frame to the well-known endpoint kDroppedCall says that the request with this place for its reply is dropped.
//
//     ParsedFrame parsed = parseFrame(bytes, limits);
//     if (parsed.fault == FrameFault::TooLarge) ...        // to skip: it has parsed.needed bytes
//     if (parsed.fault != FrameFault::None) ...            // nothing of that connection can be used any more
//     if (parsed.used == 0) ...                            // it is incomplete: a whole one has parsed.needed bytes
//     deliver(parsed.to, parsed.reply, parsed.message);    // which lies in `bytes`

#include "flow/base/uid.h"
#include "flow/memory/object.h"

#include <optional>

namespace flow::net {

enum class FrameFault : std::uint8_t { None, TooShort, TooLarge, Checksum };

struct FrameLimits {
    std::uint32_t largest;    // bytes of a message
    bool hasChecksums = true; // true if they are checked
};

struct ParsedFrame {
    FrameFault fault = FrameFault::None; // TooLarge: the header has come, so that the other members are known
    std::size_t used = 0;                // of the frame, if it is whole
    std::size_t needed = 0;              // if not
    UID to;
    std::uint64_t reply = 0;
    StringRef message;
};

constexpr std::size_t kFrameHeaderBytes = 40;
constexpr std::size_t kFramePrefixBytes =
    12; // of the header; the number at the beginning of a frame does not count them
constexpr std::uint64_t kWellKnown = ~std::uint64_t{0};
constexpr std::uint64_t kNamed = kWellKnown - 1;
constexpr std::uint64_t kDroppedCall = 1; // a well-known endpoint

/// Parses the first frame in `bytes`.
ParsedFrame parseFrame(StringRef bytes, FrameLimits const& limits);
/// The checksum in a header, of the bytes behind its prefix.
std::uint32_t checksumIn(StringRef header);
/// Begins a frame at the end of `out`; the caller then appends the message. finishFrame() with the result ends it.
std::size_t beginFrame(std::string& out, UID to, std::uint64_t reply);
void finishFrame(std::string& out, std::size_t begin, bool hasChecksum);

struct Greeting {
    ProtocolVersion version;
    bool hasChecksums = true;
};
constexpr std::size_t kGreetingBytes = 24;
std::string greetingBytes(Greeting const& greeting);
/// Parses the first kGreetingBytes of a connection; nothing if they are no greeting.
std::optional<Greeting> parseGreeting(StringRef bytes);
/// True if programs of these versions are compatible: they may differ only in the lowest 16 bits.
bool isCompatible(ProtocolVersion a, ProtocolVersion b);

} // namespace flow::net
