#include "tests/sim/kv/client.h"

#include "flow/base/format.h"
#include "flow/combine/timeout.h"
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/history.h"
#include "flow/sync/semaphore.h"
#include "flow/trace/code_probe.h"
#include "flow/wait/delay.h"
#include "net/examples/kv/client.h"
#include "net/transport.h"
#include "tests/sim/kv/frames.h"
#include "tests/sim/planted.h"

#include <memory>
#include <string>
#include <vector>

namespace kv {
namespace {

constexpr double kPatience = 1; // seconds

struct Peer {
    Reference<net::Connection> connection;
    Frames frames;
};

class Client {
public:
    Client(Workload& workload, std::uint64_t& answered)
        : workload_(workload), answered_(answered), id_(++workload.clients) {}
    virtual ~Client() = default;

    Future<Void> run();

protected:
    /// Until it is answered. The request has its number.
    virtual Future<Reply> askUntilDone(Request request) = 0;
    /// True if an operation may be dropped at any time.
    virtual bool maysGiveUp() const { return false; }

    std::uint64_t id() const { return id_; }
    std::uint64_t nextNumber() { return ++number_; }

private:
    Future<Void> operation(std::string key);
    Future<Void> get(std::string key);
    Future<Void> put(std::string key);
    Future<Void> remove(std::string key);
    Future<Void> compareAndSet(std::string key);
    Future<Reply> ask(Request request);

    std::string newValue() { return format("%llu.%llu", (unsigned long long)id_, (unsigned long long)number_ + 1); }

    Workload& workload_;
    std::uint64_t& answered_;
    std::uint64_t id_;
    std::uint64_t number_ = 0;
    Optional<std::string> lastSeen_; // for compareAndSet to have a chance
};

class ConnectingClient final : public Client {
public:
    ConnectingClient(Cluster const& cluster, Workload& workload, std::uint64_t& answered, Mutex& connecting)
        : Client(workload, answered), cluster_(cluster), connecting_(connecting) {}

private:
    Future<Reply> askUntilDone(Request request) override;
    Future<Reply> askOnce(Request request);
    Future<Reference<net::Connection>> connect();

    Cluster const& cluster_;
    Mutex& connecting_; // one at a time in a process
    Optional<Peer> peer_;
};

class RpcClient final : public Client {
public:
    RpcClient(Cluster const& cluster, Workload& workload, std::uint64_t& answered)
        : Client(workload, answered), store_(cluster.at(Cluster::kRpcPort), id()) {}

private:
    Future<Reply> askUntilDone(Request request) override { return store_.ask(request); }
    bool maysGiveUp() const override { return true; }

