#include "net/address.h"

#include "flow/base/error.h"
#include "flow/base/parse_number.h"

#include <arpa/inet.h>

namespace flow::net {

Address Address::parse(std::string_view text) {
    auto colon = text.rfind(':');
    if (colon == std::string_view::npos)
        throw connection_string_invalid();
    std::string_view ip = text.substr(0, colon), digits = text.substr(colon + 1);
    auto port = parseNumber<std::uint16_t>(digits);
    if (!port)
        throw connection_string_invalid();
    bool inBrackets = ip.size() >= 2 && ip.front() == '[' && ip.back() == ']';
    Address address;
    address.port_ = *port;
    address.isV6_ = inBrackets;
    std::string name(inBrackets ? ip.substr(1, ip.size() - 2) : ip);
    if (::inet_pton(inBrackets ? AF_INET6 : AF_INET, name.c_str(), address.bytes_.data()) != 1)
        throw connection_string_invalid();
    return address;
}

std::string Address::toString() const {
    char ip[INET6_ADDRSTRLEN];
    ::inet_ntop(isV6_ ? AF_INET6 : AF_INET, bytes_.data(), ip, sizeof ip);
    std::string name = isV6_ ? '[' + std::string(ip) + ']' : std::string(ip);
    return name + ':' + std::to_string(port_);
}

} // namespace flow::net
