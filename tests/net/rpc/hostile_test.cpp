// What a peer can do that does not keep to the rules.

#include "flow/base/uid.h"
#include "flow/combine/errors.h"
#include "flow/combine/timeout.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/binary.h"
#include "flow/memory/object.h"
#include "flow/wait/delay.h"
#include "net/rpc/rpc.h"
#include "net/transport.h"
#include "tests/flow/support/balance.h"
#include "tests/net/message/fuzz_count.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;

namespace {

struct Ask {
    constexpr static FileIdentifier file_identifier = 301;
    std::vector<std::string> texts;
    ReplyPromise<std::string> reply;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, texts, reply);
    }
};

struct HostileOffer {
    constexpr static FileIdentifier file_identifier = 302;
    Endpoint endpoint;
    RequestStream<Ask> ask;
    Optional<std::vector<std::string>> names;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, endpoint, ask, names);
    }
};

constexpr int kAsk = WLTOKEN_FIRST_AVAILABLE;
constexpr UID kAskToken(kWellKnown, kAsk);

Future<Void> answerAll(RequestStream<Ask> asked) {
    for (;;) {
        Ask ask = co_await asked.getFuture();
        ask.reply.send(ask.texts.empty() ? "" : ask.texts.front());
    }
}

/// A process that answers, with one honest connection and one that the test writes bytes to.
struct Stage {
    explicit Stage(RpcOptions options = {}) : node(std::move(options)) {
        listening = node.bind(Address(), Address(0x7F000001, 0));
        at = Address(0x7F000001, node.getLocalAddress().port());
        asked.makeWellKnownEndpoint(kAsk, TaskPriority::DefaultEndpoint);
        answering = answerAll(asked);
    }
    Future<std::string> honest(std::string text) {
        Ask ask;
        ask.texts.push_back(std::move(text));
        return RequestStream<Ask>(Endpoint::wellKnown({at, {}}, kAsk)).getReply(ask);
    }
    Future<Reference<Connection>> connect() { return net::transport().connect(at, {}); }

    rpc::Node node;
    Future<Void> listening;
    Address at;
    RequestStream<Ask> asked;
    Future<Void> answering;
};

Bytes bytesOf(std::string const& text) {
    return StringRef(text);
}
std::string greeting() {
    return greetingBytes({currentProtocolVersion(), true});
}
std::string frame(UID to, std::uint64_t reply, std::string const& message) {
    std::string out;
    std::size_t begin = beginFrame(out, to, reply);
    out += message;
    finishFrame(out, begin, true);
    return out;
}
/// As RequestStream::send() writes it.
std::string askMessage(std::string const& text, std::uint64_t reply) {
    ObjectWriter writer(AssumeVersion(currentProtocolVersion()));
    std::vector<std::string> texts{text};
    writer << Ask::file_identifier;
    writer.writeRecord([&] {
        writer << texts;
        writer.writeRecord([&] { writer << reply; });
    });
    return writer.toString().toString();
}
/// How the connection ends, after what was written; received bytes are dropped.
Future<int> endAfter(Reference<Connection> connection, std::string bytes) {
    (void)connection->write(bytesOf(bytes));
    int code = 0;
    try {
        for (;;)
            if ((co_await connection->read()).empty())
                break;
    } catch (Error& error) {
        code = error.code();
    }
    co_return code;
}
/// The next frame of the server, behind its greeting.
Future<std::string> answerTo(Reference<Connection> connection, std::string bytes) {
    (void)connection->write(bytesOf(greeting() + bytes));
    (void)co_await connection->readExactly(kGreetingBytes);
    Bytes head = co_await connection->readExactly(kFrameHeaderBytes);
    ParsedFrame parsed = parseFrame(head, {1 << 20, false});
    std::size_t whole = parsed.used != 0 ? parsed.used : parsed.needed;
    std::string all = head.toString();
    if (whole > kFrameHeaderBytes)
        all += (co_await connection->readExactly(static_cast<std::uint32_t>(whole - kFrameHeaderBytes))).toString();
    co_return all;
}
int codeIn(std::string const& bytes) {
    ParsedFrame parsed = parseFrame(bytes, {1 << 20, true});
    ObjectReader reader(parsed.message, Unversioned());
    bool isUnknown = false;
    ErrorOr<std::string> reply = readReply<std::string>(reader, isUnknown);
    return reply.isError() ? reply.getError().code() : 0;
}

