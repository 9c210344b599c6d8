#pragma once
// Address: an IP address and a port, or the name of a Unix socket.
//
//     Address server = *Address::parse("10.0.0.1:4500");      // throws connection_string_invalid if the text is none
//     Address same(0x0A000001, 4500);
//     server.toString()                                       // "10.0.0.1:4500"
//
//     auto parsed = Address::parse(argument);                 // throws nothing
//     if (!parsed)
//         print("at {}: {}", parsed.position(), parsed.message());
//
// The texts are these; toString() writes them, and parse() reads each of them back as the same address:
//
//     10.0.0.1:80   [2001:db8::1]:80   [fe80::1%2]:80   unix:/run/service   unix:@name
//
// The number after % is the scope: the index of the interface through which a link-local address is reached. parse()
// takes the name of an interface as well. unix:@name is a name in Linux's abstract namespace, without a file. A path
// that begins with @ is written unix:./@path.
//
// A plain value, ordered and hashable: IPv4 before IPv6 before Unix, then by the bytes of the address or the name, then
// by port and scope. parse() neither looks up hosts nor touches files.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sockaddr;
struct sockaddr_storage;

namespace flow {
namespace net {

class ParsedAddress;

class Address {
public:
    using V6 = std::array<std::uint8_t, 16>;

    /// Room for the name of a Unix socket; a path ends with a zero byte, so that it has one less.
    static constexpr std::size_t kUnixRoom = 108;

    /// 0.0.0.0:0, no destination. As an address to listen at it means any address of this machine and a free port.
    constexpr Address() = default;
    /// The most significant byte of `ip` is the first one: 10.0.0.1 is 0x0A000001.
    constexpr Address(std::uint32_t ip, std::uint16_t port)
        : bytes_{std::uint8_t(ip >> 24), std::uint8_t(ip >> 16), std::uint8_t(ip >> 8), std::uint8_t(ip)}, port_(port) {
    }
    constexpr Address(V6 const& ip, std::uint16_t port, std::uint32_t scope = 0)
        : family_(Family::V6), bytes_(ip), port_(port), scope_(scope) {}
    /// A Unix socket at a path. Throws connection_string_invalid if it is empty, too long, begins with @ or has a zero
    /// byte.
    static Address unixPath(std::string_view path);
    /// A Unix socket in the abstract namespace, where every byte counts. Throws if it is empty or too long.
    static Address unixAbstract(std::string_view name);

    static ParsedAddress parse(std::string_view text);
    std::string toString() const;
    /// For an IP address: the text without the port, and without brackets.
    std::string hostToString() const;

    constexpr bool isV4() const { return family_ == Family::V4; }
    constexpr bool isV6() const { return family_ == Family::V6; }
    constexpr bool isUnix() const { return family_ == Family::UnixPath || family_ == Family::UnixAbstract; }
    constexpr bool isAbstract() const { return family_ == Family::UnixAbstract; }
    /// For an IPv4 address.
    constexpr std::uint32_t v4() const {
        return std::uint32_t{bytes_[0]} << 24 | std::uint32_t{bytes_[1]} << 16 | std::uint32_t{bytes_[2]} << 8 |
               bytes_[3];
    }
    /// In network order. An IPv4 address has four bytes, which are the first; the others are 0.
    constexpr V6 const& bytes() const { return bytes_; }
    constexpr std::uint16_t port() const { return port_; }
    /// For an IPv6 address: the index of an interface, or 0.
    constexpr std::uint32_t scope() const { return scope_; }
    /// The path or the abstract name of a Unix socket; valid as long as this object.
    constexpr std::string_view unixName() const { return {name_.data(), nameSize_}; }
    /// For an IP address.
    constexpr Address withPort(std::uint16_t port) const {
        Address other = *this;
        other.port_ = port;
        return other;
    }
    /// True for an IP address which, without the port, is 0.
    constexpr bool isAny() const { return !isUnix() && bytes_ == V6(); }
    /// True for a loopback address: 127.x.y.z or ::1.
    constexpr bool isLoopback() const {
        return isV4() ? bytes_[0] == 127 : bytes_ == V6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    }

    /// Writes it as the system's calls take it, and returns the size that they need.
    unsigned toSystem(sockaddr_storage& to) const;
    /// The address that a system call has written; nothing if its family is another one. A Unix socket without a name,
    /// such as that of a client, becomes Address().
    static std::optional<Address> fromSystem(sockaddr const* from, unsigned size);

    /// As its text. Throws serialization_failed.
    template <class Ar>
    void serialize(Ar& ar) {
        std::string text;
        if constexpr (Ar::isSerializing)
            text = toString();
        ar & text;
        if constexpr (Ar::isDeserializing)
            *this = fromText(text);
    }

    friend constexpr bool operator==(Address const&, Address const&) = default;
    friend constexpr std::strong_ordering operator<=>(Address const&, Address const&) = default;

private:
    enum class Family : std::uint8_t { V4, V6, UnixPath, UnixAbstract };

    static Address unixNamed(Family family, std::string_view name);
    static Address fromText(std::string_view text);

    // Compared in this order.
    Family family_ = Family::V4;
    V6 bytes_{};
    std::array<char, kUnixRoom> name_{}; // 0 behind nameSize_
    std::uint8_t nameSize_ = 0;
    std::uint16_t port_ = 0;
    std::uint32_t scope_ = 0;
};

/// An address, or the reason and the position of the error in the text.
class [[nodiscard]] ParsedAddress {
public:
    ParsedAddress(Address const& address) : address_(address) {}
    /// `message` must outlive this: a literal.
    ParsedAddress(std::size_t position, char const* message) : position_(position), message_(message) {}

    bool present() const { return address_.has_value(); }
    explicit operator bool() const { return present(); }

    /// The address; throws connection_string_invalid if there is none.
    Address const& get() const;
    Address const& operator*() const { return get(); }
    Address const* operator->() const { return &get(); }

    /// For a text that is no address: the number of bytes before the first wrong one.
    std::size_t position() const { return position_; }
    /// The text that the parser expects there; "" if the address is valid.
    char const* message() const { return message_; }

private:
    std::optional<Address> address_;
    std::size_t position_ = 0;
    char const* message_ = "";
};

} // namespace net

/// The name that programs use.
using NetworkAddress = net::Address;

} // namespace flow

template <>
struct std::hash<flow::net::Address> {
    std::size_t operator()(flow::net::Address const& address) const {
        auto const* bytes = reinterpret_cast<char const*>(address.bytes().data());
        std::size_t text = std::hash<std::string_view>()(
            address.isUnix() ? address.unixName() : std::string_view(bytes, address.bytes().size()));
        return text ^ ((std::size_t{address.port()} << 1 | address.isV6()) + address.scope()) * 0x9E3779B97F4A7C15u;
    }
};
