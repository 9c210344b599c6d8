#include "net/examples/kv/server.h"

#include "flow/flow.h"
#include "flow/tasks/collection.h"

namespace kv {
namespace {

constexpr int kMostRequests = 256;                 // that are answered at a time; others wait in the stream
constexpr std::size_t kMostWaitingBytes = 1 << 20; // of requests in the stream
constexpr std::size_t kMostBytesOfPeers = 64 << 20;
constexpr std::size_t kMostQueuedBytes = 4 << 20; // for another server; messages beyond are lost

struct NoWitness final : Witness {};

class Server final : public Replica {
public:
    Server(ServerOptions const& options, Witness& witness)
        : Replica(options.id, options.servers, options.addresses, options.journal, witness),
          listenAt_(options.listenAt) {
        messages_.makeWellKnownEndpoint(kMessages, TaskPriority::DefaultEndpoint);
        requests_.makeWellKnownEndpoint(kRequests, TaskPriority::DefaultEndpoint);
    }

private:
    Future<Void> listenToServers() override {
        FutureStream<MessageRequest> messages = messages_.getFuture();
        for (;;) {
            MessageRequest next = co_await messages;
            next.reply.send(Void());
            co_await received(std::move(next.message), next.from);
        }
    }

    Future<Void> listenToClients() override {
        FutureStream<StoreRequest> requests = requests_.getFuture();
        for (;;) {
            co_await places_.take();
            FlowLock::Releaser place(places_);
            StoreRequest next = co_await requests;
            answering_.add(serve(std::move(next), std::move(place)));
        }
    }

    Future<Void> serve(StoreRequest asked, [[maybe_unused]] FlowLock::Releaser place) {
        if (bytesIn(asked.request) > kLargestRequest) {
            asked.reply.sendError(value_too_large());
            co_return;
        }
        Reply reply = co_await answer(asked.request);
        asked.reply.send(reply);
    }

    void transmit(Message const& message, net::Address const& to) override {
        if (to == listenAt_) // one to itself would be handled inside this call, and its failure would destroy this
            return;
        auto [place, isNew] = others_.try_emplace(to);
        if (isNew)
            place->second = net::RequestStream<MessageRequest>(net::Endpoint::wellKnown({to, {}}, kMessages));
        if (place->second.queuedBytes() > kMostQueuedBytes)
            return;
        MessageRequest request{.message = message, .from = listenAt_, .reply = {}};
        sending_.add(success(place->second.tryGetReply(std::move(request))));
    }

    const net::Address listenAt_;
    net::RequestStream<MessageRequest> messages_;
    net::RequestStream<StoreRequest> requests_;
    std::map<net::Address, net::RequestStream<MessageRequest>> others_;
    FlowLock places_{kMostRequests};
    ActorCollection answering_{false};
    ActorCollection sending_{false};
};

} // namespace

Future<Void> runServer(ServerOptions options) {
    NoWitness none;
    net::FlowTransport transport({.backlogBytes = kMostWaitingBytes, .peersBytes = kMostBytesOfPeers});
    Server server(options, options.witness ? *options.witness : none);
    Future<Void> listening = transport.bind(options.listenAt, options.listenAt);
    Future<Void> served = server.run();
    co_await race(listening, served);
}

} // namespace kv