/// A server of one's own: what `serve` does with a connection, after the client's first frame, of which it gets the
/// place for the reply. It is connected anew each time.
Future<Void> serveRaw(Reference<Listener> listener, Future<Void> (*serve)(Connection&, std::uint64_t reply)) {
    for (;;) {
        Reference<Connection> connection = co_await listener->accept();
        (void)co_await connection->readExactly(kGreetingBytes);
        Bytes head = co_await connection->readExactly(kFrameHeaderBytes);
        ParsedFrame parsed = parseFrame(head, {1 << 20, false});
        if (parsed.needed > kFrameHeaderBytes)
            (void)co_await connection->readExactly(static_cast<std::uint32_t>(parsed.needed - kFrameHeaderBytes));
        std::uint64_t reply = 0;
        std::memcpy(&reply, head.begin() + kFrameHeaderBytes - sizeof(reply), sizeof(reply));
        co_await serve(*connection, reply);
    }
}
std::string replyFrame(std::uint64_t number, std::string const& text) {
    ObjectWriter writer(Unversioned());
    writeReply<std::string>(writer, text);
    return frame(UID(0, number), 0, writer.toString().toString());
}
Future<Void> toTheEnd(Connection& connection) {
    for (;;) { // gcc 12 translates a co_await in a condition wrongly
        Bytes some = co_await connection.read();
        if (some.empty())
            break;
    }
}
/// What a client gets from such a server.
Future<int> errorFrom(RpcOptions options, Future<Void> (*serve)(Connection&, std::uint64_t reply)) {
    rpc::Node node(std::move(options));
    Reference<Listener> listener = net::transport().listen(Address(0x7F000001, 0), {});
    Future<Void> serving = serveRaw(listener, serve);
    RequestStream<Ask> asked(Endpoint::wellKnown({Address(0x7F000001, listener->localAddress().port()), {}}, kAsk));
    ErrorOr<std::string> reply = co_await timeoutError(asked.tryGetReply(Ask()), 20);
    co_return reply.isError() ? reply.getError().code() : 0;
}

void onLoop(Future<Void> (*test)()) {
    test::Balance balance;
    RealLoop loop;
    loop.run(test());
}

} // namespace

