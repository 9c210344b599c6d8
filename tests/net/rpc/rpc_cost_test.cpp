// What a message costs a process for each byte of it, in memory and in bytes that are moved.

#include "flow/combine/errors.h"
#include "flow/combine/timeout.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/object.h"
#include "flow/wait/delay.h"
#include "net/rpc/rpc.h"
#include "net/transport.h"
#include "tests/flow/support/balance.h"
#include "tests/net/costs.h"
#include "tests/net/rpc/two_processes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// 200 bytes and more in memory; 4 bytes as a record without members.
struct CostRow {
    std::string a, b, c, d, e, f;
    std::int64_t n = 0;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, a, b, c, d, e, f, n);
    }
};
struct CostAsk {
    constexpr static FileIdentifier file_identifier = 331;
    std::vector<CostRow> rows;
    std::string text;
    std::uint32_t answerBytes = 0;
    ReplyPromise<std::string> reply;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, rows, text, answerBytes, reply);
    }
};

constexpr int kCostAsk = WLTOKEN_FIRST_AVAILABLE;

Future<Void> answerCosts(RequestStream<CostAsk> asked) {
    for (;;) {
        CostAsk ask = co_await asked.getFuture();
        ask.reply.send(std::string(ask.answerBytes, 'x'));
    }
}

/// A process that others send frames to.
struct CostStage {
    explicit CostStage(RpcOptions options = {}) : node(std::move(options)) {
        listening = node.bind(Address(), Address(0x7F000001, 0));
        at = Address(0x7F000001, node.getLocalAddress().port());
        asked.makeWellKnownEndpoint(kCostAsk, TaskPriority::DefaultEndpoint);
    }
    /// Connects, and has the greeting behind it.
    Future<Reference<Connection>> connect() {
        Reference<Connection> made = co_await net::transport().connect(at, {});
        co_await made->write(StringRef(greetingBytes({currentProtocolVersion(), true})));
        (void)co_await made->readExactly(kGreetingBytes);
        co_return made;
    }

    rpc::Node node;
    Future<Void> listening;
    Address at;
    RequestStream<CostAsk> asked;
};

std::string frame(std::string const& message) {
    std::string out;
    std::size_t begin = beginFrame(out, UID(kWellKnown, kCostAsk), 1);
    out += message;
    finishFrame(out, begin, true);
    return out;
}
/// Rows without members, which all have their defaults, and a text.
std::string askFrame(std::size_t rows, std::string const& text) {
    ObjectWriter writer(AssumeVersion(currentProtocolVersion()));
    writer << CostAsk::file_identifier;
    writer.writeRecord([&] {
        writer << static_cast<std::uint32_t>(rows);
        for (std::size_t i = 0; i < rows; ++i)
            writer << std::uint32_t{0};
        writer << text << std::uint32_t{0};
        writer.writeRecord([&] { writer << std::uint64_t{1}; }); // the place for the reply
    });
    return frame(writer.toString().toString());
}
/// The error in the next frame.
Future<int> nextError(Reference<Connection> connection) {
    Bytes head = co_await connection->readExactly(kFrameHeaderBytes);
    ParsedFrame parsed = parseFrame(head, {1 << 20, false});
    Bytes body = co_await connection->readExactly(static_cast<std::uint32_t>(parsed.needed - kFrameHeaderBytes));
    ObjectReader reader(body, Unversioned());
    bool isUnknown = false;
    ErrorOr<std::string> reply = readReply<std::string>(reader, isUnknown);
    co_return reply.isError() ? reply.getError().code() : 0;
}
/// The bytes that this thread has moved until the frames were answered, or waited for their receiver.
Future<std::size_t> movedFor(std::size_t bytes) {
    RpcOptions options;
    options.backlogBytes = 20'000;
    CostStage stage(options);
    Reference<Connection> connection = co_await stage.connect();
    std::string all = askFrame(0, std::string(bytes / 2, 'x'));
    while (all.size() < bytes)
        all += askFrame(0, std::string(1000, 'x'));
    std::uint64_t frames = 1 + (bytes / 2 + 1099) / 1100;
    std::size_t before = allMovedBytes();
    (void)connection->write(StringRef(all));
    FutureStream<CostAsk> asks = stage.asked.getFuture();
    for (std::uint64_t i = 0; i + 20 < frames; ++i) {
        CostAsk ask = co_await asks;
        ask.reply.reset();
    }
    co_return allMovedBytes() - before;
}

