#include "net/message/endpoint.h"

#include "flow/base/error.h"

namespace flow::net {
namespace {

constexpr std::string_view kTcp = "tcp://", kIpc = "ipc://", kUnix = "unix:";

} // namespace

Address parseEndpoint(std::string_view endpoint, EndpointUse use) {
    if (endpoint.starts_with(kIpc)) {
        std::string_view name = endpoint.substr(kIpc.size());
        return name.starts_with('@') ? Address::unixAbstract(name.substr(1)) : Address::unixPath(name);
    }
    if (!endpoint.starts_with(kTcp))
        throw connection_string_invalid();
    std::string text(endpoint.substr(kTcp.size()));
    if (use == EndpointUse::Bind) {
        if (text.starts_with("*:"))
            text.replace(0, 1, "0.0.0.0");
        if (text.ends_with(":*"))
            text.replace(text.size() - 1, 1, "0");
    }
    Address address = *Address::parse(text);
    if (address.isUnix() || (use == EndpointUse::Connect && address.port() == 0))
        throw connection_string_invalid();
    return address;
}

std::string endpointText(Address const& address) {
    std::string text = address.toString();
    if (!address.isUnix())
        return std::string(kTcp) + text;
    std::string_view name = std::string_view(text).substr(kUnix.size());
    return std::string(kIpc) + std::string(name.starts_with("./@") ? name.substr(2) : name);
}

} // namespace flow::net
