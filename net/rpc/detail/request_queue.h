#pragma once
// RequestQueue<T>: the shared state of the copies of a RequestStream<T>: a stream of this process, or the endpoint of a
// remote stream. Only net/rpc uses this file.

#include "flow/core/stream.h"
#include "flow/loop/turn.h"
#include "flow/sync/trigger.h"
#include "net/rpc/node.h"
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
        if (!isRemote_ && endpoint_ && Loop::current().template service<rpc::Node>() == node_)
            node_->endpoints().remove(endpoint_->token);
    }

    bool isRemote() const { return isRemote_; }
    PromiseStream<T>& stream() {
        if (!stream_)
            stream_.emplace();
        return *stream_;
    }
    /// Returns the endpoint of the stream, and registers the stream if necessary.
    Endpoint const& endpoint(TaskPriority priority) {
        if (!endpoint_)
            publish(priority);
        return *endpoint_;
    }
    void publish(TaskPriority priority) {
        node_ = &rpc::Node::current();
        priority_ = priority;
        endpoint_ = std::make_unique<Endpoint>();
        endpoint_->token = node_->endpoints().add(*this);
        endpoint_->addresses = node_->getLocalAddresses();
    }
    void publishAs(int number, TaskPriority priority) {
        rpc::Node& node = rpc::Node::current();
        FLOW_ASSERT(!endpoint_, "makeWellKnownEndpoint() of a RequestStream that has an endpoint already");
        FLOW_ASSERT(node.endpoints().addWellKnown(*this, number), "the well-known endpoint is taken");
        node_ = &node;
        priority_ = priority;
        endpoint_ = std::make_unique<Endpoint>(Endpoint::wellKnown(node.getLocalAddresses(), number));
    }
    void publishAs(std::string_view name, std::uint64_t hash, TaskPriority priority, std::source_location caller) {
        rpc::Node& node = rpc::Node::current();
        FLOW_ASSERT_AT(caller, !endpoint_, "makeNamedEndpoint() of a RequestStream that has an endpoint already");
        std::string const* other = node.endpoints().addNamed(*this, hash, name);
        FLOW_ASSERT_AT(caller, !other, rpc::whyTaken(name, *other).c_str());
        node_ = &node;
        priority_ = priority;
        endpoint_ = std::make_unique<Endpoint>(node.getLocalAddresses(), UID(kNamed, hash), false, 0);
    }

    /// Returns the queue of this process that receives the requests, or null.
    RequestQueue* local() {
        if (!isRemote_)
            return this;
        rpc::Node& node = rpc::Node::current();
        if (!node.isLocal(*endpoint_))
            return nullptr;
        MessageReceiver* found = node.endpoints().find(endpoint_->token);
        return found && found->typeKey() == typeKey() ? static_cast<RequestQueue*>(found) : nullptr;
    }
    bool isElsewhere() { return isRemote_ && !rpc::Node::current().isLocal(*endpoint_); }
    /// Returns the peer of a remote stream; null if the stream cannot be reached any more.
    RpcPeer* peer() {
        if (!peer_ || !peer_->isOpen())
            peer_ = rpc::Node::current().peerOf(*endpoint_);
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
            if constexpr (rpc::TellsAbandoned<T>)
                rpc::replyIn(request).watch();
        } catch (...) {
            if constexpr (requires { rpc::replyIn(request).forget(); })
                rpc::replyIn(request).forget(); // RpcPeer sends the error
            throw;
        }
        std::size_t bytes = size + reader.elementBytes() + kBytesOfEach;
        backlog_ += bytes;
        if constexpr (requires { request.setHeldBytes(bytes); })
            request.setHeldBytes(bytes);
        if constexpr (requires { request.setTrace(*context.trace); })
            if (context.trace)
                request.setTrace(*context.trace);
        arrived_.push(std::move(request));
        this->ask(priority_);
    }

private:
    static void hand(Turn& turn) {
        auto& self = static_cast<RequestQueue&>(turn);
        Reference<RequestQueue> keep = Reference<RequestQueue>::addRef(&self); // a reader may destroy the queue
        PromiseStream<T> to = self.stream();
        try {
            while (!self.arrived_.isEmpty()) {
                to.send(std::move(self.arrived_.front()));
                (void)self.arrived_.pop();
            }
        } catch (std::bad_alloc&) { // a later turn tries again
            return self.ask(self.priority_);
        }
        self.handed_.trigger(self.priority_);
    }
    bool isFull() const { return backlog_ > node_->options().backlogBytes; }
    Future<Void> whenPlace() {
        while (!waiting_.isEmpty() && waiting_.front().getFutureReferenceCount() == 0) // its connection has ended
            (void)waiting_.pop();
        Promise<Void> place;
        waiting_.push(place);
        if (!admitting_.isValid() || admitting_.isReady())
            admitting_ = admit();
        return place.getFuture();
    }
    /// Resumes the reading from peers while the queue has room. Begins with the peer that has waited longest. A peer
    /// waits again if there is no room for its message.
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
                waiting_.pop().send(Void()); // the peer is read until the queue is full
        }
    }

    static constexpr std::size_t bytesOfReply() {
        if constexpr (requires { sizeof(rpc::ReplyState<ReplyOf<T>>); })
            return sizeof(rpc::ReplyState<ReplyOf<T>>);
        else
            return 0;
    }
    static constexpr std::size_t kBytesOfEach = 2 * sizeof(T) + bytesOfReply(); // 2: a ring may be half empty

    std::optional<PromiseStream<T>> stream_;
    std::unique_ptr<Endpoint> endpoint_;
    rpc::Node* node_ = nullptr; // the endpoint is registered at this node
    Reference<RpcPeer> peer_;   // the peer of a remote stream
    RingQueue<T> arrived_;      // not in the stream yet
    Trigger handed_;
    std::size_t backlog_ = 0; // the memory of all requests since the queue was last empty
    TaskPriority priority_ = TaskPriority::DefaultEndpoint;
    bool isRemote_ = false;
    RingQueue<Promise<Void>> waiting_; // one for each peer that is not read until there is room
    Future<Void> admitting_;
};

} // namespace flow::net
