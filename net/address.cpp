// Address: its text, its parser, and the conversion to the system's addresses.
//
// The Parser reads the text from left to right, without backtracking. at_ is the position, and fault_ is the message of
// the first error. After an error nothing more is read, so at_ stays at the wrong byte. An IPv6 address is read into 16
// bytes, and `gap` is the index of "::" in them. At the end the bytes after the gap move to the end, and zeros fill it.

#include "net/address.h"

#include "flow/base/assert.h"
#include "flow/base/detail/sentence.h"
#include "flow/base/error.h"
#include "flow/base/parse_number.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>

namespace flow::net {

namespace {

constexpr std::string_view kUnixPrefix = "unix:";

int hexDigit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Returns the reason why `path` cannot name a Unix socket, or null. Sets `position` to the position of the error.
char const* faultOfPath(std::string_view path, std::size_t& position) {
    position = 0;
    if (path.empty())
        return "a path is expected here";
    if (path.front() == '@')
        return "a path that begins with @ is written ./@";
    if (position = path.find('\0'); position != std::string_view::npos)
        return "a path has no zero byte";
    position = Address::kUnixRoom - 1;
    return path.size() > position ? "a path of a Unix socket has at most 107 bytes" : nullptr;
}

char const* faultOfAbstract(std::string_view name, std::size_t& position) {
    position = 0;
    if (name.empty())
        return "a name is expected here";
    position = Address::kUnixRoom - 1; // in the system's address a zero byte precedes the name
    return name.size() > position ? "an abstract name has at most 107 bytes" : nullptr;
}

Error wrongName(char const* fault, std::string_view name) {
    std::string size = std::to_string(name.size());
    return withPieces(connection_string_invalid(), {fault, "; this one has ", size, ": \"", name, "\""});
}

/// Each function moves `at_` past the bytes that it has read, or records an error.
class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    ParsedAddress parse() {
        if (text_.starts_with(kUnixPrefix))
            return parseUnix();
        Address address = peek() == '[' ? parseV6() : parseV4();
        return fault_ ? ParsedAddress(text_, at_, fault_) : ParsedAddress(address);
    }

private:
    bool atEnd() const { return at_ == text_.size(); }
    /// Returns the next byte, or zero at the end: the text of an IP address contains no zero byte.
    char peek() const { return atEnd() ? '\0' : text_[at_]; }
    bool skip(char c) {
        if (peek() != c)
            return false;
        at_++;
        return true;
    }
    void fail(char const* message) {
        if (!fault_)
            fault_ = message;
    }
    void expect(char c, char const* message) {
        if (!fault_ && !skip(c))
            fail(message);
    }

    ParsedAddress parseUnix() {
        std::string_view name = text_.substr(kUnixPrefix.size());
        std::size_t before = kUnixPrefix.size(), position = 0;
        if (name.starts_with('@')) {
            name.remove_prefix(1);
            before++;
            char const* fault = faultOfAbstract(name, position);
            return fault ? ParsedAddress(text_, before + position, fault) : ParsedAddress(Address::unixAbstract(name));
        }
        char const* fault = faultOfPath(name, position);
        return fault ? ParsedAddress(text_, before + position, fault) : ParsedAddress(Address::unixPath(name));
    }

    Address parseV4() {
        std::uint32_t ip = readV4();
        return Address(ip, readPort());
    }

    Address parseV6() {
        at_++;
        Address::V6 ip = readV6();
        std::uint32_t scope = 0;
        if (!fault_ && skip('%'))
            scope = readScope();
        expect(']', "] is expected here");
        return Address(ip, readPort(), scope);
    }

    /// Reads a number of at most `largest`, without leading zeros.
    std::uint32_t readDecimal(std::uint32_t largest, char const* message) {
        std::size_t start = at_;
        std::uint64_t number = 0;
        while (!fault_ && peek() >= '0' && peek() <= '9') {
            number = number * 10 + static_cast<unsigned>(peek() - '0');
            if (number > largest || (at_ > start && text_[start] == '0')) {
                fail(message);
                return 0;
            }
            at_++;
        }
        if (at_ == start)
            fail(message);
        return static_cast<std::uint32_t>(number);
    }

