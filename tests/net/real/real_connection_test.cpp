#include "net/real/detail/real_connection.h"

#include "flow/combine/all.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/standalone.h"
#include "flow/wait/delay.h"
#include "flow/wait/handler_slot.h"
#include "net/transport.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <asm-generic/socket.h>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <iterator>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <span>
#include <string>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

TEST_CASE("real connection: Unix sockets, by path and by abstract name, and IPv6") {
    std::string path = "/tmp/millrace-test-" + std::to_string(::getpid());
    Address addresses[] = {Address::unixPath(path),
                           Address::unixAbstract("millrace-test-" + std::to_string(::getpid())),
                           *Address::parse("[::1]:0")};
    for (Address const& at : addresses) {
        INFO(at.toString());
        RealLoop loop;
        auto test = [](Address at) -> Future<Void> {
            Pair pair = co_await makePairAt(at);
            co_await pair.client->write("over"_sr);
            Bytes got = co_await pair.server->readExactly(4);
            CHECK(got == "over"_sr);
            CHECK(pair.client->peerAddress() == pair.listener->localAddress());
        };
        loop.run(test(at));
    }
    CHECK(::access(path.c_str(), F_OK) != 0);
}

TEST_CASE("real connection: streaming makes no call in vain, with Reactive and Adaptive") {
    for (ReadStrategy strategy : {ReadStrategy::Reactive, ReadStrategy::Adaptive, ReadStrategy::Speculative}) {
        RealLoop loop;
        RealNetwork network(loop);
        auto test = [](ReadStrategy strategy) -> Future<Void> {
            ListenOptions options;
            options.readStrategy = strategy;
            Reference<Listener> listener = transport().listen(Address(0x7F000001, 0), options);
            Future<Reference<Connection>> connecting = transport().connect(listener->localAddress());
            Reference<Connection> server = co_await listener->accept();
            Reference<Connection> client = co_await connecting;
            Future<Void> serving = echoOnce(server);
            co_await askTimes(client, 100);
            SocketCounters counters = server->counters();
            CHECK(counters.bytesRead == 400);
            CHECK(counters.bytesWritten == 400);
            CHECK(counters.blockedWrites == 0);
            if (strategy == ReadStrategy::Speculative)
                CHECK(counters.emptyReads >= 90);
            else
                CHECK(counters.emptyReads <= 1); // the first read
        };
        loop.run(test(strategy));
        CHECK(network.counters().sockets.bytesRead == 800);
        CHECK(network.counters().systemCalls() > 400);
    }
}

TEST_CASE("real connection: one that is closed with much to send sends it, also without a reference") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Pair pair = co_await makePairAt(Address(0x7F000001, 0));
        Bytes much = makeString(8 << 20);
        std::memset(mutateString(much), 'x', 8 << 20);
        (void)pair.client->write(much);
        CHECK(pair.client->queuedBytes() > 0);
        pair.client.clear();
        std::string all = co_await readAll(pair.server);
        CHECK(all.size() == std::size_t{8 << 20});
    };
    loop.run(test());
}

TEST_CASE("real connection: one that is closed with much to send is reset when the other side does not read in time") {
    RealLoop loop;
    RealConnection::linger = 0.02;
    auto test = []() -> Future<Void> {
        Pair pair = co_await makePairAt(Address(0x7F000001, 0));
        Bytes much = makeString(8 << 20);
        std::memset(mutateString(much), 'x', 8 << 20);
        (void)pair.client->write(much);
        pair.client->close();
        co_await delay(0.1); // a later timer of the same loop
        std::size_t got = 0;
        Error error;
        while (!error.isValid()) {
            ErrorOr<Bytes> some = co_await tryGet(keep(pair.server->read()));
            error = some.isError() ? some.getError() : some.get().empty() ? end_of_stream() : Error();
            got += some.isError() ? 0 : static_cast<std::size_t>(some.get().size());
        }
        CHECK(error == connection_reset());
        CHECK(got < std::size_t{8 << 20});
    };
    loop.run(test());
    RealConnection::linger = Connection::kLinger;
}

TEST_CASE("real connection: the end of the loop is no clean end of a connection with bytes to send") {
    for (bool isClosed : {false, true}) {
        INFO("closed before ", isClosed);
        int listener = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_storage at;
        socklen_t size = Address(0x7F000001, 0).toSystem(at);
        REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&at), size) == 0);
        REQUIRE(::listen(listener, 1) == 0);
        REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) == 0);
        Address address = *Address::fromSystem(reinterpret_cast<sockaddr*>(&at), size);
        {
            RealLoop loop;
            Reference<Connection> client = loop.run(transport().connect(address));
            Bytes much = makeString(8 << 20);
            std::memset(mutateString(much), 'x', 8 << 20);
            (void)client->write(much);
            Future<Void> settled = transport().settled();
            CHECK(settled.isReady()); // it is open
            if (isClosed) {
                client->close();
                settled = transport().settled();
                CHECK_FALSE(settled.isReady());
            }
        }
        int server = ::accept(listener, nullptr, nullptr);
        char buffer[65536];
        ssize_t count;
        while ((count = ::read(server, buffer, sizeof buffer)) > 0) {
        }
        CHECK(count == -1);
        CHECK(errno == ECONNRESET);
        ::close(server);
        ::close(listener);
    }
}

