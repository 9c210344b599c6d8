// "messages": a server and three clients with sockets of all patterns, while the network does whatever the seed gives
// it, and then in peace. What must hold: no message comes twice or before an older one of its sender's, replies are
// those to what was asked, and what was sent on a connection that still lives has arrived in the end.
#include "flow/base/format.h"
#include "flow/combine/errors.h"
#include "flow/combine/race.h"
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/simulation.h"
#include "flow/sim/world.h"
#include "flow/trace/code_probe.h"
#include "flow/wait/delay.h"
#include "net/message/message_socket.h"
#include "net/sim/sim_network.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace flow;
using namespace flow::net;

namespace {

constexpr double kUnrest = 30, kPeace = 40; // seconds; the connections that a fault has broken come back within a few
constexpr int kClients = 3;
constexpr int kMostWaits = 20; // of kPeace, until a slow server has taken all

MessageOptions options(std::string name = {}) {
    MessageOptions options;
    options.routingId = std::move(name);
    options.reconnectIvlMax = 1;
    options.handshakeIvl = 5;
    options.heartbeatIvl = 1; // half-open connections are found by these
    options.heartbeatTimeout = 3;
    options.sndHwm = 50;
    options.rcvHwm = 20;
    options.routerHandover = true;
    return options;
}

/// What a client has sent with one socket, and on which of its connections: how many had ended before.
struct Sent {
    std::vector<std::uint64_t> connection; // by number
};

/// The numbers that one receiver has got from one sender.
class Seen {
public:
    /// What is wrong, if something is. A message may come behind later ones if its connection has ended since.
    std::string take(std::string_view text, Sent const* sent = nullptr, std::uint64_t ends = 0) {
        int number = std::stoi(std::string(text));
        auto place = std::lower_bound(numbers_.begin(), numbers_.end(), number);
        if (place != numbers_.end() && *place == number)
            return format("%d comes twice", number);
        auto index = static_cast<std::size_t>(number);
        bool mayBeLate = sent && index < sent->connection.size() && sent->connection[index] < ends;
        std::string wrong =
            place == numbers_.end() || mayBeLate ? "" : format("%d comes behind %d", number, numbers_.back());
        numbers_.insert(place, number);
        return wrong;
    }
    bool has(int number) const { return std::binary_search(numbers_.begin(), numbers_.end(), number); }
    std::size_t count() const { return numbers_.size(); }

private:
    std::vector<int> numbers_; // sorted
};

/// What one client does and gets.
struct Client {
    std::string name;
    Sent pushed, dealt;
    Seen pulled, routed, dealtBack, published;
    int answers = 0;
    std::uint64_t pushEnds = 0, dealEnds = 0; // connections that have ended, in the end
};

struct Run {
    World& world;
    std::string server; // its address
    Client clients[kClients];
    bool isOver = false;