    std::uint32_t readV4() {
        std::uint32_t ip = 0;
        for (int i = 0; i < 4; i++) {
            if (i > 0)
                expect('.', ". is expected here");
            ip = ip << 8 | readDecimal(255, "a number from 0 to 255 is expected here");
        }
        return ip;
    }

    std::uint16_t readPort() {
        expect(':', ": and a port are expected here");
        auto port = static_cast<std::uint16_t>(readDecimal(65535, "a port from 0 to 65535 is expected here"));
        if (!fault_ && !atEnd())
            fail("nothing may stand behind the port");
        return port;
    }

    std::uint32_t readGroup() {
        std::uint32_t group = 0;
        for (int digits = 0; digits < 4; digits++) {
            int digit = hexDigit(peek());
            if (digit < 0) {
                if (digits == 0)
                    fail("a group of hexadecimal digits is expected here");
                break;
            }
            group = group << 4 | static_cast<unsigned>(digit);
            at_++;
        }
        return group;
    }

    /// True if an IPv4 address begins here: digits, then a point.
    bool isV4Here() const {
        std::size_t end = text_.find_first_not_of("0123456789", at_);
        return end != std::string_view::npos && end > at_ && text_[end] == '.';
    }

    Address::V6 readV6() {
        Address::V6 bytes{};
        int size = 0, gap = -1; // size: the number of bytes read; gap: the number of bytes before :: (-1: no ::)
        auto put = [&](std::uint32_t value, int bytesOfIt) {
            for (int i = bytesOfIt; i-- > 0;)
                bytes[static_cast<std::size_t>(size++)] = static_cast<std::uint8_t>(value >> (8 * i));
        };
        if (text_.substr(at_).starts_with("::")) {
            at_ += 2;
            gap = 0;
        }
        bool mayEnd = gap == 0; // after :: nothing more is required
        while (!fault_ && size < 16 && !(mayEnd && hexDigit(peek()) < 0)) {
            if (size <= 12 && isV4Here()) {
                put(readV4(), 4);
                break;
            }
            put(readGroup(), 2);
            mayEnd = false;
            if (fault_ || size == 16 || peek() != ':')
                break;
            at_++;
            if (gap < 0 && skip(':')) {
                gap = size;
                mayEnd = true;
            }
        }
        if (gap < 0 && size < 16)
            fail(": and more groups are expected here");
        if (gap >= 0 && size == 16)
            fail(":: stands for at least one group, and there is no room for one");
        if (gap >= 0 && !fault_) {
            std::size_t moved = static_cast<std::size_t>(size - gap);
            std::memmove(bytes.data() + 16 - moved, bytes.data() + gap, moved);
            std::memset(bytes.data() + gap, 0, 16 - moved - static_cast<std::size_t>(gap));
        }
        return bytes;
    }

