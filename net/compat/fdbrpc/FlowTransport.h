#pragma once
// FlowTransport, endpoints and what goes with them, under the old header name.

#include "../../rpc/flow_transport.h"
#include "../flow/NetworkAddress.h"
#include "flow/flow.h"

using flow::net::Endpoint;
using flow::net::FlowTransport;
using flow::net::RpcOptions;
using flow::net::WellKnownEndpoints;
using flow::net::WLTOKEN_FIRST_AVAILABLE;
