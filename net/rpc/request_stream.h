#pragma once
// RequestStream<T>: a stream of requests, perhaps to another process.
//
//     struct StoreInterface {                              // what a server offers
//         constexpr static FileIdentifier file_identifier = 6000;
//         RequestStream<GetRequest> get;
//         RequestStream<SetRequest> set;
//         template <class Ar>
//         void serialize(Ar& ar) { serializer(ar, get, set); }
//     };
//
//     // The server:
//     StoreInterface store;
//     store.get.makeWellKnownEndpoint(WLTOKEN_FIRST_AVAILABLE, TaskPriority::DefaultEndpoint);
//     for (;;) {
//         GetRequest request = co_await store.get.getFuture();
//         request.reply.send(map[request.key]);
//     }
//     // A client:
//     RequestStream<GetRequest> get(Endpoint::wellKnown({server}, WLTOKEN_FIRST_AVAILABLE));
//     std::string value = co_await get.getReply(GetRequest{"key"});
//
// A stream can be sent to another process. There it sends requests to the process that made it. Copies share one
// stream. When the process that made the stream destroys its last copy, requests get broken_promise. Within a process
// requests are moved, not serialized.
//
// The errors of a request:
//     broken_promise                getReply(): the server has dropped the request, or has no such stream
//     serialization_failed          the request or reply has not the expected type
//     incompatible_protocol_version the other process speaks another version
//     value_too_large               the request or reply is larger than RpcOptions::largestMessage of either side, or
//                                   needs more memory than RpcOptions::elementsPerByte allows
//     request_maybe_delivered       tryGetReply(): the server has dropped the request, or has no such stream, or the
//                                   connection has ended or cannot be made. In the last two cases getReply() sends
//                                   the request again on a new connection, so the request may arrive twice.
//                                   getReply() fails only if the endpoint belongs to a connection that has ended
// and any error that the server sends.
//
// Cancel-safe: if the future is dropped, the reply is ignored. The server is not informed unless the type of the
// request has tellsAbandoned: see net/rpc/reply_promise.h. If a connection ends, the server still executes the requests
// that have arrived, and drops the replies. So it executes some requests twice. If that matters, give each request a
// number.

#include "flow/base/seconds.h"
#include "flow/combine/errors.h"
#include "flow/combine/forward.h"
#include "flow/combine/map.h"
#include "net/rpc/detail/pending_request.h"

namespace flow::net {

namespace rpc {
/// The destructor drops a request that this process has made to itself.
struct DropAtEnd {
    explicit DropAtEnd(Reference<PeerCall> call) : state(std::move(call)) {}
    DropAtEnd(DropAtEnd&&) noexcept = default;
    ~DropAtEnd() {
        if (state)
            state->drop();
    }
    Reference<PeerCall> state;
};
template <class T>
Future<T> untilDropped(Future<T> reply, DropAtEnd) {
    if constexpr (std::is_same_v<T, Void>)
        co_await std::move(reply);
    else
        co_return co_await std::move(reply);
}
} // namespace rpc

template <class T>
class RequestStream {
public:
    using Element = T;

    RequestStream() : queue_(new RequestQueue<T>) {}
    /// Makes a copy of the stream at `endpoint`, in this or another process.
    explicit RequestStream(Endpoint const& endpoint) : queue_(new RequestQueue<T>(endpoint)) {}

    /// Returns the stream of the received requests, for one reader. Call it only in the process that made the stream.
    FutureStream<T> getFuture() const {
        FLOW_ASSERT(!queue_->isRemote(), "getFuture() of a RequestStream of another process");
        return queue_->stream().getFuture();
    }
    /// Sends a request at most once, without waiting. The caller may still await the reply.
    template <class U = T>
    void send(U&& value) const {
        T request(std::forward<U>(value));
        if (queue_->isElsewhere())
            return sendAway(request);
        if constexpr (rpc::TellsAbandoned<T>)
            rpc::replyIn(request).watch();
        if (RequestQueue<T>* local = queue_->local())
            local->stream().send(std::move(request));
        else if constexpr (requires { T::kIsCall; })
            request.reply.sendError(service_not_found());
    }
    void sendError(Error error) const { queue_->stream().sendError(error); }

    /// Sends the request, and sends it again on each new connection, until the reply arrives.
    template <class U = T>
    Future<ReplyOf<U>> getReply(U request = U(), TaskPriority priority = TaskPriority::DefaultPromiseEndpoint) const {
        return ask<false>(T(std::move(request)), priority, Delivery::AtLeastOnce);
    }
    /// Sends the request once. The result is the reply, or request_maybe_delivered when the connection ends or the
    /// server drops the request. The future itself does not fail.
    template <class U = T>
    Future<ErrorOr<ReplyOf<U>>> tryGetReply(U request = U(),
                                            TaskPriority priority = TaskPriority::DefaultPromiseEndpoint) const {
        return ask<true>(T(std::move(request)), priority, Delivery::AtMostOnce);
    }
    /// Like getReply(). But the result is request_maybe_delivered when the process has been in the failed state without
    /// interruption for `seconds`, plus `slope` times the seconds from this call to the failure.
    template <class U = T>
    Future<ErrorOr<ReplyOf<U>>>
    getReplyUnlessFailedFor(U request, Seconds seconds, double slope,
                            TaskPriority priority = TaskPriority::DefaultPromiseEndpoint) const {
        if (!queue_->isElsewhere())
            return tryGetReply(std::move(request), priority);
        return unlessFailed<ReplyOf<U>>(ask<true>(T(std::move(request)), priority, Delivery::AtLeastOnce),
                                        FailureMonitor::failureMonitor().onFailedFor(getEndpoint(), seconds, slope));
    }
    /// Returns the stream of replies: see net/rpc/reply_promise_stream.h.
    template <class U = T>
    auto getReplyStream(U request = U()) const {
        T sent(std::move(request));
        auto stream = rpc::replyIn(sent);
        send(std::move(sent));
        return stream;
    }