    std::uint32_t readScope() {
        std::size_t end = std::min(text_.find(']', at_), text_.size());
        std::string name(text_.substr(at_, end - at_));
        std::uint32_t scope = 0;
        if (auto number = parseNumber<std::uint32_t>(name); number && name.front() != '0')
            scope = *number;
        else if (!name.empty() && name.size() < IF_NAMESIZE && name.find('\0') == std::string::npos)
            scope = ::if_nametoindex(name.c_str());
        if (scope == 0)
            fail("the number or the name of an interface is expected here");
        else
            at_ = end;
        return scope;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    char const* fault_ = nullptr;
};

} // namespace

Address const& ParsedAddress::get() const {
    if (!address_)
        throw withPieces(connection_string_invalid(),
                         {"the address \"", text_, "\" is wrong at byte ", std::to_string(position_), ": ", message_});
    return *address_;
}

Address Address::fromText(std::string_view text) {
    ParsedAddress parsed = parse(text);
    if (!parsed)
        throw serialization_failed();
    return *parsed;
}

ParsedAddress Address::parse(std::string_view text) {
    return Parser(text).parse();
}

Address Address::unixNamed(Family family, std::string_view name) {
    Address address;
    address.family_ = family;
    address.nameSize_ = static_cast<std::uint8_t>(name.size());
    std::memcpy(address.name_.data(), name.data(), name.size());
    return address;
}

Address Address::unixPath(std::string_view path) {
    std::size_t position;
    if (char const* fault = faultOfPath(path, position))
        throw wrongName(fault, path);
    return unixNamed(Family::UnixPath, path);
}

Address Address::unixAbstract(std::string_view name) {
    std::size_t position;
    if (char const* fault = faultOfAbstract(name, position))
        throw wrongName(fault, name);
    return unixNamed(Family::UnixAbstract, name);
}

std::string Address::toString() const {
    if (isUnix())
        return std::string(kUnixPrefix).append(isAbstract() ? "@" : "").append(unixName());
    std::string host = hostToString();
    return (isV6() ? '[' + host + ']' : host) + ':' + std::to_string(port_);
}

std::string Address::hostToString() const {
    char ip[INET6_ADDRSTRLEN];
    ::inet_ntop(isV6() ? AF_INET6 : AF_INET, bytes_.data(), ip, sizeof ip);
    std::string text = ip;
    if (isV6() && scope_ != 0)
        text += '%' + std::to_string(scope_);
    return text;
}

unsigned Address::toSystem(sockaddr_storage& to) const {
    auto write = [&](auto const& address, std::size_t size) {
        static_assert(sizeof address <= sizeof to);
        std::memset(&to, 0, sizeof to);
        std::memcpy(&to, &address, size);
        return static_cast<unsigned>(size);
    };
    if (isUnix()) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        static_assert(sizeof address.sun_path == kUnixRoom);
        std::memcpy(address.sun_path + isAbstract(), name_.data(), nameSize_);
        // The size includes the zero byte after a path, or before an abstract name.
        return write(address, offsetof(sockaddr_un, sun_path) + nameSize_ + 1u);
    }
    if (isV6()) {
        sockaddr_in6 address{};
        address.sin6_family = AF_INET6;
        address.sin6_port = htons(port_);
        address.sin6_scope_id = scope_;
        std::memcpy(&address.sin6_addr, bytes_.data(), bytes_.size());
        return write(address, sizeof address);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    std::memcpy(&address.sin_addr, bytes_.data(), sizeof address.sin_addr);
    return write(address, sizeof address);
}

std::optional<Address> Address::fromSystem(sockaddr const* from, unsigned size) {
    sa_family_t family;
    if (size < sizeof family)
        return std::nullopt;
    std::memcpy(&family, from, sizeof family);
    if (family == AF_INET && size >= sizeof(sockaddr_in)) {
        sockaddr_in address;
        std::memcpy(&address, from, sizeof address);
        return Address(ntohl(address.sin_addr.s_addr), ntohs(address.sin_port));
    }
    if (family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
        sockaddr_in6 address;
        std::memcpy(&address, from, sizeof address);
        V6 ip;
        std::memcpy(ip.data(), &address.sin6_addr, ip.size());
        return Address(ip, ntohs(address.sin6_port), address.sin6_scope_id);
    }
    if (family != AF_UNIX)
        return std::nullopt;
    std::size_t const header = offsetof(sockaddr_un, sun_path);
    std::string_view name(reinterpret_cast<char const*>(from) + header, size > header ? size - header : 0);
    if (name.empty())
        return Address();
    bool isAbstract = name.front() == '\0';
    name = isAbstract ? name.substr(1) : name.substr(0, name.find('\0'));
    if (name.empty() || name.size() >= kUnixRoom) // Linux also takes a path without a zero byte
        return Address();
    return unixNamed(isAbstract ? Family::UnixAbstract : Family::UnixPath, name);
}

} // namespace flow::net
