// What a server gets to know when a caller gives up before the reply has come.

#include "flow/base/uid.h"
#include "flow/combine/errors.h"
#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/object.h"
#include "flow/tasks/scope.h"
#include "flow/wait/delay.h"
#include "net/rpc/service.h"
#include "net/transport.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"
#include "tests/flow/support/death.h"
#include "tests/net/rpc/two_processes.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using test::TwoProcesses;

namespace {

struct Dig {
    using Reply = int;
    static constexpr char const* name = "test/dig";
    int number = 0;
    double seconds = 1000;
};
struct DigToEnd : Dig {
    static constexpr char const* name = "test/dig to the end";
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, number, seconds);
    }
};
DigToEnd toEnd(int number, double seconds) {
    DigToEnd dig;
    dig.number = number;
    dig.seconds = seconds;
    return dig;
}

/// A request of a stream.
struct DigShift {
    constexpr static FileIdentifier file_identifier = 1301;
    static constexpr bool tellsAbandoned = true;
    int number = 0;
    double seconds = 1000;
    ReplyPromise<int> reply = {};
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, number, seconds, reply);
    }
};
constexpr int kDigShift = WLTOKEN_FIRST_AVAILABLE;

using Numbers = std::vector<int>;
struct Digs {
    Numbers begun, ended, cancelled;
};
Digs digs; // the server's, in the thread of the client

struct OneDig {
    explicit OneDig(int n) : number(n) { digs.begun.push_back(n); }
    ~OneDig() { (isDone ? digs.ended : digs.cancelled).push_back(number); }
    int number;
    bool isDone = false;
};
Future<int> dig(int number, double seconds) {
    OneDig one(number);
    co_await delay(seconds);
    one.isDone = true;
    co_return number;
}
Future<Void> digShift(DigShift shift) {
    OneDig one(shift.number);
    auto first = co_await race(shift.reply.onAbandoned(), delay(shift.seconds));
    one.isDone = first.index() == 1;
    CHECK(shift.reply.isAbandoned() == !one.isDone);
    if (one.isDone)
        shift.reply.send(shift.number);
}

Future<Void> serveShifts(RequestStream<DigShift> shifts) {
    Scope running;
    FutureStream<DigShift> arriving = shifts.getFuture();
    for (;;) {
        DigShift next = co_await arriving;
        running.spawn(digShift(next));
    }
}
Future<Void> serveDigs() {
    RequestStream<DigShift> shifts;
    shifts.makeWellKnownEndpoint(kDigShift, TaskPriority::DefaultEndpoint);
    co_await race(serveShifts(shifts),
                  rpc::serve(rpc::Node::current(), [](Dig d) { return dig(d.number, d.seconds); }));
}

Future<Void> untilCancelled(std::size_t count) {
    while (digs.cancelled.size() < count)
        co_await delay(0.001);
}
Future<Void> untilBegun(std::size_t count) {
    while (digs.begun.size() < count)
        co_await delay(0.001);
}

/// Gives up calls in each way. Each call but the last one has begun before.
Future<Void> giveUpCalls(Address server) {
    digs = {};
    Future<int> call = rpc::call(server, Dig{1});
    co_await untilBegun(1);
    call = {};
    Future<ErrorOr<int>> tried = rpc::tryCall(server, Dig{2});
    co_await untilBegun(2);
    tried.cancel();
    call = rpc::call(std::vector<Address>{server}, Dig{3});
    co_await untilBegun(3);
    call = {};
    Future<int> late = rpc::call(server, Dig{4});
    auto first = co_await race(std::move(late), untilBegun(4));
    CHECK(first.index() == 1);
    co_await untilCancelled(4);
    CHECK(digs.cancelled == Numbers{1, 2, 3, 4});
    CHECK(co_await rpc::call(server, Dig{5, 0.001}) == 5);
    call = rpc::call(server, Dig{6});
    call = {};
    CHECK(co_await rpc::call(server, Dig{7, 0.001}) == 7); // of the same connection, after them
    CHECK(digs.cancelled.size() == digs.begun.size() - 2); // 6 was cancelled, or has not begun
    CHECK(digs.ended == Numbers{5, 7});
}

/// The same with requests of a stream.
Future<Void> giveUpShifts(RequestStream<DigShift> server) {
    digs = {};
    DigShift one{1}, two{2}, three{3}, four{4}, short5{5, 0.001}, short6{6, 0.001}, short7{7, 0.001};
    Future<int> reply = server.getReply(one);
    co_await untilBegun(1);
    reply = {};
    Future<ErrorOr<int>> tried = server.tryGetReply(two);
    co_await untilBegun(2);
    tried = {};
    tried = server.getReplyUnlessFailedFor(three, 10, 0);
    co_await untilBegun(3);
    tried.cancel();
    reply = server.getReply(four); // dropped before the server reads it
    reply = {};
    co_await untilCancelled(4);
    CHECK(digs.cancelled == Numbers{1, 2, 3, 4});
    server.send(short5); // nothing has waited for its reply: it is not abandoned
    CHECK(co_await server.getReply(short6) == 6);
    Future<int> own = short7.reply.getFuture();
    Future<int> dropped = server.getReply(short7); // the copy may wait
    dropped = {};
    CHECK(co_await own == 7);
    while (digs.ended.size() < 3)
        co_await delay(0.001);
    CHECK(digs.ended == Numbers{5, 6, 7});
    CHECK(digs.cancelled.size() == 4);
}

} // namespace