    /// Registers the stream for other processes, and returns its endpoint.
    Endpoint const& getEndpoint(TaskPriority priority = TaskPriority::DefaultEndpoint) const {
        return queue_->endpoint(priority);
    }
    /// Registers the stream under a fixed number, which must be free. Call it before getEndpoint().
    void makeWellKnownEndpoint(int number, TaskPriority priority) const { queue_->publishAs(number, priority); }
    /// Registers the stream under a name. No other stream of this process may have the name, or a name with the same
    /// hash. Call it before getEndpoint().
    void makeNamedEndpoint(std::string_view name, TaskPriority priority = TaskPriority::DefaultEndpoint,
                           std::source_location caller = std::source_location::current()) const {
        queue_->publishAs(name, rpc::hashOf(name), priority, caller);
    }
    /// Returns the number of bytes of all streams that wait to be sent to the other process.
    std::size_t queuedBytes() const {
        RpcPeer* peer = queue_->isElsewhere() ? queue_->peer() : nullptr;
        return peer ? peer->queuedBytes() : 0;
    }
    /// See rpc::Node::drainedTo().
    Future<Void> drainedTo(std::size_t bytes) const {
        RpcPeer* peer = queue_->isElsewhere() ? queue_->peer() : nullptr;
        return peer ? RpcPeer::drained(Reference<RpcPeer>::addRef(peer), bytes) : Future<Void>(Void());
    }
    bool isEmpty() const { return queue_->stream().isEmpty(); }
    bool isValid() const { return static_cast<bool>(queue_); }
    friend bool operator==(RequestStream const& a, RequestStream const& b) {
        return a.queue_ == b.queue_ || a.getEndpoint() == b.getEndpoint();
    }

    template <class Ar>
    void serialize(Ar& ar) {
        Endpoint endpoint;
        if constexpr (Ar::isSerializing)
            endpoint = getEndpoint();
        ar & endpoint;
        if constexpr (Ar::isDeserializing) {
            if constexpr (requires { ar.context(); })
                if (ar.context() && endpoint.getPrimaryAddress().isAny() && !endpoint.getPrimaryAddress().isUnix()) {
                    RpcPeer const& peer = *static_cast<MessageContext*>(ar.context())->peer;
                    endpoint.addresses = {peer.address(), {}};
                    endpoint.isByConnection = peer.isAccepted();
                    endpoint.connection = peer.number();
                }
            *this = RequestStream(endpoint);
        }
    }

private:
    template <bool kAsErrorOr, class U>
    auto ask(U request, TaskPriority priority, Delivery delivery) const
        -> Future<rpc::ReplyResult<ReplyOf<U>, kAsErrorOr>> {
        if constexpr (rpc::TellsAbandoned<T>)
            rpc::replyIn(request).unshare(); // so that the returned future is the only one
        bool isShared = rpc::replyIn(request).isShared();
        if (!queue_->isElsewhere() || isShared) {
            ReplyPromise<ReplyOf<T>> promise = rpc::replyIn(request);
            Future<ReplyOf<T>> reply = promise.getFuture();
            if (queue_->isElsewhere())
                rpc::Node::current().hold(combine::forwardTo<Future<Void>>(
                    std::move(promise),
                    start<PendingRequest<T, false>>(queue_, std::move(request), priority, delivery)));
            else
                send(std::move(request));
            if constexpr (rpc::TellsAbandoned<T>)
                if (!isShared)
                    reply = rpc::untilDropped(std::move(reply), rpc::DropAtEnd(promise.watch()));
            promise = {};
            if constexpr (kAsErrorOr)
                return map(errorOr(std::move(reply)),
                           [](ErrorOr<ReplyOf<T>> result) { return rpc::maybeDelivered(std::move(result)); });
            else
                return reply;
        }
        return start<PendingRequest<T, kAsErrorOr>>(queue_, std::move(request), priority, delivery);
    }
    template <class Reply>
    static Future<ErrorOr<Reply>> unlessFailed(Future<ErrorOr<Reply>> reply, Future<Void> failed) {
        auto first = co_await race(std::move(reply), std::move(failed));
        if (first.index() == 0)
            co_return std::get<0>(std::move(first));
        co_return ErrorOr<Reply>::failed(request_maybe_delivered());
    }
    void sendAway(T const& request) const {
        RpcPeer* peer = queue_->peer();
        if (!peer)
            return;
        std::uint64_t number = 0;
        if constexpr (requires { rpc::replyIn(request).numberFor(*peer); })
            if (rpc::replyIn(request).isShared())
                number = rpc::replyIn(request).numberFor(*peer);
        peer->send(getEndpoint().token, number, [&](ObjectWriter& writer) { writer.serialize(request); });
    }

    Reference<RequestQueue<T>> queue_;
};

} // namespace flow::net
