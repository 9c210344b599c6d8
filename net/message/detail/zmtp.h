#pragma once
// The wire format of ZMTP 3.1 and 3.0: greeting, frames and commands, without I/O.
//
//     std::string out;
//     zmtp::appendGreeting(out, "NULL", false);
//     zmtp::appendFrame(out, "hello", {.more = false});
//
//     zmtp::Frame frame;
//     zmtp::Parsed parsed = zmtp::parseFrame(bytes, limits, frame);
//     if (parsed.fault != zmtp::Fault::None) ...          // the peer breaks the protocol: close the connection
//     if (parsed.used == 0) ...                           // call again with at least parsed.need bytes
//
// The parser copies nothing: a Frame or Greeting points into the parsed bytes. It checks all limits on the header of a
// frame, before the body has arrived.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace flow::net::zmtp {

/// A violation of the protocol or of our limits by a peer.
enum class Fault : std::uint8_t {
    None,
    BadSignature,      // the first bytes do not begin a greeting of ZMTP
    VersionTooOld,     // ZMTP 1 or 2
    MechanismMismatch, // the two sides use different security mechanisms
    BadFlags,          // reserved bits are set, or a command has the "more" flag
    MessageTooLarge,   // more bytes than Limits::messageBytes
    TooManyParts,      // more parts than Limits::parts
    CommandTooLarge,   // more bytes than Limits::commandBytes
    BadCommand,
    UnexpectedCommand, // a command that is not allowed now
    BadMetadata,
    BadSocketType,     // the peer's socket type does not match ours
    IdentityTooLong,   // more than 255 bytes
    IdentityInUse,     // another peer of this ROUTER has the same routing id
    PairInUse,         // this PAIR already has a peer
    TopicTooLong,      // more bytes than Limits::topicBytes
    TooManyTopics,     // more bytes than Limits::allTopicsBytes
    BadCredentials,    // the authenticator refused the peer, or is missing and PLAIN needs it
    BadEncryption,     // CURVE: a frame cannot be decrypted, or was not encrypted
    NonceRepeated,     // CURVE: the nonce of a frame did not grow
    RefusedByPeer,     // the peer sent ERROR
    HandshakeTimedOut, // the peer was too slow
    HeartbeatTimedOut, // the peer sent nothing for too long
    TlsFailed,         // the handshake of TLS failed, so ZMTP did not begin
};

/// Returns a text such as "message too large".
const char* nameOf(Fault fault);

struct Limits {
    std::size_t messageBytes = std::size_t{1} << 30; // the bytes of all parts of a message
    std::size_t parts = 1024;
    std::size_t commandBytes = 64 * 1024;
    std::size_t topicBytes = 4 * 1024;
    std::size_t allTopicsBytes = std::size_t{1} << 20; // the bytes of all topics of a peer
};

constexpr std::size_t kGreetingBytes = 64;

struct Greeting {
    int major = 0;
    int minor = 0;
    std::string_view mechanism;
    bool asServer = false;
};

struct Parsed {
    std::size_t used = 0; // 0: bytes are missing, or there is a fault
    std::size_t need = 0; // if bytes are missing: call again with this number of bytes
    Fault fault = Fault::None;
};

/// Parses a greeting. Returns a fault as soon as a wrong byte has arrived.
Parsed parseGreeting(std::string_view bytes, Greeting& greeting);
void appendGreeting(std::string& out, std::string_view mechanism, bool asServer);

struct Frame {
    std::string_view body;
    bool more = false;
    bool command = false;
};

/// Parses a frame. `room`: the most bytes of a part; a command may have Limits::commandBytes.
Parsed parseFrame(std::string_view bytes, Limits const& limits, std::size_t room, Frame& frame);
inline Parsed parseFrame(std::string_view bytes, Limits const& limits, Frame& frame) {
    return parseFrame(bytes, limits, limits.messageBytes, frame);
}

/// True if the frame that begins with this byte is a command.
constexpr bool isCommand(char first) {
    return (first & 4) != 0;
}

struct FrameFlags {
    bool more = false;
    bool command = false;
};

/// Appends the 2 or 9 bytes before a body.
void appendFrameHeader(std::string& out, std::size_t bodyBytes, FrameFlags flags);
void appendFrame(std::string& out, std::string_view body, FrameFlags flags);
/// Returns the size of a frame with its header.
constexpr std::size_t frameBytes(std::size_t bodyBytes) {
    return bodyBytes + (bodyBytes < 256 ? 2 : 9);
}

struct Command {
    std::string_view name;
    std::string_view data;
};

/// Returns false if `body` is too short for the name, or the name is empty.
bool parseCommand(std::string_view body, Command& command);
std::string commandBody(std::string_view name, std::string_view data);
void appendCommand(std::string& out, std::string_view name, std::string_view data);

/// Removes the first property of `list`, and sets `name` and `value`. Returns false if the property is malformed.
bool takeProperty(std::string_view& list, std::string_view& name, std::string_view& value);
void appendProperty(std::string& out, std::string_view name, std::string_view value);

/// Compares names of properties, ignoring case.
bool sameName(std::string_view a, std::string_view b);

std::uint64_t readBigEndian(std::string_view bytes);
void appendBigEndian(std::string& out, std::uint64_t value, int bytes);

} // namespace flow::net::zmtp
