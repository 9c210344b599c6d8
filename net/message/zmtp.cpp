// parseGreeting() and parseFrame() set one member of Parsed: `used`, `need` or `fault`. They check a header before the
// body has arrived: first the flags, then the size. So a peer cannot make us wait for, or store, a body that would be
// refused. Frames, commands and properties point into the bytes of the caller.

#include "net/message/detail/zmtp.h"

#include "flow/base/assert.h"

#include <algorithm>

namespace flow::net::zmtp {

namespace {

constexpr std::size_t kMechanismAt = 12;
constexpr std::size_t kMechanismBytes = 20;
constexpr std::size_t kAsServerAt = 32;

constexpr unsigned kMore = 1;
constexpr unsigned kLong = 2;
constexpr unsigned kCommand = 4;

unsigned byteAt(std::string_view bytes, std::size_t at) {
    return static_cast<unsigned char>(bytes[at]);
}

} // namespace

const char* nameOf(Fault fault) {
    switch (fault) {
    case Fault::None:
        return "none";
    case Fault::BadSignature:
        return "bad signature";
    case Fault::VersionTooOld:
        return "version too old";
    case Fault::MechanismMismatch:
        return "mechanism mismatch";
    case Fault::BadFlags:
        return "bad flags";
    case Fault::MessageTooLarge:
        return "message too large";
    case Fault::TooManyParts:
        return "too many parts";
    case Fault::CommandTooLarge:
        return "command too large";
    case Fault::BadCommand:
        return "bad command";
    case Fault::UnexpectedCommand:
        return "unexpected command";
    case Fault::BadMetadata:
        return "bad metadata";
    case Fault::BadSocketType:
        return "bad socket type";
    case Fault::IdentityTooLong:
        return "identity too long";
    case Fault::IdentityInUse:
        return "identity in use";
    case Fault::PairInUse:
        return "pair in use";
    case Fault::TopicTooLong:
        return "topic too long";
    case Fault::TooManyTopics:
        return "too many topics";
    case Fault::BadCredentials:
        return "bad credentials";
    case Fault::BadEncryption:
        return "bad encryption";
    case Fault::NonceRepeated:
        return "nonce repeated";
    case Fault::RefusedByPeer:
        return "refused by peer";
    case Fault::HandshakeTimedOut:
        return "handshake timed out";
    case Fault::HeartbeatTimedOut:
        return "heartbeat timed out";
    case Fault::TlsFailed:
        return "TLS failed";
    }
    return "unknown";
}

std::uint64_t readBigEndian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (char byte : bytes)
        value = value << 8 | static_cast<unsigned char>(byte);
    return value;
}

void appendBigEndian(std::string& out, std::uint64_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
        out.push_back(static_cast<char>(value >> shift));
}

Parsed parseGreeting(std::string_view bytes, Greeting& greeting) {
    // Bytes 1 to 8 are ignored: peers of different versions fill them differently.
    if (!bytes.empty() && byteAt(bytes, 0) != 0xFF)
        return {.fault = Fault::BadSignature};
    if (bytes.size() > 9 && byteAt(bytes, 9) != 0x7F)
        return {.fault = Fault::BadSignature};
    if (bytes.size() > 10 && byteAt(bytes, 10) < 3)
        return {.fault = Fault::VersionTooOld};
    if (bytes.size() < kGreetingBytes)
        return {.need = kGreetingBytes};
    greeting.major = static_cast<int>(byteAt(bytes, 10));
    greeting.minor = static_cast<int>(byteAt(bytes, 11));
    std::string_view padded = bytes.substr(kMechanismAt, kMechanismBytes);
    greeting.mechanism = padded.substr(0, std::min(padded.find('\0'), padded.size()));
    greeting.asServer = bytes[kAsServerAt] != 0;
    return {.used = kGreetingBytes};
}