TEST_CASE("real connection: a writer waits at the high water mark and resumes at the low one") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Pair pair = co_await makePairAt(Address(0x7F000001, 0));
        pair.client->setWaterMarks(10'000, 100'000);
        Bytes piece = makeString(50'000);
        std::memset(mutateString(piece), 'x', 50'000);
        std::size_t written = 0;
        for (;;) { // no reader
            Drain drain = pair.client->write(piece);
            written += 50'000;
            if (!drain.isReady())
                break;
        }
        CHECK(pair.client->queuedBytes() > 100'000);
        CHECK(pair.client->queuedBytes() <= 150'000);
        Future<Void> room = pair.client->write("!"_sr);
        Future<std::string> reading = readAtLeast(pair.server, written + 1);
        co_await room;
        CHECK(pair.client->queuedBytes() <= 10'000);
        std::string all = co_await reading;
        CHECK(all.size() == written + 1);
    };
    loop.run(test());
}

TEST_CASE("real connection: ten thousand bytes one at a time, and a hundred connections at once") {
    RealLoop loop;
    auto slow = []() -> Future<Void> {
        Pair pair = co_await makePairAt(Address(0x7F000001, 0));
        Future<Bytes> all = keep(pair.server->readExactly(10'000));
        for (int i = 0; i < 10'000; ++i)
            co_await pair.client->write("x"_sr);
        Bytes got = co_await all;
        CHECK(got.size() == 10'000);
    };
    std::vector<Future<Void>> all;
    std::vector<Pair> pairs;
    for (int i = 0; i < 100; ++i) {
        pairs.push_back(loop.run(makePairAt(Address(0x7F000001, 0))));
        all.push_back(echoOnce(pairs.back().server));
        all.push_back(askTimes(pairs.back().client, 20));
    }
    loop.run(slow());
    for (int i = 0; i < 100; ++i)
        loop.run(all[2 * i + 1]);
}

namespace {

int optionOf(Reference<Connection> const& connection, int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    ::getsockopt(dynamic_cast<RealConnection&>(*connection.getPtr()).descriptor(), level, name, &value, &size);
    return value;
}

} // namespace

TEST_CASE("real connection: the options of a connect and of a listener's connections") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        ListenOptions plain;
        plain.noDelay = false;
        plain.sendBuffer = 40'000;
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0), plain);
        ConnectOptions wanted;
        wanted.keepAlive = true;
        wanted.receiveBuffer = 30'000;
        Reference<Connection> client = co_await transport().connect(listener->localAddress(), wanted);
        Reference<Connection> server = co_await listener->accept();
        CHECK(optionOf(client, IPPROTO_TCP, TCP_NODELAY) != 0);
        CHECK(optionOf(client, SOL_SOCKET, SO_KEEPALIVE) != 0);
        CHECK(optionOf(client, SOL_SOCKET, SO_RCVBUF) == 60'000); // the kernel doubles it
        CHECK(optionOf(server, IPPROTO_TCP, TCP_NODELAY) == 0);
        CHECK(optionOf(server, SOL_SOCKET, SO_KEEPALIVE) == 0);
        CHECK(optionOf(server, SOL_SOCKET, SO_SNDBUF) == 80'000); // inherited
    };
    loop.run(test());
}

namespace {

/// An echo server and its client, with handlers.
struct Peer {
    Reference<Connection> connection;
    bool isServer;
    int left; // round trips
    Promise<Void> done;
    char buffer[64];

    void read() {
        connection->asyncReadSome(buffer, [this](Error error, std::size_t bytes) {
            if (error.isValid() || bytes == 0)
                return done.send(Void());
            if (isServer)
                return write(bytes);
            if (--left == 0)
                return connection->close(), done.send(Void());
            write(4);
        });
    }
    void write(std::size_t bytes) {
        connection->asyncWrite(StringRef(reinterpret_cast<std::uint8_t*>(buffer), static_cast<int>(bytes)),
                               [this](Error error) {
                                   CHECK(!error.isValid());
                                   read();
                               });
    }
};

} // namespace

TEST_CASE("real connection: in callback style") {
    RealLoop loop;
    Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
    Peer server{{}, true, 0, {}, {}}, client{{}, false, 100, {}, "ask"};
    listener->asyncAccept([&server](Error error, Reference<Connection> connection) {
        CHECK(!error.isValid());
        server.connection = std::move(connection);
        server.read();
    });
    client.connection = loop.run(transport().connect(listener->localAddress()));
    client.write(4);
    loop.run(client.done.getFuture() && server.done.getFuture());
    CHECK(client.left == 0);
    CHECK(server.connection->counters().bytesRead == 400);
}

TEST_CASE("real connection: writes, and reads into one's own memory, allocate nothing once the first are done") {
    RealLoop loop;
    std::uint64_t before = 0;
    auto test = [&]() -> Future<Void> {
        Pair pair = co_await makePairAt(Address(0x7F000001, 0));
        Bytes const message = "some bytes"_sr;
        char buffer[64];
        for (int i = 0; i < 200; ++i) {
            if (i == 100)
                before = memory::totalStatistics().allocated;
            co_await pair.client->write(message);
            std::size_t count = co_await pair.server->readSome(buffer);
            CHECK(count == 10);
        }
        before = memory::totalStatistics().allocated - before;
    };
    loop.run(test());
    CHECK(before == 0);
}

// Operations without a function of their own for handlers.
TEST_CASE("real connection: any operation in callback style") {
    RealLoop loop;
    struct Asker {
        Pair pair;
        Reference<DatagramSocket> socket;
        HandlerSlot line, datagram;
        Promise<Void> hasLine, hasDatagram;
    } asker{loop.run(makePairAt(Address(0x7F000001, 0))), transport().bind(Address(0x7F000001, 0)), {}, {}, {}, {}};
    call(asker.pair.server->readUntil("\r\n"_sr, 100), asker.line, [&asker](Error error, Bytes line) {
        CHECK(!error.isValid());
        CHECK(line == "one\r\n"_sr);
        asker.hasLine.send(Void());
    });
    call(asker.socket->receive(), asker.datagram, [&asker](Error error, Datagram datagram) {
        CHECK(!error.isValid());
        CHECK(datagram.bytes == "two"_sr);
        asker.hasDatagram.send(Void());
    });
    (void)asker.pair.client->write("one\r\nthree"_sr);
    (void)asker.socket->send(asker.socket->localAddress(), "two"_sr);
    loop.run(asker.hasLine.getFuture() && asker.hasDatagram.getFuture());
    CHECK(asker.pair.server->bufferedBytes() == 5);
}

TEST_CASE("real connection: a read into several buffers is one system call") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Pair pair = co_await makePairAt(Address(0x7F000001, 0));
        co_await pair.client->write(StringRef(std::string(100, 'x')));
        co_await pair.server->readable();
        std::uint8_t bytes[100]; // more buffers than one call may have
        std::vector<std::span<std::uint8_t>> buffers(1);
        for (std::uint8_t& each : bytes)
            buffers.emplace_back(&each, 1);
        std::uint64_t calls = pair.server->counters().reads;
        std::size_t first = pair.server->tryReadSome(buffers).value_or(0);
        CHECK(pair.server->counters().reads == calls + 1);
        CHECK(first == 64);
        std::size_t rest = pair.server->tryReadSome(std::span(buffers).subspan(65)).value_or(0);
        CHECK(rest == 36);
        CHECK(std::count(std::begin(bytes), std::end(bytes), 'x') == 100);
        CHECK_FALSE(pair.server->tryReadSome(buffers).has_value());
    };
    loop.run(test());
}

namespace {

/// A link-local address of this machine, with its scope; nothing if no interface that is up has one.
std::optional<Address> linkLocal() {
    std::optional<Address> found;
    ifaddrs* list = nullptr;
    REQUIRE(::getifaddrs(&list) == 0);
    for (ifaddrs* each = list; each && !found; each = each->ifa_next) {
        if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET6 || !(each->ifa_flags & IFF_UP))
            continue;
        Address address = *Address::fromSystem(each->ifa_addr, sizeof(sockaddr_in6));
        if (address.bytes()[0] == 0xFE && (address.bytes()[1] & 0xC0) == 0x80)
            found = *Address::parse('[' + Address(address.bytes(), 0).hostToString() + '%' + each->ifa_name + "]:0");
    }
    ::freeifaddrs(list);
    return found;
}

} // namespace

TEST_CASE("real connection: a link-local address is reached through its interface") {
    std::optional<Address> at = linkLocal();
    if (!at) {
        MESSAGE("this machine has no link-local address: [::1%lo] is used in its place");
        at = Address::parse("[::1%lo]:0").get();
    }
    RealLoop loop;
    auto test = [](Address at) -> Future<Void> {
        CHECK(at.scope() != 0);
        Pair pair = co_await makePairAt(at);
        Address here = pair.listener->localAddress();
        CHECK(*Address::parse(here.toString()) == here);
        CHECK(here.bytes() == at.bytes());
        co_await pair.client->write("over"_sr);
        Bytes got = co_await pair.server->readExactly(4);
        CHECK(got == "over"_sr);
        Reference<DatagramSocket> a = transport().bind(at), b = transport().bind(at);
        co_await a->send(b->localAddress(), "one"_sr);
        Datagram one = co_await b->receive();
        CHECK(one.from == a->localAddress());
        if (!at.isLoopback()) { // the kernel finds no way without the interface
            CHECK(here.withPort(0) == at);
            CHECK(pair.server->peerAddress().scope() == at.scope());
            Error error = co_await endOf(transport().connect(Address(here.bytes(), here.port())));
            CHECK(error.isValid());
        }
    };
    loop.run(test(*at));
}

namespace {

/// Reads into buffers of so many bytes, until so many have come. Nothing is ever buffered.
Future<Void> readStraight(Reference<Connection> from, std::size_t bufferBytes, std::size_t bytes) {
    std::string buffer(bufferBytes, '-');
    for (std::size_t got = 0; got < bytes;) {
        std::size_t count = co_await from->readSome(buffer);
        REQUIRE(count != 0);
        CHECK(from->bufferedBytes() == 0);
        CHECK(buffer.substr(0, count) == std::string(count, 'x'));
        got += count;
    }
}

/// A plain socket of another program.
struct PlainSocket {
    explicit PlainSocket(Address to) : socket(::socket(to.isUnix() ? AF_UNIX : AF_INET, SOCK_STREAM, 0)) {
        sockaddr_storage storage = {};
        socklen_t size = to.toSystem(storage);
        REQUIRE(::connect(socket, reinterpret_cast<sockaddr*>(&storage), size) == 0);
    }
    PlainSocket(PlainSocket const&) = delete;
    PlainSocket& operator=(PlainSocket const&) = delete;
    ~PlainSocket() { ::close(socket); }
    int socket;
};

} // namespace

TEST_CASE("real connection: readSome() receives into the caller's memory after a report of epoll") {
    ChosenPoller epoll("epoll");
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Pair pair = co_await makePairAt(Address(0x7F000001, 0));
        Future<Void> reading = readStraight(pair.server, 20'000, 20'000);
        co_await delay(0); // the first read of a connection that was accepted is tried before a report
        for (int i = 0; i < 2; ++i) {
            co_await pair.client->write(StringRef(std::string(10'000, 'x')));
            co_await pair.client->flushed();
        }
        co_await reading;
        // A read that fills a buffer as large as the block of the loop is followed by reads that ask the kernel first.
        Future<Void> large = readStraight(pair.server, 70'000, 1'000'000);
        co_await pair.client->write(StringRef(std::string(1'000'000, 'x')));
        co_await large;
        // A small buffer is filled straight; what follows it comes with one call.
        char small[10];
        Future<std::size_t> some = keep(pair.server->readSome(small));
        std::uint64_t reads = pair.server->counters().reads;
        co_await pair.client->write("0123456789abcdef"_sr);
        std::size_t first = co_await some;
        CHECK(first == 10);
        CHECK(pair.server->bufferedBytes() == 0);
        std::size_t second = co_await pair.server->readSome(small);
        CHECK(second == 6);
        CHECK(std::string(small, 6) == "abcdef");
        CHECK(pair.server->counters().reads == reads + 2);
    };
    loop.run(test());
}

TEST_CASE("real connection: out-of-band bytes are not what readSome() waits for") {
    for (bool isUnix : {false, true}) {
        RealLoop loop;
        auto test = [](bool isUnix) -> Future<Void> {
            Address at =
                isUnix ? Address::unixAbstract("millrace-oob-" + std::to_string(::getpid())) : Address(0x7F000001, 0);
            Reference<Listener> listener = transport().listen(at);
            PlainSocket peer(listener->localAddress());
            Reference<Connection> server = co_await listener->accept();
            char buffer[64];
            std::string got;
            Future<std::size_t> some = keep(server->readSome(buffer));
            for (int i = 0; i < 3; ++i) {
                (void)::send(peer.socket, "!", 1, MSG_OOB); // where Unix sockets have none, it fails
                co_await delay(0.01);
                REQUIRE_FALSE(some.isReady());
                REQUIRE(::send(peer.socket, "ab", 2, 0) == 2);
                std::size_t count = co_await some;
                got.append(buffer, count);
                some = keep(server->readSome(buffer));
            }
            CHECK(got == "ababab");
            ::shutdown(peer.socket, SHUT_WR);
            std::size_t end = co_await some;
            CHECK(end == 0);
        };
        loop.run(test(isUnix));
    }
}
