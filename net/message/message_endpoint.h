#pragma once
// Endpoints of message sockets, to bind or connect to: "tcp://127.0.0.1:5555", "tcp://[::1]:5555",
// "tcp://example.org:5555", "tls://example.org:5555", "ipc:///run/service", "ipc://@name".
//
//     MessageEndpoint endpoint = MessageEndpoint::parse("tcp://*:5555", EndpointUse::Bind);
//     endpoint.text()                                      // "tcp://0.0.0.0:5555"
//
// To bind, the host `*` means all IPv4 addresses, and the port `*` or 0 means a free port. Host names are refused.

#include "flow/base/error.h"
#include "net/address.h"

#include <string>
#include <string_view>

namespace flow::net {

enum class EndpointUse : bool { Bind, Connect };

/// Returns connection_string_invalid with the sentence `the endpoint "tcp://a" is wrong: RULE`.
Error wrongEndpoint(std::string_view endpoint, std::string_view rule);

struct MessageEndpoint {
    Address address;          // if `name` is not empty, only the port is used
    std::string name{};       // a host name, which is resolved at each attempt to connect
    bool isEncrypted = false; // with TLS

    /// Throws connection_string_invalid with a sentence that names the endpoint and the rule.
    static MessageEndpoint parse(std::string_view text, EndpointUse use);
    std::string text() const;
    /// Returns the name, or the address without the port, as in a certificate.
    std::string host() const;
    /// Returns this endpoint with another address.
    MessageEndpoint at(Address const& where) const { return {where, {}, isEncrypted}; }
};

} // namespace flow::net