void appendGreeting(std::string& out, std::string_view mechanism, bool asServer) {
    FLOW_ASSERT(mechanism.size() <= kMechanismBytes, "the name of a mechanism has at most 20 bytes");
    std::size_t start = out.size();
    out.append(kGreetingBytes, '\0');
    char* bytes = out.data() + start;
    bytes[0] = '\xFF';
    bytes[8] = 1; // bytes 1 to 8 are the length of an identity in ZMTP 1: such a peer sees an end, not an error
    bytes[9] = 0x7F;
    bytes[10] = 3;
    bytes[11] = 1;
    std::copy(mechanism.begin(), mechanism.end(), bytes + kMechanismAt);
    bytes[kAsServerAt] = asServer ? 1 : 0;
}

Parsed parseFrame(std::string_view bytes, Limits const& limits, std::size_t room, Frame& frame) {
    if (bytes.empty())
        return {.need = 2};
    unsigned flags = byteAt(bytes, 0);
    if ((flags & ~(kMore | kLong | kCommand)) != 0 || (flags & (kMore | kCommand)) == (kMore | kCommand))
        return {.fault = Fault::BadFlags};
    std::size_t header = (flags & kLong) != 0 ? 9 : 2;
    if (bytes.size() < header)
        return {.need = header};
    std::uint64_t size = header == 2 ? byteAt(bytes, 1) : readBigEndian(bytes.substr(1, 8));
    bool command = (flags & kCommand) != 0;
    if (command && size > limits.commandBytes)
        return {.fault = Fault::CommandTooLarge};
    if (!command && size > room)
        return {.fault = Fault::MessageTooLarge};
    std::size_t whole = header + static_cast<std::size_t>(size);
    if (bytes.size() < whole)
        return {.need = whole};
    frame.body = bytes.substr(header, static_cast<std::size_t>(size));
    frame.more = (flags & kMore) != 0;
    frame.command = command;
    return {.used = whole};
}

void appendFrameHeader(std::string& out, std::size_t bodyBytes, FrameFlags flags) {
    unsigned bits = (flags.more ? kMore : 0) | (flags.command ? kCommand : 0);
    if (bodyBytes < 256) {
        out.push_back(static_cast<char>(bits));
        out.push_back(static_cast<char>(bodyBytes));
    } else {
        out.push_back(static_cast<char>(bits | kLong));
        appendBigEndian(out, bodyBytes, 8);
    }
}

void appendFrame(std::string& out, std::string_view body, FrameFlags flags) {
    appendFrameHeader(out, body.size(), flags);
    out.append(body);
}

bool parseCommand(std::string_view body, Command& command) {
    if (body.empty())
        return false;
    std::size_t length = byteAt(body, 0);
    if (length == 0 || body.size() < 1 + length)
        return false;
    command.name = body.substr(1, length);
    command.data = body.substr(1 + length);
    return true;
}

std::string commandBody(std::string_view name, std::string_view data) {
    FLOW_ASSERT(!name.empty() && name.size() < 256, "the name of a command has 1 to 255 bytes");
    std::string body;
    body.reserve(1 + name.size() + data.size());
    body.push_back(static_cast<char>(name.size()));
    body.append(name).append(data);
    return body;
}

void appendCommand(std::string& out, std::string_view name, std::string_view data) {
    appendFrame(out, commandBody(name, data), {.command = true});
}

bool takeProperty(std::string_view& list, std::string_view& name, std::string_view& value) {
    if (list.empty())
        return false;
    std::size_t nameBytes = byteAt(list, 0);
    if (nameBytes == 0 || list.size() < 1 + nameBytes + 4)
        return false;
    name = list.substr(1, nameBytes);
    std::uint64_t valueBytes = readBigEndian(list.substr(1 + nameBytes, 4));
    std::string_view rest = list.substr(1 + nameBytes + 4);
    if (rest.size() < valueBytes)
        return false;
    value = rest.substr(0, static_cast<std::size_t>(valueBytes));
    list = rest.substr(static_cast<std::size_t>(valueBytes));
    return true;
}

void appendProperty(std::string& out, std::string_view name, std::string_view value) {
    FLOW_ASSERT(!name.empty() && name.size() < 256, "the name of a property has 1 to 255 bytes");
    out.push_back(static_cast<char>(name.size()));
    out.append(name);
    appendBigEndian(out, value.size(), 4);
    out.append(value);
}

bool sameName(std::string_view a, std::string_view b) {
    auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

} // namespace flow::net::zmtp
