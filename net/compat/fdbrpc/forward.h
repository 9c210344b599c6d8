#pragma once
// Declares the classes of fdbrpc/fdbrpc.h, as flow/forward.h declares the classes of flow/flow.h.

namespace flow::net {

struct Endpoint;
struct NetworkAddressList;
class FlowTransport;
template <class T>
class ReplyPromise;
template <class T>
class ReplyPromiseStream;
template <class T>
class RequestStream;

} // namespace flow::net

using flow::net::Endpoint;
using flow::net::FlowTransport;
using flow::net::NetworkAddressList;
using flow::net::ReplyPromise;
using flow::net::ReplyPromiseStream;
using flow::net::RequestStream;
