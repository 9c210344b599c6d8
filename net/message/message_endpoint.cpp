#include "net/message/message_endpoint.h"

#include "flow/base/detail/sentence.h"
#include "flow/base/parse_number.h"

#include <algorithm>
#include <optional>

namespace flow::net {
namespace {

constexpr std::string_view kTcp = "tcp://", kTls = "tls://", kIpc = "ipc://", kUnix = "unix:";
constexpr std::size_t kLongestName = 253;

/// True for a possible host name: letters, digits, '-' and '_' between dots, and a letter in the last label.
bool isName(std::string_view text) {
    auto isAllowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    };
    auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (text.empty() || text.size() > kLongestName)
        return false;
    for (std::size_t begin = 0;;) {
        std::size_t end = std::min(text.find('.', begin), text.size());
        std::string_view label = text.substr(begin, end - begin);
        if (label.empty() || label.size() > 63 || !std::all_of(label.begin(), label.end(), isAllowed))
            return false;
        if (end == text.size())
            return std::any_of(label.begin(), label.end(), isLetter);
        begin = end + 1;
    }
}

std::optional<MessageEndpoint> named(std::string_view text) {
    std::size_t colon = std::min(text.rfind(':'), text.size());
    auto port = parseNumber<std::uint16_t>(text.substr(std::min(colon + 1, text.size())));
    if (!port || !isName(text.substr(0, colon)))
        return {};
    return MessageEndpoint{Address(0, *port), std::string(text.substr(0, colon))};
}

} // namespace

Error wrongEndpoint(std::string_view endpoint, std::string_view rule) {
    return withPieces(connection_string_invalid(), {"the endpoint \"", endpoint, "\" is wrong: ", rule});
}

MessageEndpoint MessageEndpoint::parse(std::string_view endpoint, EndpointUse use) {
    if (endpoint.starts_with(kIpc)) {
        std::string_view name = endpoint.substr(kIpc.size());
        if (name.empty() || name == "@" || name == "*") // libzmq would choose a free name for *
            throw wrongEndpoint(endpoint, "a path or @NAME is expected behind ipc://");
        return {name.starts_with('@') ? Address::unixAbstract(name.substr(1)) : Address::unixPath(name)};
    }
    bool isEncrypted = endpoint.starts_with(kTls);
    if (!isEncrypted && !endpoint.starts_with(kTcp))
        throw wrongEndpoint(endpoint, "tcp://, tls://, ipc:// or inproc:// is expected");
    std::string text(endpoint.substr(kTcp.size()));
    if (use == EndpointUse::Bind) {
        if (text.starts_with("*:"))
            text.replace(0, 1, "0.0.0.0");
        if (text.ends_with(":*"))
            text.replace(text.size() - 1, 1, "0");
    }
    bool isBind = use == EndpointUse::Bind;
    auto parsed = Address::parse(text);
    std::optional<MessageEndpoint> found;
    if (parsed && !parsed->isUnix())
        found = MessageEndpoint{*parsed};
    else if (!isBind)
        found = named(text);
    if (!found)
        throw wrongEndpoint(endpoint, isBind
                                          ? "HOST:PORT is expected: an IP address, [an IPv6 address] or *, and a port"
                                          : "HOST:PORT is expected: a name, an IP address or [an IPv6 address]");
    if (!isBind && found->address.port() == 0)
        throw wrongEndpoint(endpoint, "a port from 1 to 65535 is expected");
    found->isEncrypted = isEncrypted;
    return *found;
}

std::string MessageEndpoint::text() const {
    std::string_view scheme = isEncrypted ? kTls : kTcp;
    if (!name.empty())
        return std::string(scheme) + name + ":" + std::to_string(address.port());
    std::string text = address.toString();
    if (!address.isUnix())
        return std::string(scheme) + text;
    std::string_view path = std::string_view(text).substr(kUnix.size());
    return std::string(kIpc) + std::string(path.starts_with("./@") ? path.substr(2) : path);
}

std::string MessageEndpoint::host() const {
    return name.empty() ? address.hostToString() : name;
}

} // namespace flow::net
