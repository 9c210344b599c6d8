#include "net/rpc/reply_promise_stream.h"

#include "net/rpc/request_stream.h"
#include "tests/net/rpc/two_processes.h"

#include "flow/compat/collection.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/object.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace flow;
using namespace flow::net;
using test::TwoProcesses;

namespace {

struct Row : ReplyPromiseStreamReply {
    constexpr static FileIdentifier file_identifier = 101;
    int index = 0;
    Row() = default;
    explicit Row(int i) : index(i) {}
    std::size_t expectedSize() const { return 1000; }
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, acknowledgeToken, sequence, index);
    }
};

struct Scan {
    constexpr static FileIdentifier file_identifier = 102;
    int rows = 0;
    ReplyPromiseStream<Row> reply;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, rows, reply);
    }
};

constexpr int kScan = WLTOKEN_FIRST_AVAILABLE;

/// What the server has seen: it is the same thread.
struct Seen {
    int sent = 0;
    int obsolete = 0;
};
Seen seen;

/// No more than three rows ahead. With a negative number of rows it drops the request after them.
Future<Void> answer(Scan scan) {
    scan.reply.setByteLimit(3000);
    try {
        for (int i = 0; i < std::abs(scan.rows); ++i) {
            co_await scan.reply.onReady();
            scan.reply.send(Row(i));
            ++seen.sent;
        }
        if (scan.rows >= 0)
            scan.reply.sendError(end_of_stream());
    } catch (Error& error) {
        if (error.code() != error_code_operation_obsolete)
            throw;
        ++seen.obsolete;
    }
}

Future<Void> serveScans() {
    RequestStream<Scan> scans;
    scans.makeWellKnownEndpoint(kScan, TaskPriority::DefaultEndpoint);
    ActorCollection running;
    for (;;)
        running.add(answer(co_await scans.getFuture()));
}

Scan scanOf(int rows) {
    Scan scan;
    scan.rows = rows;
    return scan;
}

/// The error behind what is left of it.
Future<int> codeBehind(FutureStream<Row> rows) {
    int code = 0;
    try {
        for (;;)
            (void)co_await rows;
    } catch (Error& error) {
        code = error.code();
    }
    co_return code;
}

Future<Void> scanInOrder(RequestStream<Scan> scans) {
    ReplyPromiseStream<Row> rows = scans.getReplyStream(scanOf(50));
    FutureStream<Row> in = rows.getFuture();
    for (int i = 0; i < 50; ++i) {
        Row row = co_await in;
        CHECK(row.index == i);
        CHECK(seen.sent <= i + 5);
        if (i % 10 == 0)
            co_await delay(1); // the server waits meanwhile
    }
    CHECK(co_await codeBehind(in) == error_code_end_of_stream);
}

RequestStream<Scan> remoteScans() {
    return RequestStream<Scan>(Endpoint::wellKnown({TwoProcesses::server(), {}}, kScan));
}

} // namespace

TEST_CASE("reply promise stream: in order, and no further ahead than the limit") {
    seen = {};
    TwoProcesses::run(serveScans, [] { return scanInOrder(remoteScans()); });
    CHECK(seen.sent == 50);
    CHECK(seen.obsolete == 0);
}

TEST_CASE("reply promise stream: a server that drops it, a client that drops it") {
    seen = {};
    TwoProcesses::run(serveScans, []() -> Future<Void> {
        RequestStream<Scan> scans = remoteScans();
        ReplyPromiseStream<Row> rows = scans.getReplyStream(scanOf(-2));
        CHECK((co_await rows.getFuture()).index == 0);
        CHECK((co_await rows.getFuture()).index == 1);
        CHECK(co_await codeBehind(rows.getFuture()) == error_code_broken_promise);
        rows = scans.getReplyStream(scanOf(100));
        CHECK((co_await rows.getFuture()).index == 0);
        rows.reset();
        co_await delay(5);
        CHECK(seen.obsolete == 1);
        // By its FutureStream alone.
        FutureStream<Row> in = scans.getReplyStream(scanOf(100)).getFuture();
        CHECK((co_await in).index == 0);
        CHECK((co_await in).index == 1);
        in = FutureStream<Row>();
        co_await delay(5);
        CHECK(seen.obsolete == 2);
    });
}

TEST_CASE("reply promise stream: the connection ends") {
    seen = {};
    TwoProcesses::run(serveScans, []() -> Future<Void> {
        ReplyPromiseStream<Row> rows = remoteScans().getReplyStream(scanOf(100));
        FutureStream<Row> in = rows.getFuture();
        CHECK((co_await in).index == 0);
        TwoProcesses::killServer();
        CHECK(co_await codeBehind(in) == error_code_connection_failed);
    });
}

TEST_CASE("reply promise stream: within a process") {
    seen = {};
    RealLoop loop;
    loop.run([]() -> Future<Void> {
        RequestStream<Scan> scans;
        auto serving = [](RequestStream<Scan> served) -> Future<Void> {
            ActorCollection running;
            for (;;)
                running.add(answer(co_await served.getFuture()));
        }(scans);
        ReplyPromiseStream<Row> rows = scans.getReplyStream(scanOf(50));
        FutureStream<Row> in = rows.getFuture();
        for (int i = 0; i < 50; ++i) {
            CHECK((co_await in).index == i);
            CHECK(seen.sent <= i + 5);
        }
        CHECK(co_await codeBehind(in) == error_code_end_of_stream);
    }());
}
