#pragma once
// FlowTransport, Endpoint and related names, under the old header name.

#include "../../rpc/node.h"
#include "../flow/NetworkAddress.h"
#include "flow/flow.h"

namespace flow::net {

/// Flow's name for flow::net::rpc::Node.
class FlowTransport final : public rpc::Node {
public:
    using Node::Node;
    static Node& transport() { return current(); }
    /// Only `options` has an effect. The largest number of a well-known endpoint is EndpointTable::kLargestNumber.
    static Node& createInstance(bool /*isClient*/, std::uint64_t /*id*/, int /*maxWellKnownEndpoints*/,
                                RpcOptions options = {}) {
        return ofLoop(std::move(options));
    }
};

} // namespace flow::net

using flow::net::Endpoint;
using flow::net::FlowTransport;
using flow::net::RpcOptions;
using flow::net::WellKnownEndpoints;
using flow::net::WLTOKEN_FIRST_AVAILABLE;
