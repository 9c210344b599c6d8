// soak [SECONDS [CLIENTS]]: an echo server and clients that do all that clients do, and much that they should not, for
// so long: 600 seconds and 200 clients if nothing is said. Half of the clients speak TLS, if this build has it. Fails
// if a byte is wrong, if an error comes that is not a peer's, or if the program has more descriptors or much more
// memory at the end than after the first quarter.
//
//     $ FLOW_POLLER=uring soak 60

#include "flow/base/parse_number.h"
#include "flow/base/random.h"
#include "flow/base/sanitizer.h"
#include "flow/combine/race.h"
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/standalone.h"
#include "flow/wait/delay.h"
#include "net/serve.h"
#if defined(MILLRACE_TEST_CERTIFICATES)
#include "net/tls/tls_listener.h"
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

using namespace flow;
using namespace flow::net;

namespace {

#if FLOW_ADDRESS_SANITIZER
constexpr std::size_t kMostGrowth = std::size_t{1} << 30; // it keeps what was freed
#else
constexpr std::size_t kMostGrowth = 16 << 20; // bytes; what the allocators keep varies by a few
#endif

std::map<std::string, long> ends; // of clients: how they went
long wrongBytes = 0;

int openDescriptors() {
    int count = 0;
    DIR* folder = ::opendir("/proc/self/fd");
    while (::readdir(folder))
        ++count;
    ::closedir(folder);
    return count;
}

std::size_t residentBytes() {
    unsigned long pages = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (!file || std::fscanf(file, "%*u %lu", &pages) != 1)
        std::abort();
    std::fclose(file);
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

bool isOneIn(int count) {
    return deterministicRandom()->randomInt(0, count) == 0;
}

/// Sends back what comes; sometimes it is in a bad mood.
Future<Void> echo(Reference<Connection> connection) {
    for (;;) {
        Bytes bytes = co_await connection->read();
        if (bytes.empty())
            co_return;
        if (isOneIn(200)) {
            connection->abort();
            co_return;
        }
        if (isOneIn(50))
            co_await delay(0.01 * deterministicRandom()->random01());
        co_await connection->write(std::move(bytes));
    }
}

/// Sends so many bytes with ascending values, and ends the writing.
Future<Void> sendCounting(Reference<Connection> connection, int size, bool isSlow) {
    for (int sent = 0; sent < size;) {
        int count = isSlow ? 1 : std::min(deterministicRandom()->randomInt(1, 30'000), size - sent);
        Bytes bytes = makeString(count);
        for (int i = 0; i < count; ++i)
            mutateString(bytes)[i] = static_cast<std::uint8_t>(sent + i);
        co_await connection->write(std::move(bytes));
        sent += count;
        if (isSlow)
            co_await delay(0.02);
    }
    connection->shutdownWrite();
}

Future<Void> receiveCounting(Reference<Connection> connection, int size) {
    int received = 0;
    for (;;) {
        Bytes bytes =
            co_await connection->read(static_cast<std::uint32_t>(deterministicRandom()->randomInt(1, 20'000)));
        if (bytes.empty())
            break;
        for (std::uint8_t byte : bytes)
            wrongBytes += byte != static_cast<std::uint8_t>(received++);
    }
    wrongBytes += received != size;
}

#if defined(MILLRACE_TEST_CERTIFICATES)
constexpr bool kHasTls = true;

std::string certificate(char const* file) {
    return std::string(MILLRACE_TEST_CERTIFICATES "/") + file;
}

Reference<Listener> listenWithTls() {
    TlsServerOptions options;
    options.identities = {{certificate("server.pem"), certificate("server.key")}};
    options.handshakeTimeout = 1;
    return makeReference<TlsListener>(transport().listen(Address(0x7F000001, 0)), TlsContext::server(options));
}

/// Fails if this client breaks the handshake off.
Future<Reference<Connection>> connectWithTls(Address server) {
    static Reference<TlsContext> const context = TlsContext::client({.authorities = certificate("ca.pem")});
    if (isOneIn(20)) { // of these the server gets nothing, garbage, or an end
        Reference<Connection> plain = co_await transport().connect(server);
        if (isOneIn(2))
            co_await plain->write("\x16\x03\x01 this is no handshake"_sr);
        co_await delay(0.01 * deterministicRandom()->random01());
        isOneIn(2) ? plain->abort() : plain->close();
        throw connection_failed();
    }
    Future<Reference<TlsConnection>> connecting = tlsConnect(server, "localhost", context);
    if (isOneIn(20)) {
        co_await delay(0.005 * deterministicRandom()->random01());
        if (!connecting.isReady())
            throw connection_failed(); // which cancels it
    }
    Reference<TlsConnection> connection = co_await connecting;
    co_return Reference<Connection>(connection);
}
#else
constexpr bool kHasTls = false;
Reference<Listener> listenWithTls() {
    return {};
}
Future<Reference<Connection>> connectWithTls(Address) {
    return unsupported_operation();
}
#endif

struct Server {
    Address address;
    bool hasTls;
};

/// A connection, from its beginning to one of many ends.
Future<Void> visit(Server server) {
    Future<Reference<Connection>> connecting =
        server.hasTls ? connectWithTls(server.address) : transport().connect(server.address);
    Reference<Connection> connection = co_await connecting;
    bool isSlow = isOneIn(20);
    int size = isSlow ? 50 : deterministicRandom()->randomInt(0, 300'000);
    Future<Void> sending = sendCounting(connection, size, isSlow);
    switch (deterministicRandom()->randomInt(0, 8)) {
    case 0: // goes in the middle, with all that is under way
        co_await delay(0.01 * deterministicRandom()->random01());
        ++ends["left"];
        co_return;
    case 1:
        co_await delay(0.01 * deterministicRandom()->random01());
        connection->abort();
        ++ends["aborted"];
        co_return;
    case 2: // reads nothing for a while
        co_await delay(0.3);
        break;
    case 3: { // gives reads up
        for (int i = 0; i < 5; ++i) {
            Future<Bytes> dropped = keep(connection->readExactly(1u << 20));
            co_await delay(0.001);
        }
        break;
    }
    default:
        break;
    }
    co_await receiveCounting(connection, size);
    co_await sending;
    ++ends[server.hasTls ? "served with TLS" : "served"];
}

Future<Void> visitAgainAndAgain(Server server) {
    for (;;) {
        ErrorOr<Void> end = co_await tryGet(visit(server));
        if (!end.isError())
            continue;
        if (end.getError() == actor_cancelled())
            throw end.getError();
        ++ends[end.getError().name()];
        if (!isConnectionError(end.getError()))
            throw end.getError();
    }
}

Future<Void> soak(double seconds, int clients) {
    int before = openDescriptors();
    Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
    Promise<Void> stop;
    Reference<Listener> secured = listenWithTls();
    std::vector<Future<Void>> serving;
    serving.push_back(serveUntil(listener, echo, stop.getFuture(), 5));
    if (kHasTls)
        serving.push_back(serveUntil(secured, echo, stop.getFuture(), 5));
    std::vector<Future<Void>> all;
    for (int i = 0; i < clients; ++i) {
        bool hasTls = kHasTls && i % 2;
        all.push_back(visitAgainAndAgain({(hasTls ? secured : listener)->localAddress(), hasTls}));
    }
    Future<Void> any = waitForAll(all); // ends with the first error
    auto early = co_await race(any, delay(seconds / 4));
    if (early.index() == 0)
        throw internal_error();
    std::size_t memory = residentBytes();
    auto late = co_await race(any, delay(seconds * 3 / 4));
    if (late.index() == 0)
        throw internal_error();
    std::size_t grown = std::max(residentBytes(), memory) - memory;
    any = Future<Void>();
    all.clear();
    stop.send(Void());
    co_await waitForAll(serving);
    serving.clear();
    listener.clear();
    secured.clear();
    co_await delay(0.1);
    for (auto const& [end, count] : ends)
        std::printf("%-24s %ld\n", end.c_str(), count);
    int left = openDescriptors() - before;
    std::printf("%-24s %ld\n%-24s %d\n%-24s %zu\n", "wrong bytes", wrongBytes, "descriptors left", left, "bytes grown",
                grown);
    if (wrongBytes != 0 || left > 2 || grown > kMostGrowth || ends["served"] == 0 || // 2: of the poller
        (kHasTls && ends["served with TLS"] == 0))
        throw test_failed();
}

} // namespace

int main(int argc, char** argv) {
    auto seconds = parseNumber<unsigned>(argc > 1 ? argv[1] : "600");
    auto clients = parseNumber<std::uint16_t>(argc > 2 ? argv[2] : "200");
    if (argc > 3 || !seconds || !clients) {
        std::fprintf(stderr, "usage: %s [SECONDS [CLIENTS]]\n", argv[0]);
        return 2;
    }
    try {
        RealLoop loop;
        loop.run(soak(*seconds, *clients));
        return 0;
    } catch (Error& error) {
        std::fprintf(stderr, "soak: %s\n", error.what());
        return 1;
    }
}
