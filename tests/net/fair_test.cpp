// One that sends as fast as it can keeps a loop from nothing else: so much is done between two turns of others.
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/standalone.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/poll/detail/uring_buffers.h"
#include "net/poll/network_poller.h"
#include "net/real/detail/real_socket.h"
#include "net/real/real_network.h"
#include "net/sim/sim_network.h"
#include "tests/net/ahead_transport.h"
#include "tests/net/transport_suite.h"
#include "tests/net/turns.h"

#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

constexpr std::size_t kLargest = Turns::kLargest;

Bytes manyBytes(int size) {
    Bytes bytes = makeString(size);
    for (int i = 0; i < size; ++i)
        mutateString(bytes)[i] = i % 100 == 99 ? '\n' : 'x';
    return bytes;
}

// ---------------------------------------------------------------------------------------------------------------------
// Servers that take what comes

using Take = Future<Void> (*)(Reference<Connection>, Turns*);

Future<Void> takeAny(Reference<Connection> from, Turns* turns) {
    while (!turns->isOver()) {
        Bytes bytes = co_await from->read();
        turns->note(static_cast<std::size_t>(bytes.size()));
    }
}
Future<Void> takeFew(Reference<Connection> from, Turns* turns) {
    while (!turns->isOver()) {
        Bytes bytes = co_await from->readExactly(100);
        turns->note(static_cast<std::size_t>(bytes.size()));
    }
}
Future<Void> takeLines(Reference<Connection> from, Turns* turns) {
    while (!turns->isOver()) {
        Bytes bytes = co_await from->readUntil("\n"_sr, 1000);
        turns->note(static_cast<std::size_t>(bytes.size()));
    }
}
Future<Void> takeRacing(Reference<Connection> from, Turns* turns) {
    auto place = std::make_unique<std::uint8_t[]>(kLargest);
    while (!turns->isOver()) {
        auto first = co_await race(from->readSome(std::span(place.get(), kLargest)), delay(60));
        turns->note(std::get<0>(first));
    }
}
/// With buffers of its own, as messages are read.
Future<Void> takeWhatThereIs(Reference<Connection> from, Turns* turns) {
    auto place = std::make_unique<std::uint8_t[]>(kLargest);
    while (!turns->isOver()) {
        std::optional<std::size_t> count = from->tryReadSome(std::span(place.get(), kLargest));
        if (count)
            turns->note(*count);
        else
            co_await from->readable();
    }
}
Future<Void> takeByHandler(Reference<Connection> from, Turns* turns) {
    struct Reader {
        void readOn() {
            from->asyncReadSome(std::span(place), [this](Error, std::size_t bytes) {
                turns->note(bytes);
                turns->isOver() ? end.send(Void()) : readOn();
            });
        }
        Reference<Connection> from;
        Turns* turns;
        Promise<Void> end;
        std::uint8_t place[4096];
    };
    auto reader = std::make_unique<Reader>(from, turns);
    reader->readOn();
    co_await reader->end.getFuture();
}

struct Server {
    char const* name;
    Take take;
};
Server const kServers[] = {{"reads what there is", takeAny},   {"reads few bytes", takeFew},
                           {"reads lines", takeLines},         {"reads in a race", takeRacing},
                           {"tries to read", takeWhatThereIs}, {"reads with a handler", takeByHandler}};

/// Serves so many clients.
Future<Void> serve(Reference<Listener> listener, int clients, Take take, Turns* turns) {
    std::vector<Future<Void>> serving;
    for (int i = 0; i < clients; ++i)
        serving.push_back(take(co_await listener->accept(), turns));
    co_await turns->watch();
    turns->check(clients);
    serving.clear();
}

// ---------------------------------------------------------------------------------------------------------------------
// Clients

Future<Void> flood(Address server) {
    Reference<Connection> connection = co_await transport().connect(server);
    Bytes bytes = manyBytes(64 * 1024);
    for (;;)
        co_await connection->write(bytes);
}