TEST_CASE("hostile peers: what is no greeting, and frames that are wrong, end that connection alone") {
    onLoop([]() -> Future<Void> {
        Stage stage;
        CHECK(co_await stage.honest("before") == "before");
        std::string broken = frame(kAskToken, 1, askMessage("x", 1));
        broken[20] = static_cast<char>(broken[20] ^ 1);
        std::string tooShort(12, '\0');
        std::vector<std::string> all;
        all.push_back("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
        all.push_back(greeting() + broken);
        all.push_back(greeting() + tooShort);
        all.push_back(greetingBytes({ProtocolVersion(0x990000), true}));
        all.push_back(greetingBytes({currentProtocolVersion(), false}));
        for (std::string const& bytes : all) {
            Reference<Connection> connection = co_await stage.connect();
            (void)co_await timeoutError(endAfter(connection, bytes), 20);
        }
        CHECK(stage.node.counters().brokenConnections == all.size());
        CHECK(co_await stage.honest("after") == "after");
    });
}

TEST_CASE("hostile peers: unknown tokens and messages that are wrong get their error, and the connection stays") {
    onLoop([]() -> Future<Void> {
        Stage stage;
        Reference<Connection> connection = co_await stage.connect();
        CHECK(codeIn(co_await answerTo(connection, frame(UID(5, 6), 9, ""))) == error_code_broken_promise);
        std::string wrong = frame(kAskToken, 9, "no message");
        (void)connection->write(bytesOf(wrong));
        Bytes reply = co_await connection->readExactly(static_cast<std::uint32_t>(kFrameHeaderBytes + 11));
        CHECK(codeIn(reply.toString()) == error_code_serialization_failed);
        CHECK(stage.node.counters().malformedMessages == 1);
        CHECK(stage.node.counters().unknownEndpoints == 1);
        // A reply without a waiter.
        (void)connection->write(bytesOf(frame(UID(0, 0x100000000), 0, "x") + frame(UID(), 1, "")));
        Bytes pong = co_await connection->readExactly(kFrameHeaderBytes);
        CHECK(parseFrame(pong, {0, true}).to == UID());
        CHECK(stage.node.counters().unknownEndpoints == 2);
    });
}

TEST_CASE("hostile peers: a reply counts only from the peer that got the request") {
    onLoop([]() -> Future<Void> {
        Stage stage;
        // A server that holds the request, and does not publish its number.
        RequestStream<Ask> holding;
        holding.makeWellKnownEndpoint(kAsk + 1, TaskPriority::DefaultEndpoint);
        FutureStream<Ask> held = holding.getFuture();
        Future<std::string> waiting = RequestStream<Ask>(Endpoint::wellKnown({stage.at, {}}, kAsk + 1)).getReply();
        Ask request = co_await held;
        Reference<Connection> connection = co_await stage.connect();
        std::string guesses = greeting();
        for (std::uint64_t generation = 1; generation < 4; ++generation)
            for (std::uint64_t index = 0; index < 8; ++index) {
                ObjectWriter writer(Unversioned());
                writeReply<std::string>(writer, "forged");
                guesses += frame(UID(0, generation << 32 | index), 0, writer.toString().toString());
            }
        guesses += frame(UID(), 1, "");
        (void)connection->write(bytesOf(guesses));
        (void)co_await connection->readExactly(kGreetingBytes + kFrameHeaderBytes); // it has looked at all
        CHECK(stage.node.counters().unknownEndpoints == 24);
        CHECK(!waiting.isReady());
        request.reply.send("true");
        CHECK(co_await std::move(waiting) == "true");
    });
}

TEST_CASE("hostile peers: reading stops if a peer never reads, or if its requests are not taken") {
    onLoop([]() -> Future<Void> {
        RpcOptions options;
        options.unsentBytes = 100'000;
        options.backlogBytes = 100'000;
        Stage stage(options);
        RequestStream<Ask> untaken;
        untaken.makeWellKnownEndpoint(kAsk + 1, TaskPriority::DefaultEndpoint);
        std::string large(50'000, 'x');
        for (int i = 0; i < 2; ++i) {
            Reference<Connection> connection = co_await stage.connect();
            (void)connection->write(bytesOf(greeting()));
            std::string one = frame(UID(kWellKnown, static_cast<std::uint64_t>(kAsk + i)), 1, askMessage(large, 1));
            std::uint64_t before = stage.node.counters().framesReceived;
            std::size_t written = 0;
            for (; written < 4000; ++written) // 200 MB, if they were taken
                if (!(co_await timeout(Future<Void>(connection->write(bytesOf(one))), 0.3)).present())
                    break;
            CHECK(written < 1000);
            CHECK(stage.node.counters().framesReceived - before < 400);
            CHECK(co_await stage.honest("meanwhile") == "meanwhile");
            connection->abort();
        }
    });
}

TEST_CASE("hostile peers: a stream takes no more requests than it may hold, however many peers there are") {
    onLoop([]() -> Future<Void> {
        constexpr int kPeers = 20, kEach = 400; // of some 150 bytes: each peer's could be read at once
        RpcOptions options;
        options.backlogBytes = 50'000;
        Stage stage(options);
        RequestStream<Ask> slow;
        slow.makeWellKnownEndpoint(kAsk + 1, TaskPriority::DefaultEndpoint);
        std::vector<Reference<Connection>> connections;
        for (int peer = 0; peer < kPeers; ++peer) {
            std::string all = greeting();
            for (int i = 0; i < kEach; ++i)
                all += frame(UID(kWellKnown, kAsk + 1), 0, askMessage("peer " + std::to_string(peer), 0));
            Reference<Connection> connection = co_await stage.connect();
            (void)connection->write(bytesOf(all));
            connections.push_back(std::move(connection));
        }
        std::map<std::string, int> taken;
        std::uint64_t most = 0;
        for (std::uint64_t i = 0; i < kPeers * kEach; ++i) {
            Ask ask = co_await slow.getFuture();
            ++taken[ask.texts.front()];
            most = std::max(most, stage.node.counters().framesReceived - i);
        }
        CHECK(taken.size() == kPeers);
        for (auto& [peer, count] : taken)
            CHECK(count == kEach);
        CHECK(most <= 50'000 / 100 + 1);
        CHECK(co_await stage.honest("after") == "after");
    });
}

TEST_CASE("hostile peers: beyond what all may hold, those that hold the most are disconnected") {
    onLoop([]() -> Future<Void> {
        RpcOptions options;
        options.peersBytes = 1'000'000;
        options.backlogBytes = 0;
        Stage stage(options);
        RequestStream<Ask> untaken;
        untaken.makeWellKnownEndpoint(kAsk + 1, TaskPriority::DefaultEndpoint);
        CHECK(co_await stage.honest("before") == "before");
        std::string large = greeting() + frame(kAskToken, 1, std::string(300'000, 'x')).substr(0, 200'000);
        std::vector<Reference<Connection>> connections;
        std::size_t most = 0;
        std::string waits = frame(UID(kWellKnown, kAsk + 1), 0, askMessage(std::string(200'000, 'x'), 0));
        for (int i = 0; i < 20; ++i) { // 4 MB of frames that never become whole, or are never taken
            Reference<Connection> connection = co_await stage.connect();
            (void)connection->write(bytesOf(i % 2 == 0 ? large : greeting() + waits));
            connections.push_back(std::move(connection));
            CHECK(co_await stage.honest("meanwhile") == "meanwhile");
            most = std::max(most, stage.node.heldBytes());
        }
        while (stage.node.counters().disconnected < 14) {
            CHECK(co_await stage.honest("meanwhile") == "meanwhile");
            most = std::max(most, stage.node.heldBytes());
        }
        CHECK(most > 500'000);
        CHECK(most <= 1'000'000);
        CHECK(stage.node.counters().accepted == 21); // the honest one has stayed
    });
}

TEST_CASE("hostile peers: one that takes no replies is disconnected in the end") {
    onLoop([]() -> Future<Void> {
        RpcOptions options;
        options.unsentBytes = 100'000;
        options.pingTimeout = 0.001; // times 60
        Stage stage(options);
        Reference<Connection> connection = co_await stage.connect();
        std::string all = greeting();
        constexpr std::uint64_t kRequests = 300; // the kernel may take 10 MB of the replies
        for (std::uint64_t i = 0; i < kRequests; ++i)
            all += frame(kAskToken, 1, askMessage(std::string(100'000, 'x'), 1));
        (void)connection->write(bytesOf(all));
        auto disconnected = [](rpc::Node& node) -> Future<Void> {
            while (node.counters().accepted == 0 || node.connections() != 0)
                co_await delay(0.01);
        };
        (void)co_await timeoutError(disconnected(stage.node), 20);
        CHECK(stage.node.counters().framesReceived < kRequests);
    });
}

TEST_CASE("hostile peers: no more connections than are allowed") {
    onLoop([]() -> Future<Void> {
        RpcOptions options;
        options.maxConnections = 2;
        Stage stage(options);
        Reference<Connection> first = co_await stage.connect();
        CHECK(co_await stage.honest("second") == "second");
        // The reset may arrive before the connect has ended.
        ErrorOr<Reference<Connection>> third = co_await tryGet(stage.connect());
        if (third.present())
            (void)co_await timeoutError(endAfter(third.get(), greeting()), 20);
        CHECK(stage.node.counters().refused == 1);
        CHECK(co_await stage.honest("still") == "still");
    });
}

TEST_CASE("hostile peers: one that connects and sends nothing is disconnected") {
    onLoop([]() -> Future<Void> {
        RpcOptions options;
        options.greetingTimeout = options.pingInterval = 0.05;
        Stage stage(options);
        Reference<Connection> silent = co_await stage.connect();
        (void)co_await timeoutError(endAfter(silent, ""), 20);
        CHECK(stage.node.connections() == 0);
    });
}

TEST_CASE("hostile peers: messages changed at random") {
    onLoop([]() -> Future<Void> {
        Stage stage;
        Reference<Connection> connection = co_await stage.connect();
        (void)connection->write(bytesOf(greeting()));
        auto discarding = [](Reference<Connection> from) -> Future<Void> {
            while (!(co_await from->read()).empty()) {
            }
        }(connection);
        DeterministicRandom random(7);
        int count = flow::test::fuzzCount() / 10;
        for (int i = 0; i < count; ++i) {
            std::string message = askMessage("some text", 1);
            for (int changes = random.randomInt(1, 6); changes > 0; --changes)
                message[static_cast<std::size_t>(random.randomInt(0, static_cast<int>(message.size())))] =
                    static_cast<char>(random.randomInt(0, 256));
            message.resize(static_cast<std::size_t>(random.randomInt(0, static_cast<int>(message.size()) + 1)));
            co_await connection->write(bytesOf(frame(kAskToken, random.randomUInt64(), message)));
        }
        CHECK(co_await stage.honest("after") == "after");
        CHECK(!discarding.isReady());
        CHECK(stage.node.counters().malformedMessages > 0);
    });
}

TEST_CASE("hostile peers: of a frame that is cut off anywhere, nothing arrives") {
    onLoop([]() -> Future<Void> {
        Stage stage;
        std::string whole = greeting() + frame(kAskToken, 1, askMessage("x", 1));
        for (std::size_t length = 0; length < whole.size(); ++length) {
            Reference<Connection> connection = co_await stage.connect();
            if (length != 0)
                (void)connection->write(bytesOf(whole.substr(0, length)));
            connection->shutdownWrite();
            (void)co_await timeoutError(errorOr(toTheEnd(*connection)), 20);
        }
        CHECK(stage.node.counters().framesReceived == 0);
        CHECK(stage.node.counters().accepted == whole.size());
        CHECK(stage.node.connections() == 0);
        CHECK(co_await stage.honest("after") == "after");
    });
}

TEST_CASE("hostile peers: a reply that comes again is not the reply to a later request") {
    onLoop([]() -> Future<Void> {
        rpc::Node node;
        Reference<Listener> listener = net::transport().listen(Address(0x7F000001, 0), {});
        Future<Void> serving = serveRaw(listener, [](Connection& connection, std::uint64_t first) -> Future<Void> {
            co_await connection.write(bytesOf(greeting() + replyFrame(first, "first") + replyFrame(first, "again")));
            Bytes head = co_await connection.readExactly(kFrameHeaderBytes);
            std::uint64_t second = 0;
            std::memcpy(&second, head.begin() + kFrameHeaderBytes - sizeof(second), sizeof(second));
            CHECK(second != first);
            co_await connection.write(bytesOf(replyFrame(first, "once more") + replyFrame(second, "second")));
            co_await Future<Void>(Never());
        });
        RequestStream<Ask> asked(Endpoint::wellKnown({Address(0x7F000001, listener->localAddress().port()), {}}, kAsk));
        CHECK(co_await timeoutError(asked.getReply(Ask()), 20) == "first");
        CHECK(co_await timeoutError(asked.getReply(Ask()), 20) == "second");
        CHECK(node.counters().unknownEndpoints == 2);
    });
}

TEST_CASE("hostile peers: what a client gets from a server that does not keep to the rules") {
    onLoop([]() -> Future<Void> {
        RpcOptions options;
        options.pingInterval = 0.05;
        options.pingTimeout = 0.3;
        CHECK(co_await errorFrom(options, [](Connection& connection, std::uint64_t) -> Future<Void> {
                  co_await connection.write("HTTP/1.1 400 Bad Request\r\n\r\n"_sr);
                  co_await toTheEnd(connection);
              }) == error_code_request_maybe_delivered);
        CHECK(co_await errorFrom(options, [](Connection& connection, std::uint64_t) -> Future<Void> {
                  co_await connection.write(bytesOf(greetingBytes({ProtocolVersion(0x990000), true})));
                  co_await toTheEnd(connection);
              }) == error_code_incompatible_protocol_version);
        CHECK(co_await errorFrom(options, [](Connection& connection, std::uint64_t) -> Future<Void> {
                  co_await connection.write(bytesOf(greeting() + std::string(12, '\0')));
                  co_await toTheEnd(connection);
              }) == error_code_request_maybe_delivered);
        CHECK(co_await errorFrom(options, [](Connection& connection, std::uint64_t reply) -> Future<Void> {
                  std::string whole = replyFrame(reply, "cut off");
                  co_await connection.write(bytesOf(greeting() + whole.substr(0, whole.size() - 1)));
                  connection.shutdownWrite();
              }) == error_code_request_maybe_delivered);
        CHECK(co_await errorFrom(options, [](Connection& connection, std::uint64_t reply) -> Future<Void> {
                  co_await connection.write(bytesOf(greeting() + frame(UID(0, reply), 0, "no reply")));
                  co_await toTheEnd(connection);
              }) == error_code_serialization_failed);
        CHECK(co_await errorFrom(options, [](Connection&, std::uint64_t) -> Future<Void> {
                  co_await Future<Void>(Never()); // reads nothing, and says nothing
              }) == error_code_request_maybe_delivered);
    });
}

TEST_CASE("hostile peers: replies changed at random are values or errors") {
    test::Balance balance;
    RealLoop loop;
    rpc::Node node;
    HostileOffer offer;
    offer.endpoint = Endpoint::wellKnown({*Address::parse("10.0.0.1:4500"), {}}, kAsk);
    offer.names = std::vector<std::string>{"a", "name"};
    auto bytesOfReply = [](auto write) {
        ObjectWriter writer(AssumeVersion(currentProtocolVersion()));
        write(writer);
        return writer.toString().toString();
    };
    std::string const kinds[] = {
        bytesOfReply([&](ObjectWriter& writer) { writeReply<HostileOffer>(writer, offer); }),
        bytesOfReply([](ObjectWriter& writer) { writeErrorReply(writer, operation_failed(), true); }),
        bytesOfReply([](ObjectWriter& writer) { writer.serialize(rpc::StreamNews{1000, true}); }),
    };
    DeterministicRandom random(3);
    int values = 0, errors = 0, wrong = 0;
    for (int i = flow::test::fuzzCount(); i > 0; --i) {
        int kind = random.randomInt(0, 3);
        std::string bytes = kinds[kind];
        for (int changes = random.randomInt(0, 5); changes > 0; --changes)
            bytes[static_cast<std::size_t>(random.randomInt(0, static_cast<int>(bytes.size())))] =
                static_cast<char>(random.randomInt(0, 256));
        if (random.randomInt(0, 4) == 0)
            bytes.resize(static_cast<std::size_t>(random.randomInt(0, static_cast<int>(bytes.size()) + 1)));
        ObjectReader reader(StringRef(bytes), AssumeVersion(currentProtocolVersion()));
        try {
            bool isUnknown = false;
            rpc::StreamNews news;
            if (kind == 2)
                reader.deserialize(news);
            bool isError = kind != 2 && readReply<HostileOffer>(reader, isUnknown).isError();
            ++(isError ? errors : values);
        } catch (Error& error) {
            CHECK(error.code() == error_code_serialization_failed);
            ++wrong;
        }
    }
    CHECK(values > 0);
    CHECK(errors > 0);
    CHECK(wrong > 0);
}