    StoreClient store_;
};

Future<Void> Client::run() {
    while (!workload_.isOver) {
        std::string key(1, static_cast<char>('a' + deterministicRandom()->randomInt(0, Workload::kKeys)));
        Future<Void> asked = operation(key);
        if (maysGiveUp() && deterministicRandom()->randomInt(0, 5) == 0) {
            co_await delay(0.02 * deterministicRandom()->random01());
            FLOW_CODE_PROBE(!asked.isReady(), "a client gives up a request");
            if (!asked.isReady())
                continue; // drops the request: it may be executed or not
        }
        co_await std::move(asked);
        ++answered_;
        co_await delay(0.4 * deterministicRandom()->random01());
    }
}

Future<Void> Client::operation(std::string key) {
    int dice = deterministicRandom()->randomInt(0, 10);
    if (dice < 4)
        return get(key);
    if (dice < 7)
        return put(key);
    return dice < 8 ? remove(key) : compareAndSet(key);
}

Future<Void> Client::get(std::string key) {
    auto operation = workload_.history.invoke(static_cast<int>(id_), key, History::Get());
    Request request{.verb = Verb::Get, .key = key};
    Reply reply = co_await ask(request);
    lastSeen_ = reply.value;
    workload_.history.ok(operation, reply.value);
}

Future<Void> Client::put(std::string key) {
    Request request{.verb = Verb::Put, .key = key};
    request.value = newValue();
    auto operation = workload_.history.invoke(static_cast<int>(id_), key, History::Put{request.value.get()});
    co_await ask(request);
    workload_.history.ok(operation);
}

Future<Void> Client::remove(std::string key) {
    auto operation = workload_.history.invoke(static_cast<int>(id_), key, History::Remove());
    Request request{.verb = Verb::Remove, .key = key};
    co_await ask(request);
    workload_.history.ok(operation);
}

Future<Void> Client::compareAndSet(std::string key) {
    Request request{.verb = Verb::CompareAndSet, .key = key};
    request.expected = lastSeen_;
    request.value = newValue();
    auto operation =
        workload_.history.invoke(static_cast<int>(id_), key, History::CompareAndSet{request.expected, request.value});
    Reply reply = co_await ask(request);
    lastSeen_ = reply.succeeded ? request.value : reply.value;
    workload_.history.ok(operation, reply.succeeded);
}

Future<Reply> Client::ask(Request request) {
    request.client = id_;
    request.number = nextNumber();
    std::string name = nameOf(request);
    workload_.requests.sent(name);
    Reply reply = co_await askUntilDone(request);
    if (reply.done)
        workload_.requests.acknowledged(name);
    co_return reply;
}

Future<Reply> ConnectingClient::askUntilDone(Request request) {
    for (int attempts = 1;; ++attempts) {
        FLOW_CODE_PROBE(attempts > 10, "a request needs many attempts");
        ErrorOr<Reply> reply = co_await tryGet(askOnce(request));
        if (!reply.isError() && reply.get().done)
            co_return reply.get();
        FLOW_CODE_PROBE(reply.isError(), "a request gets no answer");
        bool keeps = planted::isOn("LateReply") && reply.isError() && reply.getError().code() == error_code_timed_out;
        if (!keeps)
            peer_ = Optional<Peer>();
        if (planted::isOn("ClientGivesUp") && reply.isError())
            co_return Reply();
        if (planted::isOn("DoubleSend"))
            request.number = nextNumber();
        co_await delay(0.1 * deterministicRandom()->random01());
    }
}

Future<Reply> ConnectingClient::askOnce(Request request) {
    if (!peer_.present()) {
        Reference<net::Connection> connection = co_await timeoutError(connect(), kPatience);
        peer_ = Peer{connection, Frames(connection)};
    }
    co_await timeoutError(peer_.get().frames.send(request), kPatience);
    Optional<Reply> reply = co_await timeoutError(peer_.get().frames.next<Reply>(), kPatience);
    if (!reply.present())
        throw connection_failed();
    co_return reply.get();
}

Future<Reference<net::Connection>> ConnectingClient::connect() {
    Mutex::Lock lock = co_await connecting_.lock();
    net::Address server = deterministicRandom()->randomChoice(cluster_.addresses);
    co_return co_await net::transport().connect(server.withPort(Cluster::kClientPort));
}

} // namespace

Future<Void> runClients(Way way, Cluster const& cluster, Workload& workload, std::string process) {
    Mutex connecting;
    std::uint64_t& answered = workload.answered[process];
    std::vector<std::unique_ptr<Client>> clients;
    std::vector<Future<Void>> running;
    for (int i = 0; i < 2; ++i) {
        if (way == Way::Rpc)
            clients.push_back(std::make_unique<RpcClient>(cluster, workload, answered));
        else
            clients.push_back(std::make_unique<ConnectingClient>(cluster, workload, answered, connecting));
    }
    for (auto& client : clients)
        running.push_back(client->run());
    co_await waitForAll(running);
}

std::string nameOf(Request const& request) {
    return format("%llu/%llu", (unsigned long long)request.client, (unsigned long long)request.number);
}

} // namespace kv