    void check(std::string const& where, std::string const& wrong) {
        if (!wrong.empty())
            world.fail(where + ": " + wrong);
    }
    std::string endpoint(int port) const { return format("tcp://%s:%d", server.c_str(), port); }
};

Future<Void> pull(Run& run) {
    MessageSocket pull(SocketType::Pull, options());
    pull.bind("tcp://*:5001");
    for (;;) {
        Message message = co_await pull.receive();
        Client& client = run.clients[message[0][0] - '0'];
        run.check("PULL from " + client.name, client.pulled.take(message[1], &client.pushed, client.pushEnds));
        if (deterministicRandom()->random01() < 0.002)
            co_await delay(5 * deterministicRandom()->random01()); // a receiver that stalls
    }
}

Future<Void> route(Run& run) {
    MessageSocket router(SocketType::Router, options());
    router.bind("tcp://*:5002");
    for (;;) {
        Message message = co_await router.receive();
        Client& client = run.clients[message[0][0] - '0'];
        if (message.routingId() != client.name)
            run.world.fail("ROUTER: a message of " + client.name + " with another id");
        run.check("ROUTER from " + client.name, client.routed.take(message[1]));
        co_await router.send(message);
    }
}

Future<Void> reply() {
    MessageSocket rep(SocketType::Rep, options());
    rep.bind("tcp://*:5003");
    for (;;) {
        Message question = co_await rep.receive();
        co_await rep.send(question);
    }
}

Future<Void> publish() {
    MessageSocket pub(SocketType::Pub, options());
    pub.bind("tcp://*:5004");
    for (int number = 0;; ++number) {
        Message message(number % 2 == 0 ? "a" : "b");
        message.add(std::to_string(number));
        co_await pub.send(message);
        co_await delay(0.05);
    }
}

Future<Void> serve(Run& run) {
    std::vector<Future<Void>> all;
    all.push_back(pull(run));
    all.push_back(route(run));
    all.push_back(reply());
    all.push_back(publish());
    co_await waitForAll(all);
}

Future<Void> push(Run& run, Client& client) {
    MessageSocket push(SocketType::Push, options());
    push.connect(run.endpoint(5001));
    for (int number = 0; !run.isOver; ++number) {
        Message message(client.name);
        message.add(std::to_string(number)).add(std::string(static_cast<std::size_t>(number % 300), 'x'));
        co_await push.send(message);
        client.pushed.connection.push_back(push.counters().disconnected);
        client.pushEnds = push.counters().disconnected;
        co_await delay(0.05 * deterministicRandom()->random01());
    }
    for (;;) {
        client.pushEnds = push.counters().disconnected;
        co_await delay(0.1);
    }
}

Future<Void> getBack(Run& run, Client& client, MessageSocket& dealer) {
    for (;;) {
        Message message = co_await dealer.receive();
        if (message[0] != client.name)
            run.world.fail("DEALER: " + client.name + " gets what another one has sent");
        run.check("DEALER of " + client.name, client.dealtBack.take(message[1]));
    }
}

Future<Void> deal(Run& run, Client& client) {
    MessageSocket dealer(SocketType::Dealer, options(client.name));
    dealer.connect(run.endpoint(5002));
    Future<Void> back = getBack(run, client, dealer);
    for (int number = 0; !run.isOver; ++number) {
        Message message(client.name);
        message.add(std::to_string(number));
        co_await dealer.send(message);
        client.dealt.connection.push_back(dealer.counters().disconnected);
        co_await delay(0.05 * deterministicRandom()->random01());
    }
    for (;;) {
        client.dealEnds = dealer.counters().disconnected;
        co_await delay(0.1);
    }
}

Future<Void> ask(Run& run, Client& client) {
    for (int number = 0;;) { // as "lazy pirate" does: a socket without an answer is replaced
        MessageSocket req(SocketType::Req, options());
        req.connect(run.endpoint(5003));
        for (bool isAnswered = true; isAnswered; ++number) {
            std::string question = client.name + std::to_string(number);
            auto sent = co_await race(req.send(question), delay(10));
            if (sent.index() == 1)
                break;
            auto answer = co_await race(errorOr(keep(req.receive())), delay(10));
            isAnswered = answer.index() == 0 && !std::get<0>(answer).isError();
            if (isAnswered && std::get<0>(answer).get()[0] != question)
                run.world.fail("REQ: " + client.name + " gets the answer to something else");
            client.answers += isAnswered;
            co_await delay(0.1 * deterministicRandom()->random01());
        }
    }
}

Future<Void> follow(Run& run, Client& client) {
    MessageSocket sub(SocketType::Sub, options());
    sub.subscribe("a");
    sub.connect(run.endpoint(5004));
    for (;;) {
        Message message = co_await sub.receive();
        if (message[0] != "a")
            run.world.fail("SUB: a topic that was not asked for");
        run.check("SUB of " + client.name, client.published.take(message[1]));
    }
}

Future<Void> work(Run& run, Client& client) {
    std::vector<Future<Void>> all;
    all.push_back(push(run, client));
    all.push_back(deal(run, client));
    all.push_back(ask(run, client));
    all.push_back(follow(run, client));
    co_await waitForAll(all);
}

/// Those of the network, and that processes are slow. A process that ends takes its sockets with it.
Faults ofNetwork(Faults const& all) {
    Faults some;
    some.processPause = all.processPause;
    some.processSlow = all.processSlow;
    some.partitionOneWay = all.partitionOneWay;
    some.partitionTwoWay = all.partitionTwoWay;
    some.clog = all.clog;
    some.latencySpike = all.latencySpike;
    some.slowLink = all.slowLink;
    some.connectionRefused = all.connectionRefused;
    some.connectionHalfOpen = all.connectionHalfOpen;
    some.connectionReset = all.connectionReset;
    some.shortRead = all.shortRead;
    some.mergedRead = all.mergedRead;
    return some;
}

/// What is not there: how many, and the first that was sent on the connection that lives in the end.
struct Missing {
    std::size_t count = 0;
    std::optional<std::size_t> living;
};
Missing missing(Sent const& sent, Seen const& seen, std::uint64_t ends) {
    Missing found;
    for (std::size_t number = 0; number < sent.connection.size(); ++number) {
        if (seen.has(static_cast<int>(number)))
            continue;
        ++found.count;
        if (!found.living && sent.connection[number] == ends)
            found.living = number;
    }
    return found;
}

void checkLoss(World& world, std::string const& where, Sent const& sent, Seen const& seen, std::uint64_t ends) {
    Missing found = missing(sent, seen, ends);
    if (found.living)
        world.fail(
            format("%s: %zu was sent on a connection that lives, and is not there", where.c_str(), *found.living));
    FLOW_CODE_PROBE(found.count != 0, "messages went with their connection");
    if (seen.count() == 0)
        world.fail(where + ": nothing has arrived, in all of the peace");
}

Future<Void> messages(World& world) {
    world.setFaults(ofNetwork(world.faults()));
    SimNetwork network(world);
    Run run{world, {}, {}, false};
    Process& server = world.add({.name = "server", .main = [&run] { return serve(run); }});
    run.server = Address(server.address(), 0).toString();
    run.server.resize(run.server.find(':'));
    world.start(server);
    for (int i = 0; i < kClients; ++i) {
        Client& client = run.clients[i];
        client.name = std::to_string(i);
        world.start({.name = "client" + client.name, .main = [&run, &client] { return work(run, client); }});
    }
    co_await delay(kUnrest);
    world.disableFaults();
    network.heal();
    co_await delay(kPeace / 2);
    run.isOver = true;
    int before = 0;
    for (Client const& client : run.clients)
        before += client.answers;
    co_await delay(kPeace / 2);
    // The server may stay slow. Then it needs longer to read what has arrived.
    auto isTaken = [&run] {
        return std::all_of(std::begin(run.clients), std::end(run.clients), [](Client const& client) {
            return !missing(client.pushed, client.pulled, client.pushEnds).living &&
                   !missing(client.dealt, client.routed, client.dealEnds).living;
        });
    };
    for (int i = 0; i < kMostWaits && !isTaken(); ++i)
        co_await delay(kPeace);
    for (Client const& client : run.clients) {
        checkLoss(world, "PUSH of " + client.name, client.pushed, client.pulled, client.pushEnds);
        checkLoss(world, "DEALER of " + client.name, client.dealt, client.routed, client.dealEnds);
        if (client.published.count() == 0)
            world.fail("SUB of " + client.name + ": nothing has come");
        before -= client.answers;
    }
    if (before >= 0)
        world.fail("REQ: no answers in peace");
    world.stopAll(); // their mains refer to what is here
}

Simulation const kMessages("messages", messages);

} // namespace
