#pragma once
// Endpoints of message sockets, to bind or connect to: "tcp://127.0.0.1:5555", "tcp://[::1]:5555",
// "ipc:///run/service", "ipc://@name".
//
//     Address address = parseEndpoint("tcp://*:5555", EndpointUse::Bind);
//     endpointText(address)                                // "tcp://0.0.0.0:5555"
//
// To bind, the host `*` means any address of this machine, and the port `*` or 0 a free one.

#include "net/address.h"

#include <string>
#include <string_view>

namespace flow::net {

enum class EndpointUse : bool { Bind, Connect };

/// Throws connection_string_invalid.
Address parseEndpoint(std::string_view endpoint, EndpointUse use);
std::string endpointText(Address const& address);

} // namespace flow::net