TEST_CASE("abandoned: each way to give up reaches another process") {
    test::Balance balance;
    TwoProcesses::run(serveDigs, []() -> Future<Void> {
        auto node = std::make_unique<rpc::Node>();
        Address server = TwoProcesses::server();
        co_await giveUpCalls(server);
        co_await giveUpShifts(RequestStream<DigShift>(Endpoint::wellKnown({server, {}}, kDigShift)));
        // A deadline does.
        digs = {};
        ErrorOr<int> late = co_await errorOr(timeoutError(rpc::call(server, Dig{1}), 1.0));
        CHECK(late.isError(error_code_timed_out));
        co_await delay(0.1);
        CHECK(digs.cancelled == Numbers{1});
        // The end of the connection does, and the next one is another: there the same numbers are given again.
        digs = {};
        RequestStream<DigShift> shifts(Endpoint::wellKnown({server, {}}, kDigShift));
        DigShift two{2}, four{4, 1};
        Future<int> lostCall = rpc::call(server, Dig{1}), lostShift = shifts.getReply(two);
        co_await delay(1);
        node.reset();
        node = std::make_unique<rpc::Node>();
        Future<int> nextCall = rpc::call(server, Dig{3, 1});
        Future<int> nextShift = RequestStream<DigShift>(shifts.getEndpoint()).getReply(four);
        co_await untilBegun(4);
        lostCall = {};
        lostShift = {};
        CHECK(co_await nextCall == 3);
        CHECK(co_await nextShift == 4);
        CHECK(digs.cancelled.size() == 2);
        CHECK(digs.ended.size() == 2);
    });
}

TEST_CASE("abandoned: over sockets, and within a process") {
    test::Balance balance;
    RealLoop loop;
    loop.run([]() -> Future<Void> {
        rpc::Node node;
        Future<Void> listening = node.bind(Address(), Address(0x7F000001, 0)); // reached by a second address
        Address at(0x7F000001, node.getLocalAddress().port());
        Future<Void> served = serveDigs();
        for (Address server : {at, Address()}) {
            co_await giveUpCalls(server);
            co_await giveUpShifts(RequestStream<DigShift>(Endpoint::wellKnown({server, {}}, kDigShift)));
        }
        RequestStream<DigShift> own;
        served = serveShifts(own);
        co_await giveUpShifts(own);
    }());
}

TEST_CASE("abandoned: at any time, a call has ended or its handler is cancelled") {
    test::Balance balance;
    digs = {};
    TwoProcesses::run(serveDigs, []() -> Future<Void> {
        for (int i = 0; i < 200; ++i) {
            Future<int> call = rpc::call(TwoProcesses::server(), Dig{i, 0.002});
            co_await delay(0.0001 * i);
        }
        co_await delay(1);
        CHECK(digs.begun.size() == digs.ended.size() + digs.cancelled.size());
        CHECK(digs.cancelled.size() > 10);
        CHECK(digs.ended.size() > 100);
    });
    test::Traits traits{.runsOn = true, .hasHandlers = true}; // the handler is cancelled in a later turn
    auto make = [](test::Inputs& in) {
        if (!Loop::current().service<rpc::Node>())
            (void)in.keep<Future<Void>>(rpc::serve(in.keep<rpc::Node>(), [&in](Dig) { return in.number(0); }));
        return rpc::call(Address(), Dig());
    };
    test::cancelEverywhere("a call of the same process", make, traits);
}

TEST_CASE("abandoned: of several servers, those that are late are cancelled") {
    test::Balance balance;
    digs = {};
    TwoProcesses::run(serveDigs, []() -> Future<Void> {
        rpc::Node node; // a second server, in the process of the client
        Address here = net::transport().localAddress().withPort(4501);
        Future<Void> listening = node.bind(here, here);
        Future<Void> served = rpc::serve(node, [](Dig d) { return dig(-d.number, 1000); });
        std::vector<Address> servers{TwoProcesses::server(), here};
        for (int i = 1; i <= 8; ++i)
            CHECK(co_await rpc::call(servers, Dig{i, 0.2}) == i);
        Future<int> call = rpc::call(servers, Dig{9});
        co_await delay(1);
        call = {};
        co_await delay(1);
        CHECK(digs.ended == Numbers{1, 2, 3, 4, 5, 6, 7, 8});
        CHECK(digs.cancelled.size() == digs.begun.size() - 8);
        CHECK(digs.cancelled.size() >= 10); // each call asks the slow server, first or second
    });
}

