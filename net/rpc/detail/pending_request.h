#pragma once
// PendingRequest: a sent request and the future of its reply, in one allocation. Only net/rpc uses it.

#include "flow/core/operation.h"
#include "flow/trace/span.h"
#include "net/rpc/detail/request_queue.h"
#include "net/rpc/reply_promise.h"

namespace flow::net {

/// Decides what happens if the connection ends before the reply.
enum class Delivery : std::uint8_t {
    AtLeastOnce, // the request is sent again, and may arrive twice
    AtMostOnce,  // the request fails with request_maybe_delivered
};

namespace rpc {
template <class Reply, bool kAsErrorOr>
using ReplyResult = std::conditional_t<kAsErrorOr, ErrorOr<Reply>, Reply>;

/// For tryGetReply(): replaces broken_promise by request_maybe_delivered. A server may have executed the request before
/// it dropped the request.
template <class Reply>
ErrorOr<Reply> maybeDelivered(ErrorOr<Reply> reply) {
    return reply.isError(error_code_broken_promise) ? ErrorOr<Reply>::failed(request_maybe_delivered())
                                                    : std::move(reply);
}
} // namespace rpc

template <class Request, bool kAsErrorOr>
class PendingRequest final
    : public Operation<PendingRequest<Request, kAsErrorOr>, rpc::ReplyResult<ReplyOf<Request>, kAsErrorOr>>,
      PendingReply {
public:
    using Reply = ReplyOf<Request>;

    PendingRequest(Reference<RequestQueue<Request>> queue, Request&& request, TaskPriority priority, Delivery delivery)
        : queue_(std::move(queue)), request_(std::move(request)), priority_(priority), delivery_(delivery) {
        Error error = request_maybe_delivered();
        try {
            if (RpcPeer* peer = queue_->peer()) {
                sendTo(*peer);
                return;
            }
        } catch (...) {
            error = currentError();
            stopWaiting();
        }
        if constexpr (kAsErrorOr)
            this->complete(ErrorOr<Reply>::failed(error));
        else
            this->fail(error);
    }
    ~PendingRequest() override {
        if constexpr (rpc::TellsAbandoned<Request>)
            if (isWaiting() && peer()->isOpen())
                peer()->sendDrop(number());
        rpc::replyIn(request_).setNumber(0);
    }

    WaiterNode* onTurn() {
        if constexpr (kAsErrorOr)
            return this->completed(std::move(result_));
        else if (result_.isError())
            return this->failed(result_.getError());
        else
            return this->completed(std::move(result_).get());
    }

private:
    void sendTo(RpcPeer& peer) {
        waitFor(peer);
        rpc::replyIn(request_).setNumber(number());
        if constexpr (requires { request_.context.isEmpty(); })
            if (!request_.context.isEmpty())
                if (auto* current = request_.context.find(trace::kCurrentSpan))
                    peer.sendTrace(number(), current->context);
        peer.send(queue_->endpoint(TaskPriority::DefaultEndpoint).token, number(),
                  [&](ObjectWriter& writer) { writer.serialize(request_); });
    }
    void receive(ObjectReader& reader, MessageContext&) override {
        bool isUnknown = false;
        try {
            end(readReply<Reply>(reader, isUnknown));
        } catch (...) {
            end(ErrorOr<Reply>::failed(currentError()));
        }
        Endpoint const& asked = queue_->endpoint(TaskPriority::DefaultEndpoint);
        if (isUnknown && !asked.isNamed()) // a named endpoint may exist later
            rpc::Node::current().failureMonitor().endpointNotFound(asked);
    }
    void lost(Error error) override {
        stopWaiting();
        if (error.code() != error_code_incompatible_protocol_version) {
            error = request_maybe_delivered();
            if (delivery_ == Delivery::AtLeastOnce) {
                try {
                    if (RpcPeer* next = queue_->peer())
                        return sendTo(*next);
                } catch (...) {
                    error = currentError();
                }
            }
        }
        end(ErrorOr<Reply>::failed(error));
    }
    /// Completes the future in a later turn. Until then it may be cancelled.
    void end(ErrorOr<Reply> result) {
        stopWaiting();
        result_ = kAsErrorOr ? rpc::maybeDelivered(std::move(result)) : std::move(result);
        Loop::current().makeReady(this->turn(), priority_);
    }

    Reference<RequestQueue<Request>> queue_;
    Request request_;
    ErrorOr<Reply> result_;
    TaskPriority priority_;
    Delivery delivery_;
};

} // namespace flow::net