void onCostLoop(Future<Void> (*test)()) {
    Balance balance;
    RealLoop loop;
    loop.run(test());
}

} // namespace

TEST_CASE("rpc costs: a frame of four bytes a struct does not become large") {
    onCostLoop([]() -> Future<Void> {
        CostStage stage;
        Future<Void> answering = answerCosts(stage.asked);
        Reference<Connection> connection = co_await stage.connect();
        for (std::size_t count : {1000, 1'000'000, 10}) {
            std::string bytes = askFrame(count, "");
            std::int64_t before = usedBytes();
            co_await connection->write(StringRef(bytes));
            std::int64_t most = 0;
            Future<int> error = nextError(connection);
            while (!error.isReady()) {
                most = std::max(most, usedBytes() - before);
                co_await delay(0.0002);
            }
            CHECK(error.get() == (count == 1'000'000 ? error_code_value_too_large : 0));
            CHECK(most <= 5 * static_cast<std::int64_t>(bytes.size()) + 1'000'000);
        }
        CHECK(stage.node.counters().malformedMessages == 1);
        CHECK(stage.node.counters().brokenConnections == 0);
    });
}

TEST_CASE("rpc costs: the limit of requests that wait counts the memory of their elements") {
    onCostLoop([]() -> Future<Void> {
        RpcOptions options;
        options.backlogBytes = 1'000'000;
        options.elementsPerByte = 1000;
        CostStage stage(options); // which takes none
        FutureStream<CostAsk> untaken = stage.asked.getFuture();
        Reference<Connection> connection = co_await stage.connect();
        std::string one = askFrame(1000, ""), all;
        for (int i = 0; i < 200; ++i) // 800 KB that would need 40 MB
            all += one;
        std::int64_t before = usedBytes();
        Future<Void> writing = connection->write(StringRef(all));
        while (stage.node.counters().framesReceived < 4)
            co_await delay(0.001);
        co_await delay(0.05);
        CHECK(stage.node.counters().framesReceived < 20);
        CHECK(usedBytes() - before <= 4'000'000);
    });
}

TEST_CASE("rpc costs: bytes are moved a few times at most, in frames of all sizes, also where they wait") {
    auto moved = [](std::size_t bytes) {
        RealLoop loop;
        return loop.run(movedFor(bytes));
    };
    std::size_t one = moved(1'000'000), two = moved(2'000'000);
    CHECK(one <= 2 * 1'000'000); // how much of it depends on how much comes at a time
    CHECK(static_cast<double>(two) <= 2.2 * static_cast<double>(std::max<std::size_t>(one, 1'000'000)));
}

