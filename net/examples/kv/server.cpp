#include "net/examples/kv/server.h"

#include "flow/flow.h"

namespace kv {
namespace {

/// A message from one server to another. Its reply only confirms the arrival, so that a broken connection is detected.
struct Delivery {
    using Reply = Void;
    static constexpr char const* name = "kv/delivery";
    Message message;
    net::Address from; // the address at which the sender listens
};

class Server final : public Replica {
public:
    Server(net::rpc::Node& node, ServerOptions const& options, Witness& witness)
        : Replica(options.id, options.servers, options.addresses, options.journal, witness), node_(node) {}

private:
    Future<Void> listenToServers() override {
        // Handles a message to the end, even if the connection of its sender ends before.
        return net::rpc::serve(node_, {.atATime = 1, .runsToEnd = true},
                               [this](Delivery d) { return received(d.message, d.from); });
    }
    Future<Void> listenToClients() override {
        return net::rpc::serve(node_, {.atATime = 256}, [this](Request request) {
            return bytesIn(request) > kLargestRequest ? Future<Reply>(value_too_large()) : answer(std::move(request));
        });
    }
    void transmit(Message const& message, net::Address const& to) override {
        // A message to this server would be handled inside this call, and a failure would destroy this server.
        if (to != node_.getLocalAddress() && node_.queuedBytes(to) <= kMostQueuedBytes)
            sending_.spawn(net::rpc::tryCall(to, Delivery{message, node_.getLocalAddress()}));
    }

    static constexpr std::size_t kMostQueuedBytes = 4 << 20; // for each other server; further messages are lost
    net::rpc::Node& node_;
    Scope sending_{OnError::Report};
};

} // namespace

Future<Void> runServer(ServerOptions options) {
    Witness none;
    net::rpc::Node node({.backlogBytes = 1 << 20, .peersBytes = 64 << 20});
    Server server(node, options, options.witness ? *options.witness : none);
    co_await race(node.listen(options.listenAt), server.run());
}

} // namespace kv