/// A thread that floods a real server, since a client on the same loop stops with it.
class Flooding {
public:
    Flooding(Address server, int clients) : thread_([this, server, clients] { run(server, clients); }) {}
    Flooding(Flooding const&) = delete;
    Flooding& operator=(Flooding const&) = delete;
    ~Flooding() {
        ends_ = true;
        thread_.join();
    }

private:
    void run(Address server, int clients) {
        sockaddr_storage to;
        unsigned size = server.toSystem(to);
        std::vector<OpenDescriptor> sockets;
        for (int i = 0; i < clients; ++i) {
            sockets.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
            if (::connect(sockets.back().get(), reinterpret_cast<sockaddr*>(&to), size) != 0)
                return;
        }
        Bytes bytes = manyBytes(64 * 1024);
        while (!ends_)
            for (OpenDescriptor const& each : sockets)
                ::send(each.get(), bytes.begin(), static_cast<std::size_t>(bytes.size()), MSG_NOSIGNAL | MSG_DONTWAIT);
    }

    std::atomic<bool> ends_{false};
    std::thread thread_;
};

void onSimulatedNetwork(Future<Void> (*test)()) {
    World world(1);
    SimNetwork network(world, {.latency = 0.0001, .jitter = 0, .bandwidth = 1e12});
    Process& process = world.start({.name = "p", .main = test});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
}

/// With each poller: test() gets the loop's network.
template <class Test>
void onRealNetworks(Test test) {
    for (char const* poller : {"epoll", "uring"}) {
        if (std::string(poller) == "uring" && !hasUring())
            continue;
        CAPTURE(std::string(poller));
        ChosenPoller chosen(poller);
        RealLoop loop;
        RealNetwork network(loop);
        test(loop);
    }
}

TEST_CASE("fair: real clients that flood a server") {
    for (Server const& server : kServers)
        for (int clients : {1, 50}) {
            CAPTURE(server.name);
            CAPTURE(clients);
            onRealNetworks([&](RealLoop& loop) {
                Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
                Flooding flooding(listener->localAddress(), clients);
                Turns turns;
                loop.run(serve(listener, clients, server.take, &turns));
            });
        }
    if (!canReceiveAhead())
        return;
    ChosenPoller chosen("uring");
    RealLoop loop;
    RealNetwork network(loop);
    AheadTransport ahead;
    Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
    Flooding flooding(listener->localAddress(), 50);
    // A turn may find all buffers of the kernel full, and as many bytes that were copied from them before.
    Turns turns(2 * UringBuffers::kCount * UringBuffers::kBytes);
    loop.run(serve(listener, 50, takeAny, &turns));
}

template <int kServer, int kClients>
Future<Void> floodHere() {
    Reference<Listener> listener = transport().listen(transport().localAddress());
    std::vector<Future<Void>> flooding;
    for (int i = 0; i < kClients; ++i)
        flooding.push_back(flood(listener->localAddress()));
    Turns turns;
    co_await serve(listener, kClients, kServers[kServer].take, &turns);
}

TEST_CASE("fair: simulated clients that flood a server") {
    Future<Void> (*const all[])() = {floodHere<0, 1>, floodHere<0, 50>, floodHere<1, 1>, floodHere<1, 50>,
                                     floodHere<2, 1>, floodHere<2, 50>, floodHere<3, 1>, floodHere<3, 50>,
                                     floodHere<4, 1>, floodHere<4, 50>, floodHere<5, 1>, floodHere<5, 50>};
    for (auto* each : all)
        onSimulatedNetwork(each);
}

TEST_CASE("fair: a read of many bytes does not receive all of them in one turn") {
    onRealNetworks([](RealLoop& loop) {
        auto test = []() -> Future<Void> {
            constexpr std::uint32_t kMany = 32 << 20;
            Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
            Flooding flooding(listener->localAddress(), 1);
            Reference<Connection> server = co_await listener->accept();
            std::size_t before = 0, most = 0;
            Future<Bytes> reading = keep(server->readExactly(kMany));
            while (!reading.isReady()) {
                co_await delay(0);
                most = std::max(most, server->bufferedBytes() - std::min(before, server->bufferedBytes()));
                before = server->bufferedBytes();
            }
            CHECK(reading.get().size() == kMany);
            CHECK(most <= Turns::kMostBytes + kLargest);
        };
        loop.run(test());
    });
}