TEST_CASE("rpc costs: a frame that comes needs at most three times the memory of what has come") {
    onCostLoop([]() -> Future<Void> {
        CostStage stage;
        Reference<Connection> connection = co_await stage.connect();
        std::string bytes = askFrame(0, std::string(4'000'000, 'x'));
        std::int64_t before = usedBytes();
        for (std::size_t at = 0; at + 1 < bytes.size(); at += 50'000) {
            co_await connection->write(
                StringRef(bytes.substr(at, std::min<std::size_t>(50'000, bytes.size() - 1 - at))));
            co_await delay(0.0005);
            CHECK(usedBytes() - before <= 3 * static_cast<std::int64_t>(at + 50'000) + 512 * 1024);
        }
    });
}

TEST_CASE("rpc costs: a request, or an answer, that is too large for the other side fails at once") {
    auto serve = []() -> Future<Void> {
        RequestStream<CostAsk> asked;
        asked.makeWellKnownEndpoint(kCostAsk, TaskPriority::DefaultEndpoint);
        co_await answerCosts(asked);
    };
    auto ask = [](std::uint32_t bytes, std::uint32_t answerBytes) -> Future<int> {
        CostAsk question;
        question.text = std::string(bytes, 'x');
        question.answerBytes = answerBytes;
        RequestStream<CostAsk> asked(Endpoint::wellKnown({TwoProcesses::server(), {}}, kCostAsk));
        ErrorOr<std::string> answer = co_await timeoutError(errorOr(asked.getReply(question)), 2);
        co_return answer.isError() ? answer.getError().code() : 0;
    };
    RpcOptions options;
    options.largestMessage = 10'000;
    TwoProcesses::run(
        serve,
        [ask, options]() -> Future<Void> {
            rpc::Node node(options);
            CHECK(co_await ask(1000, 1000) == 0);
            CHECK(co_await ask(1000, 20'000) == error_code_value_too_large); // the server does not send it
            CHECK(co_await ask(20'000, 1000) == error_code_value_too_large); // nor this side that
            CHECK(co_await ask(1000, 1000) == 0);
        },
        options);
}

TEST_CASE("rpc costs: what one side sends and the other does not take fails at once, and the connection stays") {
    onCostLoop([]() -> Future<Void> {
        RpcOptions options;
        options.largestMessage = 10'000;
        options.elementsPerByte = 1;
        CostStage stage(options);
        Future<Void> answering = answerCosts(stage.asked);
        Reference<Connection> connection = co_await stage.connect();
        std::string tooLarge = askFrame(0, std::string(300'000, 'x')), right = askFrame(0, "x");
        co_await connection->write(StringRef(tooLarge + right + tooLarge + right));
        std::vector<int> errors; // in any order
        for (int i = 0; i < 4; ++i)
            errors.push_back(co_await nextError(connection));
        std::sort(errors.begin(), errors.end());
        CHECK(errors == std::vector<int>{0, 0, error_code_value_too_large, error_code_value_too_large});
        CHECK(stage.node.counters().malformedMessages == 2);
        CHECK(stage.node.counters().brokenConnections == 0);
        tooLarge[200'000] = 'y'; // its checksum is wrong
        co_await connection->write(StringRef(tooLarge));
        ErrorOr<int> end = co_await errorOr(nextError(connection));
        CHECK(end.isError());
        CHECK(stage.node.counters().brokenConnections == 1);
    });
}

TEST_CASE("rpc costs: an answer that the asking side does not take") {
    onCostLoop([]() -> Future<Void> {
        RpcOptions options;
        options.largestMessage = 1000;
        rpc::Node node(options);
        Reference<Listener> listener = net::transport().listen(Address(0x7F000001, 0), {});
        auto serving = [](Reference<Listener> listener) -> Future<Void> { // with larger limits
            Reference<Connection> connection = co_await listener->accept();
            co_await connection->write(StringRef(greetingBytes({currentProtocolVersion(), true})));
            (void)co_await connection->readExactly(kGreetingBytes);
            for (std::size_t bytes : {100'000, 10}) {
                Bytes head = co_await connection->readExactly(kFrameHeaderBytes);
                ParsedFrame parsed = parseFrame(head, {1 << 20, false});
                (void)co_await connection->readExactly(static_cast<std::uint32_t>(parsed.needed - kFrameHeaderBytes));
                std::uint64_t reply = 0;
                std::memcpy(&reply, head.begin() + kFrameHeaderBytes - sizeof(reply), sizeof(reply));
                ObjectWriter writer(Unversioned());
                writeReply<std::string>(writer, std::string(bytes, 'x'));
                std::string out;
                std::size_t begin = beginFrame(out, UID(0, reply), 0);
                out += writer.toString().toString();
                finishFrame(out, begin, true);
                co_await connection->write(StringRef(out));
            }
            co_await Future<Void>(Never());
        }(listener);
        RequestStream<CostAsk> asked(Endpoint::wellKnown({listener->localAddress(), {}}, kCostAsk));
        ErrorOr<std::string> first = co_await timeoutError(errorOr(asked.getReply(CostAsk())), 20);
        CHECK(first.isError(error_code_value_too_large));
        std::string second = co_await timeoutError(asked.getReply(CostAsk()), 20);
        CHECK(second == std::string(10, 'x'));
    });
}
