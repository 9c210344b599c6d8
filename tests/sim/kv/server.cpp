#include "tests/sim/kv/server.h"

#include "flow/combine/errors.h"
#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/memory/binary.h"
#include "flow/sync/semaphore.h"
#include "flow/tasks/scope.h"
#include "flow/trace/code_probe.h"
#include "net/examples/kv/replica.h"
#include "net/transport.h"
#include "tests/sim/kv/frames.h"
#include "tests/sim/planted.h"

#include <algorithm>
#include <string_view>

namespace kv {
namespace {

constexpr int kMostClients = 16;

/// Without looking at the checksum: what a program does that has none.
template <class T>
Optional<T> unsealAnything(std::string_view sealed) {
    try {
        T value;
        BinaryReader body(StringRef(sealed.substr(std::min(sealed.size(), kSealBytes))), Unversioned());
        body >> value;
        return value;
    } catch (Error&) {
        return {};
    }
}

class DatagramServer final : public Replica {
public:
    DatagramServer(int id, Cluster const& cluster, Witness& witness)
        : Replica(id, cluster.servers, cluster.at(Cluster::kServerPort), "/journal", witness) {}

private:
    void open() override { socket_ = net::transport().bind(net::Address(0, Cluster::kServerPort)); }

    Future<Void> listenToServers() override {
        for (;;) {
            net::Datagram datagram = co_await socket_->receive();
            std::string_view bytes = datagram.bytes.toStringView();
            Optional<Message> message =
                planted::isOn("NoChecksum") ? unsealAnything<Message>(bytes) : unseal<Message>(bytes);
            FLOW_CODE_PROBE(!message.present(), "a message between servers was damaged");
            if (message.present())
                co_await received(message.get(), datagram.from);
        }
    }

    void transmit(Message const& message, net::Address const& to) override {
        sending_.spawn(errorOr(keep(socket_->send(to, seal(message)))));
    }

    Future<Void> listenToClients() override {
        Scope clients;
        Reference<net::Listener> listener = net::transport().listen(Cluster::kClientPort);
        for (;;) {
            Semaphore::Permit place = co_await places_.permit();
            FLOW_CODE_PROBE(places_.permits() == 0, "a server has as many clients as it can have");
            Reference<net::Connection> connection = co_await listener->accept();
            clients.spawn(errorOr(serveClient(connection, std::move(place))));
        }
    }

    /// Runs until the client disconnects, or is silent for a while.
    Future<Void> serveClient(Reference<net::Connection> connection, Semaphore::Permit place) {
        constexpr double kPatience = 2; // seconds
        auto* forgotten = planted::isOn("MissedCancel") ? new Semaphore::Permit(std::move(place)) : nullptr;
        Frames frames(connection);
        for (;;) {
            Optional<Request> request = co_await timeoutError(frames.next<Request>(), kPatience);
            if (!request.present())
                break;
            Reply reply = co_await answer(request.get());
            co_await timeoutError(frames.send(reply), kPatience);
        }
        delete forgotten;
    }

    Reference<net::DatagramSocket> socket_;
    Semaphore places_{kMostClients};
    Scope sending_;
};

} // namespace

Future<Void> runDatagramServer(int id, Cluster const& cluster, Witness& witness) {
    DatagramServer server(id, cluster, witness);
    co_await server.run();
}

} // namespace kv