TEST_CASE("fair: another client is answered, and a timer fires, within a few turns of a loop that is flooded") {
    onRealNetworks([](RealLoop& loop) {
        auto test = []() -> Future<Void> {
            Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
            Flooding flooding(listener->localAddress(), 5);
            Turns turns;
            std::vector<Future<Void>> serving;
            for (int i = 0; i < 5; ++i)
                serving.push_back(takeAny(co_await listener->accept(), &turns));
            Future<Reference<Connection>> connecting = transport().connect(listener->localAddress());
            serving.push_back(echoOnce(co_await listener->accept()));
            Reference<Connection> client = co_await connecting;
            for (int i = 0; i < 20; ++i) {
                std::size_t before = turns.count();
                co_await askTimes(client, 1);
                CHECK(turns.count() - before <= 30); // the question, the answer, and all others in between
            }
        };
        loop.run(test());
    });
}

/// Many clients of one thread, each of which asks again as soon as it has its answer.
class Asking {
public:
    Asking(Address server, int clients) : thread_([this, server, clients] { run(server, clients); }) {}
    Asking(Asking const&) = delete;
    Asking& operator=(Asking const&) = delete;
    ~Asking() {
        ends_ = true;
        thread_.join();
    }

private:
    void run(Address server, int clients) {
        sockaddr_storage to;
        unsigned size = server.toSystem(to);
        std::vector<OpenDescriptor> sockets;
        std::vector<pollfd> polled;
        for (int i = 0; i < clients; ++i) {
            sockets.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
            int each = sockets.back().get();
            if (::connect(each, reinterpret_cast<sockaddr*>(&to), size) != 0)
                return;
            polled.push_back({each, POLLIN, 0});
            ::send(each, "?", 1, MSG_NOSIGNAL);
        }
        while (!ends_) {
            ::poll(polled.data(), polled.size(), 10);
            for (pollfd const& each : polled) {
                char answer[16];
                if (each.revents != 0 && ::recv(each.fd, answer, sizeof answer, MSG_DONTWAIT) > 0)
                    ::send(each.fd, "?", 1, MSG_NOSIGNAL);
            }
        }
    }

    std::atomic<bool> ends_{false};
    std::thread thread_;
};

Future<Void> answerAll(Reference<Connection> from, Turns* turns) {
    while (!turns->isOver()) {
        Bytes bytes = co_await from->read();
        turns->note(static_cast<std::size_t>(bytes.size()));
        for (double begin = machineTime(); machineTime() < begin + 20e-6;) { // so that more questions come meanwhile
        }
        co_await from->write(bytes);
    }
}

TEST_CASE("fair: more clients that ask, each once at a time, than a turn has tasks") {
    onRealNetworks([](RealLoop& loop) {
        constexpr int kClients = 150;
        ListenOptions options;
        options.backlog = kClients;
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0), options);
        Asking asking(listener->localAddress(), kClients);
        Turns turns;
        loop.run(serve(listener, kClients, answerAll, &turns));
    });
}

TEST_CASE("fair: accepting many connections") {
    onRealNetworks([](RealLoop& loop) {
        constexpr std::size_t kCount = Turns::kMostOperations + 50;
        ListenOptions options;
        options.backlog = kCount;
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0), options);
        sockaddr_storage to;
        unsigned size = listener->localAddress().toSystem(to);
        std::vector<OpenDescriptor> clients;
        for (std::size_t i = 0; i < kCount; ++i) {
            clients.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
            REQUIRE(::connect(clients.back().get(), reinterpret_cast<sockaddr*>(&to), size) == 0);
        }
        Turns turns;
        auto acceptAll = [](Listener* from, Turns* all) -> Future<Void> {
            std::vector<Reference<Connection>> accepted;
            while (accepted.size() < kCount) {
                accepted.push_back(co_await from->accept());
                all->note(0);
            }
        };
        loop.run(acceptAll(listener.getPtr(), &turns));
        loop.run(delay(0));
        CHECK(turns.areSeveral());
    });
}

