#pragma once
// RequestQueue<T>: the shared state of the copies of a RequestStream<T>: a stream of this process, or the endpoint of a
// remote one. Used by net/rpc alone.

#include "flow/core/stream.h"
#include "flow/loop/turn.h"
#include "flow/sync/trigger.h"
#include "net/rpc/flow_transport.h"
#include "net/rpc/reply_promise.h"

#include <memory>
#include <optional>

namespace flow::net {

namespace rpc {
template <class T>
inline constinit char requestTypeKey = 0;
} // namespace rpc

template <class T>
class RequestQueue final : public FastAllocated<RequestQueue<T>>,
                           public ReferenceCounted<RequestQueue<T>>,
                           public MessageReceiver,
                           Turn {
public:
    RequestQueue() : Turn(hand) {}
    explicit RequestQueue(Endpoint const& remote)
        : Turn(hand), endpoint_(std::make_unique<Endpoint>(remote)), isRemote_(true) {}
    ~RequestQueue() override {
        if (!isRemote_ && endpoint_ && Loop::current().template service<FlowTransport>() == transport_)
            transport_->endpoints().remove(endpoint_->token);
    }

    bool isRemote() const { return isRemote_; }
    PromiseStream<T>& stream() {
        if (!stream_)
            stream_.emplace();
        return *stream_;
    }
    /// Its endpoint. Registers it as one if necessary.
    Endpoint const& endpoint(TaskPriority priority) {
        if (!endpoint_)
            publish(priority);
        return *endpoint_;
    }
    void publish(TaskPriority priority) {
        transport_ = &FlowTransport::transport();
        priority_ = priority;
        endpoint_ = std::make_unique<Endpoint>();
        endpoint_->token = transport_->endpoints().add(*this);
        endpoint_->addresses = transport_->getLocalAddresses();
    }
    void publishAs(int number, TaskPriority priority) {
        FlowTransport& transport = FlowTransport::transport();
        FLOW_ASSERT(!endpoint_, "makeWellKnownEndpoint() of a RequestStream that has an endpoint already");
        FLOW_ASSERT(transport.endpoints().addWellKnown(*this, number), "the well-known endpoint is taken");
        transport_ = &transport;
        priority_ = priority;
        endpoint_ = std::make_unique<Endpoint>(Endpoint::wellKnown(transport.getLocalAddresses(), number));
    }
    void publishAs(std::string_view name, std::uint64_t hash, TaskPriority priority, std::source_location caller) {
        FlowTransport& transport = FlowTransport::transport();
        FLOW_ASSERT_AT(caller, !endpoint_, "makeNamedEndpoint() of a RequestStream that has an endpoint already");
        std::string const* other = transport.endpoints().addNamed(*this, hash, name);
        FLOW_ASSERT_AT(caller, !other, rpc::whyTaken(name, *other).c_str());
        transport_ = &transport;
        priority_ = priority;
        endpoint_ = std::make_unique<Endpoint>(transport.getLocalAddresses(), UID(kNamed, hash), false, 0);
    }

    /// The queue of this process behind an endpoint; null if the endpoint is of another process.
    RequestQueue* local() {
        if (!isRemote_)
            return this;
        FlowTransport& transport = FlowTransport::transport();
        if (!transport.isLocal(*endpoint_))
            return nullptr;
        MessageReceiver* found = transport.endpoints().find(endpoint_->token);
        return found && found->typeKey() == typeKey() ? static_cast<RequestQueue*>(found) : nullptr;
    }
    bool isElsewhere() { return isRemote_ && !FlowTransport::transport().isLocal(*endpoint_); }
    /// The peer; null if it cannot be reached any more.
    RpcPeer* peer() {
        if (!peer_ || !peer_->isOpen())
            peer_ = FlowTransport::transport().peerOf(*endpoint_);
        return peer_.getPtr();
    }

    void const* typeKey() const override { return &rpc::requestTypeKey<T>; }
    void receive(ObjectReader& reader, MessageContext& context) override {
        std::size_t size = reader.remaining();
        if (arrived_.isEmpty() && stream().isEmpty())
            backlog_ = 0;
        if (isFull()) {
            context.pause = whenPlace();
            return;
        }
        T request{};
        try {
            reader.deserialize(request);
        } catch (...) {
            if constexpr (requires { rpc::replyIn(request).forget(); })
                rpc::replyIn(request).forget(); // the error is the reply
            throw;
        }
        std::size_t bytes = size + reader.elementBytes() + kBytesOfEach;
        backlog_ += bytes;
        if constexpr (requires { request.setHeldBytes(bytes); })
            request.setHeldBytes(bytes);
        arrived_.push(std::move(request));
        this->ask(priority_);
    }

private:
    static void hand(Turn& turn) {
        auto& self = static_cast<RequestQueue&>(turn);
        Reference<RequestQueue> keep = Reference<RequestQueue>::addRef(&self); // a reader may drop it
        PromiseStream<T> to = self.stream();
        try {
            while (!self.arrived_.isEmpty()) {
                to.send(std::move(self.arrived_.front()));
                (void)self.arrived_.pop();
            }
        } catch (std::bad_alloc&) { // the stream's queue cannot grow: a later turn tries again
            return self.ask(self.priority_);
        }
        self.handed_.trigger(self.priority_);
    }
    bool isFull() const { return backlog_ > transport_->options().backlogBytes; }
    Future<Void> whenPlace() {
        while (!waiting_.isEmpty() && waiting_.front().getFutureReferenceCount() == 0) // its connection has ended
            (void)waiting_.pop();
        Promise<Void> place;
        waiting_.push(place);
        if (!admitting_.isValid() || admitting_.isReady())
            admitting_ = admit();
        return place.getFuture();
    }
    /// Admits one peer after another, the one that has waited longest first: if all read again at once, each would
    /// bring all that it has sent meanwhile.
    Future<Void> admit() {
        while (!waiting_.isEmpty()) {
            PromiseStream<T> to = stream();
            try {
                if (!arrived_.isEmpty())
                    co_await handed_.next();
                co_await to.onEmpty();
            } catch (std::bad_alloc&) {
                while (!waiting_.isEmpty())
                    waiting_.pop().sendError(large_alloc_failed());
                break;
            }
            if (arrived_.isEmpty() && to.isEmpty())
                backlog_ = 0;
            while (!waiting_.isEmpty() && !isFull())
                waiting_.pop().send(Void()); // the peer sends as much as fits
        }
    }

    static constexpr std::size_t bytesOfReply() {
        if constexpr (requires { sizeof(rpc::ReplyState<ReplyOf<T>>); })
            return sizeof(rpc::ReplyState<ReplyOf<T>>);
        else
            return 0;
    }
    static constexpr std::size_t kBytesOfEach = 2 * sizeof(T) + bytesOfReply(); // rings grow by doubling

    std::optional<PromiseStream<T>> stream_;
    std::unique_ptr<Endpoint> endpoint_;
    FlowTransport* transport_ = nullptr; // the transport of which it is an endpoint
    Reference<RpcPeer> peer_;            // of a remote one
    RingQueue<T> arrived_;               // requests that are not in the stream yet
    Trigger handed_;
    std::size_t backlog_ = 0; // memory of what has come since all were taken
    TaskPriority priority_ = TaskPriority::DefaultEndpoint;
    bool isRemote_ = false;
    RingQueue<Promise<Void>> waiting_; // peers
    Future<Void> admitting_;
};

} // namespace flow::net
