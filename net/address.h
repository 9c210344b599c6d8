#pragma once
// Address: an IP address and a port, or the name of a Unix socket.
//
//     Address server = *Address::parse("10.0.0.1:4500");      // throws connection_string_invalid if it is no address
//     Address same(0x0A000001, 4500);
//     server.toString()                                       // "10.0.0.1:4500"
//
//     auto parsed = Address::parse(argument);                 // throws nothing
//     if (!parsed)
//         print("at {}: {}", parsed.position(), parsed.message());
//
// toString() writes these forms, and parse() reads each back as the same address:
//
//     10.0.0.1:80   [2001:db8::1]:80   [fe80::1%2]:80   unix:/run/service   unix:@name
//
// The number after % is the scope: the index of the interface through which a link-local address is reached. parse()
// also accepts the interface's name. unix:@name is in Linux's abstract namespace, without a file; a path that begins
// with @ is written unix:./@path.
//
// An Address is a plain value, ordered and hashable. The order is: IPv4, IPv6, Unix; then the bytes of the address or
// the name, the port and the scope. parse() neither looks up hosts nor touches files.

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

    /// The largest size of a Unix socket's name in bytes, with one zero byte: after a path, or before an abstract name.
    static constexpr std::size_t kUnixRoom = 108;

    /// Makes 0.0.0.0:0, which is no destination. For listen() it means all addresses of this machine and a free port.
    constexpr Address() = default;
    /// Makes an IPv4 address. The most significant byte of `ip` comes first: 10.0.0.1 is 0x0A000001.
    constexpr Address(std::uint32_t ip, std::uint16_t port)
        : bytes_{std::uint8_t(ip >> 24), std::uint8_t(ip >> 16), std::uint8_t(ip >> 8), std::uint8_t(ip)}, port_(port) {
    }
    constexpr Address(V6 const& ip, std::uint16_t port, std::uint32_t scope = 0)
        : family_(Family::V6), bytes_(ip), port_(port), scope_(scope) {}
    /// Makes the address of a Unix socket. Throws connection_string_invalid if `path` is empty, too long, begins with @
    /// or has a zero byte.
    static Address unixPath(std::string_view path);
    /// Makes the address of a Unix socket in the abstract namespace. `name` may have any bytes. Throws
    /// connection_string_invalid if `name` is empty or too long.
    static Address unixAbstract(std::string_view name);

    static ParsedAddress parse(std::string_view text);
    std::string toString() const;
    /// Returns the text of an IP address without the port, and without brackets.
    std::string hostToString() const;

    constexpr bool isV4() const { return family_ == Family::V4; }
    constexpr bool isV6() const { return family_ == Family::V6; }
    constexpr bool isUnix() const { return family_ == Family::UnixPath || family_ == Family::UnixAbstract; }
    constexpr bool isAbstract() const { return family_ == Family::UnixAbstract; }
    /// Returns an IPv4 address as a number. The address must be IPv4.
    constexpr std::uint32_t v4() const {
        return std::uint32_t{bytes_[0]} << 24 | std::uint32_t{bytes_[1]} << 16 | std::uint32_t{bytes_[2]} << 8 |
               bytes_[3];
    }
    /// Returns the bytes in network order. An IPv4 address is in the first four bytes; the other bytes are 0.
    constexpr V6 const& bytes() const { return bytes_; }
    constexpr std::uint16_t port() const { return port_; }
    /// Returns the interface of an IPv6 address as an index, or 0 if none is given.
    constexpr std::uint32_t scope() const { return scope_; }
    /// Returns the path or the abstract name of a Unix socket. The text is valid as long as this object exists.
    constexpr std::string_view unixName() const { return {name_.data(), nameSize_}; }
    constexpr Address withPort(std::uint16_t port) const {
        Address other = *this;
        other.port_ = port;
        return other;
    }
    /// True for 0.0.0.0 and [::] with any port.
    constexpr bool isAny() const { return !isUnix() && bytes_ == V6(); }
    constexpr bool isLoopback() const {
        return isV4() ? bytes_[0] == 127 : bytes_ == V6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    }

    /// Writes this address to `to` in the form that system calls take, and returns its size in bytes.
    unsigned toSystem(sockaddr_storage& to) const;
    /// Converts an address that a system call has written. Returns nothing if its family is neither IP nor Unix. The
    /// address of a Unix socket without a name, such as a client's, becomes Address().
    static std::optional<Address> fromSystem(sockaddr const* from, unsigned size);

    /// Writes or reads the address as its text. Throws serialization_failed if a text that was read is no address.
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

    // The members are compared in this order.
    Family family_ = Family::V4;
    V6 bytes_{};
    std::array<char, kUnixRoom> name_{}; // the bytes after the name are 0
    std::uint8_t nameSize_ = 0;
    std::uint16_t port_ = 0;
    std::uint32_t scope_ = 0;
};

/// An address, or the reason and the position of the error in the text.
class [[nodiscard]] ParsedAddress {
public:
    ParsedAddress(Address const& address) : address_(address) {}
    /// `message` must outlive this object, so pass a literal.
    ParsedAddress(std::string_view text, std::size_t position, char const* message)
        : text_(text), position_(position), message_(message) {}

    bool present() const { return address_.has_value(); }
    explicit operator bool() const { return present(); }

    /// Returns the address. Throws connection_string_invalid, with a sentence, if the text is no address.
    Address const& get() const;
    Address const& operator*() const { return get(); }
    Address const* operator->() const { return &get(); }

    /// Returns the number of bytes before the first wrong byte, if the text is no address.
    std::size_t position() const { return position_; }
    /// Returns the error at position(), such as "] is expected here"; "" if the text is an address.
    char const* message() const { return message_; }

private:
    std::optional<Address> address_;
    std::string text_; // empty if it is an address
    std::size_t position_ = 0;
    char const* message_ = "";
};

} // namespace net

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