Future<Void> writeMuch(Reference<Connection> connection, Turns* turns) {
    Bytes bytes = manyBytes(1);
    while (!turns->isOver()) {
        co_await connection->write(bytes);
        turns->note(1);
    }
}
Future<Void> writesOfFewBytes() {
    Pair pair = co_await makePair();
    Turns turns, others;
    Future<Void> reading = takeAny(pair.server, &others);
    Future<Void> writing = writeMuch(pair.client, &turns);
    co_await turns.watch();
    turns.check(1);
}

TEST_CASE("fair: writing few bytes at a time") {
    onRealNetworks([](RealLoop& loop) { loop.run(writesOfFewBytes()); });
    onSimulatedNetwork(writesOfFewBytes);
}

Future<Void> receiveDatagrams(Reference<DatagramSocket> socket, Turns* turns) {
    while (!turns->isOver()) {
        Datagram datagram = co_await socket->receive();
        turns->note(static_cast<std::size_t>(datagram.bytes.size()));
    }
}
Future<Void> sendDatagrams(Reference<DatagramSocket> socket, Address to) {
    Bytes bytes = manyBytes(100);
    for (int i = 1;; ++i) {
        co_await socket->send(to, bytes);
        if (i % 500 == 0)
            co_await delay(0.0001); // in a simulation time has to pass
    }
}
Future<Void> floodOfDatagrams() {
    Reference<DatagramSocket> server = transport().bind(transport().localAddress());
    Reference<DatagramSocket> client = transport().bind(transport().localAddress());
    Turns turns;
    Future<Void> receiving = receiveDatagrams(server, &turns);
    Future<Void> sending = sendDatagrams(client, server->localAddress());
    co_await turns.watch();
    turns.check(1);
}

TEST_CASE("fair: datagrams") {
    onRealNetworks([](RealLoop& loop) { loop.run(floodOfDatagrams()); });
    onSimulatedNetwork(floodOfDatagrams);
}

/// There are two that take; one comes back at once. Gives how often that one was served while the other waited.
template <class TakeOne>
Future<int> roundsUntilServed(TakeOne takeOne) {
    int rounds = 0, seen = -1;
    auto comeBack = [](TakeOne* take, int* count, int const* end) -> Future<Void> {
        while (*end < 0 && *count < 1000) {
            co_await (*take)();
            ++*count;
        }
    };
    auto comeOnce = [](TakeOne* take, int const* count, int* end) -> Future<Void> {
        int before = *count;
        co_await (*take)();
        *end = *count - before;
    };
    Future<Void> greedy = comeBack(&takeOne, &rounds, &seen);
    while (rounds < 3)
        co_await delay(0.001);
    co_await comeOnce(&takeOne, &rounds, &seen);
    co_return seen;
}

Future<Void> sendSteadily(Reference<Connection> to) {
    for (;;) {
        co_await to->write("x"_sr);
        co_await delay(0.001);
    }
}
Future<Void> connectSteadily(Address to) {
    for (;;) {
        (void)co_await transport().connect(to);
        co_await delay(0.001);
    }
}
Future<Void> twoThatWait() {
    Pair pair = co_await makePair();
    Future<Void> sending = sendSteadily(pair.client);
    int rounds = co_await roundsUntilServed([&] { return keep(pair.server->readExactly(1)); });
    CHECK(rounds <= 2);
    Future<Void> connecting = connectSteadily(pair.listener->localAddress());
    rounds = co_await roundsUntilServed([&] { return keep(pair.listener->accept()); });
    CHECK(rounds <= 2);
    Reference<DatagramSocket> socket = transport().bind(transport().localAddress());
    auto send = [](Reference<DatagramSocket> from) -> Future<Void> {
        for (;;) {
            co_await from->send(from->localAddress(), "x"_sr);
            co_await delay(0.001);
        }
    };
    Future<Void> datagrams = send(socket);
    rounds = co_await roundsUntilServed([&] { return keep(socket->receive()); });
    CHECK(rounds <= 2);
}

TEST_CASE("fair: of several that wait at a socket, each is served in its turn") {
    onRealNetworks([](RealLoop& loop) { loop.run(twoThatWait()); });
    onSimulatedNetwork(twoThatWait);
}

} // namespace