TEST_CASE("abandoned: handlers that run to their end") {
    test::Balance balance;
    digs = {};
    TwoProcesses::run(
        []() -> Future<Void> {
            rpc::Node& node = rpc::Node::current();
            Future<Void> served = rpc::serve(node, {.atATime = 1, .runsToEnd = true},
                                             [](DigToEnd d) { return dig(d.number, d.seconds); });
            co_await delay(100);
            CHECK(digs.cancelled.empty());
            served = {}; // this cancels them
            co_await delay(1000);
        },
        []() -> Future<Void> {
            Address server = TwoProcesses::server();
            auto node = std::make_unique<rpc::Node>();
            Future<int> dropped = rpc::call(server, toEnd(1, 5));
            co_await delay(1);
            Future<int> waiting = rpc::call(server, toEnd(2, 5));
            Future<int> last = rpc::call(server, toEnd(3, 5));
            co_await delay(1);
            dropped = {};
            waiting = {};
            CHECK(co_await last == 3);
            CHECK(now() > 10); // it waited for the first
            CHECK(digs.ended == Numbers{1, 3});
            last = rpc::call(server, toEnd(4, 5));
            co_await delay(1);
            node.reset();
            co_await delay(10);
            CHECK(digs.ended == Numbers{1, 3, 4});
            ErrorOr<int> cut = co_await errorOr(rpc::call(server, toEnd(5, 1000)));
            CHECK(cut.isError(error_code_broken_promise));
            CHECK(digs.cancelled == Numbers{5});
        });
}

namespace {

std::string callFrame(Dig dig, std::uint64_t reply) {
    ObjectWriter writer(AssumeVersion(currentProtocolVersion()));
    writer << rpc::Call<Dig>::file_identifier;
    writer.writeRecord([&] {
        writer << dig;
        writer.writeRecord([&] { writer << reply; });
    });
    std::string out;
    std::size_t begin = beginFrame(out, rpc::Call<Dig>::at({}).token, reply);
    out += writer.toString().toString();
    finishFrame(out, begin, true);
    return out;
}
std::string dropFrame(std::uint64_t reply) {
    std::string out;
    finishFrame(out, beginFrame(out, UID(kWellKnown, kDroppedCall), reply), true);
    return out;
}
/// Writes frames, then a call, and waits until that is answered: so the frames have been read.
Future<Void> writeAll(Reference<Connection> connection, std::string frames) {
    frames += callFrame({0, 0}, 99);
    std::size_t ended = digs.ended.size();
    co_await connection->write(StringRef(frames));
    while (digs.ended.size() == ended)
        co_await delay(0.001);
    co_await delay(0); // the turn in which a dropped handler is cancelled
}
Future<Reference<Connection>> greeted(Address at) {
    Reference<Connection> connection = co_await net::transport().connect(at, {});
    std::string greeting = greetingBytes({currentProtocolVersion(), true});
    co_await connection->write(StringRef(greeting));
    co_return connection;
}

} // namespace

TEST_CASE("abandoned: a cancel that is late, or of another connection, ends nothing else") {
    test::Balance balance;
    digs = {};
    RealLoop loop;
    loop.run([]() -> Future<Void> {
        rpc::Node node;
        Future<Void> listening = node.bind(Address(), Address(0x7F000001, 0));
        Address at(0x7F000001, node.getLocalAddress().port());
        Future<Void> served = serveDigs();
        Reference<Connection> a = co_await greeted(at), b = co_await greeted(at);
        co_await writeAll(a, callFrame({1}, 5) + callFrame({2}, 6));
        co_await writeAll(b, callFrame({3}, 5));
        co_await writeAll(a, dropFrame(5));
        co_await untilCancelled(1);
        co_await writeAll(a, dropFrame(5) + dropFrame(0) + dropFrame(7) + dropFrame(99)); // ended, unknown, answered
        CHECK(digs.cancelled == Numbers{1});
        // A number that comes again: the earlier cancel was of the earlier call.
        co_await writeAll(a, callFrame({4}, 5));
        CHECK(digs.cancelled == Numbers{1});
        a->close(); // and the calls of `b` go on
        co_await untilCancelled(3);
        Reference<Connection> c = co_await greeted(at);
        co_await writeAll(c, callFrame({5}, 5) + callFrame({6}, 6));
        co_await writeAll(b, dropFrame(6) + dropFrame(5)); // of the connection before
        co_await untilCancelled(4);
        CHECK(digs.cancelled.back() == 3);
        co_await writeAll(c, dropFrame(6));
        co_await untilCancelled(5);
        CHECK(digs.cancelled.back() == 6);
        co_await delay(0.01);
        CHECK(digs.cancelled.size() == 5); // 5 goes on
    }());
}

TEST_CASE("abandoned: only for requests that tell it") {
    RealLoop loop;
    ReplyPromise<int> promise;
    CHECK_NAMES_CALLER((void)promise.onAbandoned());
    CHECK_DIES((void)promise.isAbandoned(), "only if its type has `tellsAbandoned = true`");
}
