#include "net/rpc/detail/wire_format.h"

#include "net/rpc/detail/checksum.h"

namespace flow::net {

namespace {

constexpr std::string_view kMagic = "MRC-RPC1";

template <class T>
T numberAt(StringRef bytes, std::size_t at) {
    T number;
    std::memcpy(&number, bytes.begin() + at, sizeof number);
    return littleEndian(number);
}

template <class T>
void put(std::string& out, T number) {
    number = littleEndian(number);
    out.append(reinterpret_cast<char const*>(&number), sizeof number);
}

template <class T>
void putAt(std::string& out, std::size_t at, T number) {
    number = littleEndian(number);
    std::memcpy(out.data() + at, &number, sizeof number);
}

} // namespace

ParsedFrame parseFrame(StringRef bytes, FrameLimits const& limits) {
    constexpr std::size_t kRest = kFrameHeaderBytes - kFramePrefixBytes;
    ParsedFrame parsed;
    auto have = static_cast<std::size_t>(bytes.size());
    if (have < kFramePrefixBytes) {
        parsed.needed = kFrameHeaderBytes;
        return parsed;
    }
    std::size_t size = numberAt<std::uint32_t>(bytes, 0);
    if (size < kRest)
        parsed.fault = FrameFault::TooShort;
    else if (limits.hasChecksums && numberAt<std::uint32_t>(bytes, 4) != crc32c(bytes.substr(0, 4)))
        parsed.fault = FrameFault::Checksum;
    if (parsed.fault != FrameFault::None)
        return parsed;
    bool isTooLarge = size - kRest > limits.largest;
    parsed.needed = isTooLarge && have < kFrameHeaderBytes ? kFrameHeaderBytes : kFramePrefixBytes + size;
    if (have < (isTooLarge ? kFrameHeaderBytes : parsed.needed))
        return parsed;
    StringRef header = bytes.substr(kFramePrefixBytes);
    parsed.to = UID(numberAt<std::uint64_t>(header, 4), numberAt<std::uint64_t>(header, 12));
    parsed.reply = numberAt<std::uint64_t>(header, 20);
    if (isTooLarge) {
        parsed.fault = FrameFault::TooLarge;
        return parsed;
    }
    StringRef counted = header.substr(0, static_cast<int>(size));
    if (limits.hasChecksums && checksumIn(bytes) != crc32c(counted)) {
        parsed.fault = FrameFault::Checksum;
        return parsed;
    }
    parsed.used = parsed.needed;
    parsed.message = counted.substr(kRest);
    return parsed;
}

std::uint32_t checksumIn(StringRef header) {
    return numberAt<std::uint32_t>(header, 8);
}

std::size_t beginFrame(std::string& out, UID to, std::uint64_t reply) {
    std::size_t begin = out.size();
    out.append(kFramePrefixBytes + 4, '\0');
    put(out, to.first());
    put(out, to.second());
    put(out, reply);
    return begin;
}

void finishFrame(std::string& out, std::size_t begin, bool hasChecksum) {
    std::size_t size = out.size() - begin - kFramePrefixBytes;
    putAt(out, begin, static_cast<std::uint32_t>(size));
    if (hasChecksum) {
        putAt(out, begin + 4, crc32c(StringRef(std::string_view(out).substr(begin, 4))));
        putAt(out, begin + 8, crc32c(StringRef(std::string_view(out).substr(begin + kFramePrefixBytes))));
    }
}

std::string greetingBytes(Greeting const& greeting) {
    std::string out(kMagic);
    put(out, greeting.version.version());
    put(out, std::uint32_t{greeting.hasChecksums});
    put(out, std::uint32_t{0});
    return out;
}

std::optional<Greeting> parseGreeting(StringRef bytes) {
    if (bytes.size() < static_cast<int>(kGreetingBytes) || bytes.toStringView().substr(0, 8) != kMagic)
        return std::nullopt;
    return Greeting{ProtocolVersion(numberAt<std::uint64_t>(bytes, 8)), (numberAt<std::uint32_t>(bytes, 16) & 1) != 0};
}

bool isCompatible(ProtocolVersion a, ProtocolVersion b) {
    return a.version() >> 16 == b.version() >> 16;
}

} // namespace flow::net
