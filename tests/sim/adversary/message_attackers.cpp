// Attackers of the simulation "adversary" that speak the protocols of messages and of RPC.

#include "flow/base/format.h"
#include "flow/combine/all.h"
#include "flow/combine/errors.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/rpc/detail/reply_body.h"
#include "net/rpc/detail/wire_format.h"
#include "net/transport.h"
#include "tests/net/message/raw_peer.h"
#include "tests/sim/adversary/attacks.h"

using namespace flow;
using namespace flow::net;

namespace adversary {
namespace {

std::string frameOf(std::string_view body, zmtp::FrameFlags flags = {}) {
    std::string frame;
    zmtp::appendFrame(frame, body, flags);
    return frame;
}

Future<Reference<Connection>> greet(Run& run, Port port, std::string type, std::string id = {}) {
    return connectRaw(endpoint(run.server, port), std::move(type), std::move(id));
}

Future<Void> floodRouter(Run& run) {
    Reference<Connection> connection = co_await greet(run, kRouter, "DEALER");
    co_await race(pour(run, connection, frameOf("question"), kWork / 2), drain(connection));
}

Future<Void> neverReadAnswers(Run& run) {
    Reference<Connection> connection = co_await greet(run, kRouter, "DEALER");
    co_await pour(run, connection, frameOf(std::string(2000, 'n')), kFlood);
    co_await delay(3);
}

Future<Void> neverReadReplies(Run& run) {
    Reference<Connection> connection = co_await greet(run, kRep, "DEALER");
    co_await pour(run, connection, frameOf("", {.more = true}) + frameOf(std::string(2000, 'n')), kFlood);
    co_await delay(3);
}

/// The attacker reads no PONG.
Future<Void> floodOfPings(Run& run) {
    Reference<Connection> connection = co_await greet(run, kRouter, "DEALER");
    co_await pour(run, connection, ping(100), kFlood / 2);
    co_await delay(3);
}

/// A message that never ends, with commands between its parts.
Future<Void> longMessage(Run& run) {
    Reference<Connection> connection = co_await greet(run, kRouter, "DEALER");
    std::string part = frameOf(std::string(1000, 'p'), {.more = true});
    co_await race(pour(run, connection, part + ping(100), kFlood), drain(connection));
}

Future<Void> halfAMessage(Run& run) {
    Reference<Connection> connection = co_await greet(run, kRouter, "DEALER");
    std::string half;
    zmtp::appendFrameHeader(half, 500'000, {});
    co_await connection->write(StringRef(half));
    co_await race(pour(run, connection, "half", 300'000), drain(connection));
    co_await delay(5);
}

Future<Void> subscribeToAll(Run& run) {
    Reference<Connection> connection = co_await greet(run, kPub, "SUB");
    for (int i = 0; i < 100'000; ++i) {
        std::string wishes;
        for (int end = i + 200; i < end; ++i)
            zmtp::appendCommand(wishes, "SUBSCRIBE", format("%d", i) + std::string(40, 't'));
        co_await connection->write(StringRef(wishes));
    }
    co_await delay(3);
}

/// Connects again and again under one name, and under a name of the form that the server gives.
Future<Void> sameName(Run& run) {
    for (int i = 0; i < 20; ++i) {
        std::string given("\0\0\0\0\1", 5);
        Reference<Connection> connection = co_await greet(run, kRouter, "DEALER", i % 2 != 0 ? "same" : given);
        std::string question = frameOf("mine");
        co_await connection->write(StringRef(question));
        co_await race(drain(connection), delay(0.05 * deterministicRandom()->random01()));
        if (deterministicRandom()->coinflip())
            connection->abort();
    }
}

/// Each connection leaves one message behind.
Future<Void> hitAndRun(Run& run) {
    for (int i = 0; i < 200 && run.hits > 0; ++i, --run.hits) {
        Reference<Connection> connection = co_await greet(run, kPull, "PUSH");
        co_await sendRaw(connection, "hit");
        connection->shutdownWrite();
        co_await race(drain(connection), delay(1));
    }
}

Future<Void> noMessages(Run& run) {
    Reference<Connection> connection = co_await greet(run, kRouter, "DEALER");
    Bytes noise = makeString(2000);
    deterministicRandom()->randomBytes(mutateString(noise), 2000);
    co_await connection->write(std::move(noise));
    co_await race(drain(connection), delay(1));
}

Attack const kOnMessages[] = {
    {"flood router", floodRouter},
    {"never read answers", neverReadAnswers},
    {"never read replies", neverReadReplies},
    {"flood of pings", floodOfPings},
    {"long message", longMessage},
    {"half a message", halfAMessage},
    {"subscribe to all", subscribeToAll},
    {"same name", sameName},
    {"hit and run", hitAndRun},
    {"no messages", noMessages},
};

std::string rpcFrame(UID to, std::uint64_t reply, std::string const& message) {
    std::string out;
    std::size_t begin = beginFrame(out, to, reply);
    out += message;
    finishFrame(out, begin, true);
    return out;
}

constexpr UID kAsked(kWellKnown, kAsk);

std::string askFrame(std::string const& text, std::uint64_t reply, std::vector<Wide> const& wide = {}) {
    ObjectWriter writer(AssumeVersion(currentProtocolVersion()));
    writer << Ask::file_identifier;
    writer.writeRecord([&] {
        writer << text << wide;
        writer.writeRecord([&] { writer << reply; });
    });
    return rpcFrame(kAsked, reply, writer.toString().toString());
}

Future<Reference<Connection>> greetRpc(Run& run) {
    Reference<Connection> connection = co_await transport().connect(run.server.withPort(kRpc));
    std::string greeting = greetingBytes({currentProtocolVersion(), true});
    co_await connection->write(StringRef(greeting));
    co_return connection;
}

Future<Void> floodRpc(Run& run) {
    Reference<Connection> connection = co_await greetRpc(run);
    co_await race(pour(run, connection, askFrame("flood", 1), kWork / 2), drain(connection));
}

Future<Void> neverReadRpc(Run& run) {
    Reference<Connection> connection = co_await greetRpc(run);
    co_await pour(run, connection, askFrame(std::string(1000, 'n'), 1), kFlood);
    co_await delay(3);
}

Future<Void> rpcPings(Run& run) {
    Reference<Connection> connection = co_await greetRpc(run);
    co_await pour(run, connection, rpcFrame(UID(), 1, ""), kFlood);
    co_await delay(3);
}

/// Records without members need few bytes and much memory.
Future<Void> wideStructs(Run& run) {
    Reference<Connection> connection = co_await greetRpc(run);
    constexpr std::uint32_t kCount = kLargestRequest / 5;
    ObjectWriter writer(AssumeVersion(currentProtocolVersion()));
    writer << Ask::file_identifier;
    writer.writeRecord([&] {
        writer << std::string();
        writer << kCount;
        for (std::uint32_t i = 0; i < kCount; ++i)
            writer << std::uint32_t{0};
    });
    std::string frame = rpcFrame(kAsked, 1, writer.toString().toString());
    co_await race(pour(run, connection, frame, frame.size()), drain(connection));
}

Future<Void> unknownEndpoints(Run& run) {
    Reference<Connection> connection = co_await greetRpc(run);
    co_await race(pour(run, connection, rpcFrame(UID(5, 6), 1, "") + rpcFrame(kAsked, 1, "wrong"), kWork / 2),
                  drain(connection));
}

Future<Void> halfAFrame(Run& run) {
    Reference<Connection> connection = co_await greetRpc(run);
    std::string half = rpcFrame(kAsked, 1, std::string(250'000, 'h')).substr(0, 200'000);
    co_await race(pour(run, connection, half, half.size()), drain(connection));
    co_await delay(5);
}

/// Sends answers to questions that the server has asked others, with guessed numbers.
Future<Void> forgeAnswers(Run& run) {
    Reference<Connection> connection = co_await greetRpc(run);
    ObjectWriter writer(Unversioned());
    writeReply<std::string>(writer, "forged");
    std::string forged = writer.toString().toString();
    for (std::uint64_t generation = 1; generation < 200; ++generation) {
        std::string guesses;
        for (std::uint64_t index = 0; index < 4; ++index)
            guesses += rpcFrame(UID(0, generation << 32 | index), 0, forged);
        co_await connection->write(StringRef(guesses));
        co_await race(delay(0.05), drain(connection));
    }
}

Attack const kOnRpc[] = {
    {"forge answers", forgeAnswers},         {"flood rpc", floodRpc},
    {"never read rpc", neverReadRpc},        {"rpc pings", rpcPings},
    {"unknown endpoints", unknownEndpoints}, {"half a frame", halfAFrame},
    {"wide structs", wideStructs},
};

} // namespace

std::span<Attack const> attacksOnMessages() {
    return kOnMessages;
}
std::span<Attack const> attacksOnRpc() {
    return kOnRpc;
}

} // namespace adversary
