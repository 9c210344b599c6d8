// Attackers of the simulation "adversary": floods, stalls, garbage, and peers that never read, at streams of bytes.

#include "flow/base/format.h"
#include "flow/combine/errors.h"
#include "flow/combine/race.h"
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/transport.h"
#include "tests/sim/adversary/attacks.h"

#include <vector>

using namespace flow;
using namespace flow::net;

namespace adversary {
namespace {

int among(int first, int end) {
    return deterministicRandom()->randomInt(first, end);
}

Future<Reference<Connection>> connectTo(Run& run, Port port) {
    return transport().connect(run.server.withPort(port));
}

Port anyPort() {
    return deterministicRandom()->randomChoice(std::vector<Port>{kEcho, kHttp, kRefused, kRpc, kRouter, kRep, kPub});
}

Future<Void> floodEcho(Run& run) {
    Reference<Connection> connection = co_await connectTo(run, kEcho);
    co_await race(pour(run, connection, std::string(static_cast<std::size_t>(among(1, 20'000)), 'f'), kWork),
                  drain(connection));
}

Future<Void> neverReadEcho(Run& run) {
    Reference<Connection> connection = co_await connectTo(run, kEcho);
    co_await pour(run, connection, std::string(10'000, 'n'), kFlood);
    co_await delay(among(1, 10));
}

Future<Void> neverReadHttp(Run& run) {
    Reference<Connection> connection = co_await connectTo(run, kHttp);
    co_await pour(run, connection, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n", kFlood);
}

Future<Void> askHttpOnce(Run& run, std::string begin, std::string bytes, std::size_t total = kFlood) {
    Reference<Connection> connection = co_await connectTo(run, kHttp);
    co_await connection->write(StringRef(begin));
    co_await race(pour(run, connection, std::move(bytes), total), drain(connection));
}

Future<Void> endlessHeader(Run& run) {
    return askHttpOnce(run, "GET / HTTP/1.1\r\n", "X-More: and more\r\n");
}
Future<Void> endlessBody(Run& run) {
    return askHttpOnce(run, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
                       "1000\r\n" + std::string(4096, 'b') + "\r\n");
}
Future<Void> endlessExtension(Run& run) {
    return askHttpOnce(run, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4;", "extension");
}
Future<Void> pipeline(Run& run) {
    return askHttpOnce(run, "", "GET /small HTTP/1.1\r\nHost: x\r\n\r\n", 30'000);
}

Future<Void> stall(Run& run) {
    Reference<Connection> connection = co_await connectTo(run, anyPort());
    std::string begin = deterministicRandom()->randomChoice(
        std::vector<std::string>{"", "G", "GET /small HTT", "MRC-RPC1", std::string("\xFF\0\0\0\0\0\0\0\1\x7F\3", 11)});
    if (!begin.empty())
        co_await connection->write(StringRef(begin));
    co_await race(drain(connection), delay(among(1, 20)));
}

Future<Void> garbage(Run& run) {
    for (int i = 0; i < 10; ++i) {
        Reference<Connection> connection = co_await connectTo(run, anyPort());
        Bytes noise = makeString(among(1, 5000));
        deterministicRandom()->randomBytes(mutateString(noise), static_cast<std::size_t>(noise.size()));
        co_await connection->write(std::move(noise));
        co_await race(drain(connection), delay(0.5));
    }
}

Future<Void> comeAndGo(Run& run) {
    for (int i = 0; i < 50; ++i) {
        Reference<Connection> connection = co_await connectTo(run, anyPort());
        if (deterministicRandom()->coinflip())
            co_await connection->write("half a li"_sr);
        if (deterministicRandom()->coinflip())
            co_await delay(0.01 * deterministicRandom()->random01());
        if (deterministicRandom()->coinflip())
            connection->abort();
    }
}

Attack const kOnStreams[] = {
    {"flood echo", floodEcho},
    {"never read echo", neverReadEcho},
    {"never read http", neverReadHttp},
    {"endless header", endlessHeader},
    {"endless body", endlessBody},
    {"endless extension", endlessExtension},
    {"pipeline", pipeline},
    {"stall", stall},
    {"garbage", garbage},
    {"come and go", comeAndGo},
};

/// Comes again and again with the same attack.
Future<Void> repeat(Run& run, Attack attack) {
    while (!run.attackersLeave) {
        co_await errorOr(attack.visit(run));
        co_await delay(2 * deterministicRandom()->random01());
    }
}

Future<Void> left(Run& run) {
    while (!run.attackersLeave)
        co_await delay(0.1);
}

} // namespace

std::span<Attack const> attacksOnStreams() {
    return kOnStreams;
}

Future<Void> pour(Run& run, Reference<Connection> connection, std::string bytes, std::size_t total) {
    std::string many = bytes;
    while (many.size() < 8'000)
        many += bytes;
    for (std::size_t written = 0; written < total && run.flood > many.size(); written += many.size()) {
        run.flood -= many.size();
        auto first = co_await race(connection->write(StringRef(many)), delay(3));
        if (first.index() == 1)
            co_return;
    }
}

Future<Void> drain(Reference<Connection> connection) {
    for (;;) {
        Bytes some = co_await connection->read();
        if (some.empty())
            co_return;
    }
}

Future<Void> runAttacker(Run& run) {
    std::vector<Attack> all;
    for (auto attacks : {attacksOnStreams(), attacksOnMessages(), attacksOnRpc()})
        all.insert(all.end(), attacks.begin(), attacks.end());
    std::vector<Future<Void>> running;
    for (int i = 0; i < 2; ++i) {
        Attack attack = deterministicRandom()->randomChoice(all);
        run.attacks.insert(attack.name);
        running.push_back(repeat(run, attack));
    }
    co_await race(left(run), waitForAll(running));
}

} // namespace adversary
