#include "net/rpc/request_stream.h"

#include "flow/base/uid.h"
#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/compat/wait_for_all.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/binary.h"
#include "flow/memory/object.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/sim/sim_network.h"
#include "net/transport.h"
#include "tests/flow/support/balance.h"
#include "tests/net/rpc/two_processes.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using test::TwoProcesses;

namespace {

struct Echo {
    constexpr static FileIdentifier file_identifier = 1;
    std::string text;
    ReplyPromise<std::string> reply;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, text, reply);
    }
};

/// The same place, other bytes.
struct Other {
    constexpr static FileIdentifier file_identifier = 2;
    int number = 0;
    ReplyPromise<int> reply;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, number, reply);
    }
};

struct Service {
    constexpr static FileIdentifier file_identifier = 3;
    RequestStream<Echo> echo;
    RequestStream<Other> other;
    RequestStream<ReplyPromise<Void>> ping; // a request that is no more than its reply
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, echo, other, ping);
    }
};

struct GetService {
    constexpr static FileIdentifier file_identifier = 4;
    ReplyPromise<Service> reply;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, reply);
    }
};

constexpr int kGetService = WLTOKEN_FIRST_AVAILABLE;

/// "drop" drops the request, "hold" keeps it, "fail" answers with an error.
Future<Void> serve(Service service) {
    RequestStream<GetService> get;
    get.makeWellKnownEndpoint(kGetService, TaskPriority::DefaultEndpoint);
    std::vector<Echo> held;
    FutureStream<GetService> gets = get.getFuture();
    FutureStream<Echo> echoes = service.echo.getFuture();
    FutureStream<Other> others = service.other.getFuture();
    FutureStream<ReplyPromise<Void>> pings = service.ping.getFuture();
    for (;;) {
        auto next = co_await race(gets, echoes, others, pings);
        if (next.index() == 0) {
            std::get<0>(next).reply.send(service);
        } else if (next.index() == 1) {
            Echo request = std::get<1>(std::move(next));
            if (request.text == "hold")
                held.push_back(request);
            else if (request.text == "fail")
                request.reply.sendError(key_too_large());
            else if (request.text != "drop")
                request.reply.send(request.text);
        } else if (next.index() == 2) {
            std::get<2>(next).reply.send(2 * std::get<2>(next).number);
        } else {
            std::get<3>(next).send(Void());
        }
    }
}

Future<Void> serveNew() {
    return serve(Service());
}

Future<Service> connectTo(Address server) {
    RequestStream<GetService> get(Endpoint::wellKnown({server, {}}, kGetService));
    co_return co_await get.getReply();
}

Echo echoOf(std::string text) {
    Echo echo;
    echo.text = std::move(text);
    return echo;
}
Other otherOf(int number) {
    Other other;
    other.number = number;
    return other;
}

template <class T>
Future<int> codeOf(Future<T> future) {
    ErrorOr<T> result = co_await tryGet(std::move(future));
    co_return result.isError() ? result.getError().code() : 0;
}
template <class T>
Future<int> codeOf(Future<ErrorOr<T>> future) {
    ErrorOr<T> result = co_await std::move(future);
    co_return result.isError() ? result.getError().code() : 0;
}

} // namespace

TEST_CASE("request stream: requests and replies between processes") {
    test::Balance balance;
    TwoProcesses::run(serveNew, []() -> Future<Void> {
        Service service = co_await connectTo(TwoProcesses::server());
        CHECK(co_await service.echo.getReply(echoOf("hello")) == "hello");
        CHECK(co_await service.other.getReply(otherOf(21)) == 42);
        std::vector<Future<int>> many;
        for (int i = 0; i < 1000; ++i)
            many.push_back(service.other.getReply(otherOf(i)));
        co_await waitForAll(many);
        for (int i = 0; i < 1000; ++i)
            CHECK(many[static_cast<std::size_t>(i)].get() == 2 * i);
        CHECK(rpc::Node::current().counters().flushes < 100);
        std::string large(3'000'000, 'x');
        CHECK(co_await service.echo.getReply(echoOf(large)) == large);
        // One way, with a reply that is waited for all the same.
        Echo echo = echoOf("later");
        Future<std::string> later = echo.reply.getFuture();
        service.echo.send(echo);
        CHECK(co_await std::move(later) == "later");
        co_await service.ping.getReply();
        CHECK((co_await service.ping.tryGetReply(ReplyPromise<Void>())).present());
        CHECK((co_await service.ping.getReplyUnlessFailedFor(ReplyPromise<Void>(), 1.0, 0.0)).present());
        ReplyPromise<Void> pong;
        service.ping.send(pong);
        co_await pong.getFuture();
        resetReply(pong);
        CHECK_FALSE(getReplyPromise(pong).isSet());
        Future<Void> dropped = service.ping.getReply(pong);
        dropped = Future<Void>();
        co_await service.ping.getReply();
    });
}

TEST_CASE("request stream: each way in which a request fails has its error") {
    TwoProcesses::run(serveNew, []() -> Future<Void> {
        Service service = co_await connectTo(TwoProcesses::server());
        CHECK(co_await codeOf(service.echo.getReply(echoOf("drop"))) == error_code_broken_promise);
        CHECK(co_await codeOf(service.echo.tryGetReply(echoOf("drop"))) == error_code_request_maybe_delivered);
        CHECK(co_await codeOf(service.echo.getReplyUnlessFailedFor(echoOf("drop"), 1, 0)) ==
              error_code_request_maybe_delivered);
        CHECK(co_await codeOf(service.echo.tryGetReply(echoOf("fail"))) == error_code_key_too_large);
        Endpoint nowhere = service.echo.getEndpoint();
        nowhere.token = UID(nowhere.token.first() + 1, nowhere.token.second());
        CHECK(co_await codeOf(RequestStream<Echo>(nowhere).getReply(echoOf("x"))) == error_code_broken_promise);
        CHECK(co_await codeOf(RequestStream<Echo>(nowhere).tryGetReply(echoOf("x"))) ==
              error_code_request_maybe_delivered);
        CHECK(FailureMonitor::failureMonitor().onlyEndpointFailed(nowhere));
        CHECK(FailureMonitor::failureMonitor().getState(service.echo.getEndpoint()).isAvailable());
        RequestStream<Other> wrongType(service.echo.getEndpoint());
        CHECK(co_await codeOf(wrongType.getReply(otherOf(1))) == error_code_serialization_failed);
        CHECK(co_await codeOf(service.echo.getReply(echoOf(std::string(65 << 20, 'x')))) == error_code_value_too_large);
        CHECK(co_await service.echo.getReply(echoOf("still there")) == "still there");
    });
}

TEST_CASE("request stream: without the server, requests fail or wait for it, by the kind of the call") {
    TwoProcesses::run(serveNew, []() -> Future<Void> {
        Service service = co_await connectTo(TwoProcesses::server());
        Future<ErrorOr<std::string>> once = service.echo.tryGetReply(echoOf("hold"));
        Future<ErrorOr<std::string>> unless = service.echo.getReplyUnlessFailedFor(echoOf("hold"), 3, 0);
        Future<std::string> ever = service.echo.getReply(echoOf("hold"));
        Future<Void> disconnected = FailureMonitor::failureMonitor().onDisconnectOrFailure(service.echo.getEndpoint());
        co_await delay(1);
        TwoProcesses::killServer();
        CHECK(co_await codeOf(std::move(once)) == error_code_request_maybe_delivered);
        co_await std::move(disconnected);
        CHECK(FailureMonitor::failureMonitor().getState(service.echo.getEndpoint()).isFailed());
        double before = now();
        CHECK(co_await codeOf(std::move(unless)) == error_code_request_maybe_delivered);
        CHECK(now() - before > 2.5);
        CHECK(!ever.isReady());
        Future<Service> again = connectTo(TwoProcesses::server());
        TwoProcesses::restartServer();
        // Its token is another one now: the old endpoint does not exist any more.
        CHECK(co_await codeOf(std::move(ever)) == error_code_broken_promise);
        service = co_await std::move(again);
        CHECK(co_await service.echo.getReply(echoOf("new")) == "new");
        CHECK(FailureMonitor::failureMonitor().getState(service.echo.getEndpoint()).isAvailable());
    });
}

TEST_CASE("request stream: a server that says nothing is noticed, and a partition that heals loses no request") {
    TwoProcesses::run(serveNew, []() -> Future<Void> {
        Service service = co_await connectTo(TwoProcesses::server());
        TwoProcesses::partition();
        ErrorOr<std::string> tried = co_await service.echo.tryGetReply(echoOf("lost"));
        CHECK(tried.isError(error_code_request_maybe_delivered));
        Future<std::string> ever = service.echo.getReply(echoOf("found"));
        co_await delay(10);
        CHECK(!ever.isReady());
        TwoProcesses::heal();
        CHECK(co_await std::move(ever) == "found");
    });
}

TEST_CASE("request stream: what has arrived is executed although its connection has ended") {
    std::vector<int> numbers;
    TwoProcesses::run(
        [&numbers]() -> Future<Void> {
            RequestStream<Other> count;
            count.makeWellKnownEndpoint(7, TaskPriority::DefaultEndpoint);
            FutureStream<Other> arriving = count.getFuture();
            co_await delay(20); // it is slow: the first connection is closed when it begins
            CHECK(rpc::Node::current().counters().accepted == 2);
            CHECK(rpc::Node::current().connections() == 1);
            for (;;) {
                Other request = co_await arriving;
                numbers.push_back(request.number);
                Endpoint asker = request.reply.getEndpoint();
                CHECK((asker.isByConnection && asker.getPrimaryAddress() != Address() && !asker.isLocal()));
                request.reply.send(-request.number);
            }
        },
        [&numbers]() -> Future<Void> {
            RequestStream<Other> count(Endpoint::wellKnown({TwoProcesses::server(), {}}, 7));
            Future<ErrorOr<int>> once = count.tryGetReply(otherOf(1));
            Future<int> until = count.getReply(otherOf(2));
            co_await delay(1);
            TwoProcesses::partition();
            ErrorOr<int> failed = co_await std::move(once);
            CHECK(failed.isError(error_code_request_maybe_delivered));
            TwoProcesses::heal();
            CHECK(co_await std::move(until) == -2);
            CHECK((numbers == std::vector<int>{1, 2, 2}));
        });
}

TEST_CASE("request stream: a request to a client goes over the connection that it has made") {
    TwoProcesses::run(
        []() -> Future<Void> {
            RequestStream<Service> offers;
            RequestStream<Other> count;
            offers.makeWellKnownEndpoint(8, TaskPriority::DefaultEndpoint);
            count.makeWellKnownEndpoint(7, TaskPriority::DefaultEndpoint);
            Service client = co_await offers.getFuture();
            CHECK(client.echo.getEndpoint().isByConnection);
            for (;;) {
                Other request = co_await count.getFuture();
                int twice = co_await client.other.getReply(otherOf(request.number));
                request.reply.send(twice + request.number);
            }
        },
        []() -> Future<Void> {
            Service own;
            Future<Void> serving = serve(own);
            Service offered = own;
            RequestStream<Other> count(Endpoint::wellKnown({TwoProcesses::server(), {}}, 7));
            // The server sends a request to the stream in the message.
            RequestStream<Service> offer(Endpoint::wellKnown({TwoProcesses::server(), {}}, 8));
            offer.send(offered);
            CHECK(co_await count.getReply(otherOf(5)) == 15);
        });
}

TEST_CASE("request stream: versions that do not fit are refused on both sides") {
    RpcOptions options;
    options.version = ProtocolVersion(currentProtocolVersion().version() + 0x10000);
    TwoProcesses::run(
        serveNew,
        []() -> Future<Void> {
            RequestStream<GetService> get(Endpoint::wellKnown({TwoProcesses::server(), {}}, kGetService));
            CHECK(co_await codeOf(get.getReply()) == error_code_incompatible_protocol_version);
            CHECK(co_await codeOf(get.tryGetReply()) == error_code_incompatible_protocol_version);
        },
        options);
    options.version = ProtocolVersion(currentProtocolVersion().version() + 1);
    TwoProcesses::run(
        serveNew,
        []() -> Future<Void> {
            Service service = co_await connectTo(TwoProcesses::server());
            CHECK(co_await service.other.getReply(otherOf(1)) == 2);
        },
        options);
}

TEST_CASE("request stream: a request that is dropped at any time leaves nothing, and later ones are answered") {
    TwoProcesses::run([] { return serve(Service()); },
                      []() -> Future<Void> {
                          Service service = co_await connectTo(TwoProcesses::server());
                          for (char const* text : {"hello", "hold", "drop"}) {
                              for (double seconds : {0.0, 0.0001, 0.0005, 0.001, 0.002, 0.1}) {
                                  Future<std::string> dropped = service.echo.getReply(echoOf(text));
                                  Future<ErrorOr<std::string>> tried = service.echo.tryGetReply(echoOf(text));
                                  Future<ErrorOr<std::string>> failed =
                                      service.echo.getReplyUnlessFailedFor(echoOf(text), 1, 0);
                                  if (seconds > 0)
                                      co_await delay(seconds);
                                  dropped = Future<std::string>();
                                  tried = failed = Future<ErrorOr<std::string>>();
                                  CHECK(co_await service.echo.getReply(echoOf("next")) == "next");
                              }
                          }
                      });
}

TEST_CASE("request stream: within a process nothing is serialized") {
    test::Balance balance;
    RealLoop loop;
    loop.run([]() -> Future<Void> {
        Service service;
        Future<Void> serving = serve(service);
        CHECK(co_await service.echo.getReply(echoOf("hello")) == "hello");
        co_await service.ping.getReply();
        // By its endpoint as well.
        RequestStream<Other> same(service.other.getEndpoint());
        CHECK(co_await same.getReply(otherOf(4)) == 8);
        CHECK(co_await codeOf(service.echo.getReply(echoOf("drop"))) == error_code_broken_promise);
        CHECK(co_await codeOf(service.echo.tryGetReply(echoOf("drop"))) == error_code_request_maybe_delivered);
        CHECK(co_await codeOf(RequestStream<Echo>(same.getEndpoint()).getReply(echoOf("x"))) ==
              error_code_broken_promise);
        CHECK((same.getEndpoint().isLocal() && ReplyPromise<Void>().getEndpoint().isLocal()));
        CHECK(rpc::Node::current().counters().framesSent == 0);
        serving = Future<Void>();
        Endpoint gone = service.other.getEndpoint();
        service = Service();
        CHECK(co_await codeOf(RequestStream<Other>(gone).getReply(otherOf(1))) == error_code_broken_promise);
    }());
}

/// Connects while the client's allocation number n fails. Whether there were so many.
Future<bool> connectWithFailure(std::int64_t n) {
    TwoProcesses::failAllocation(n);
    try {
        (void)co_await timeoutError(connectTo(TwoProcesses::server()), 20);
    } catch (...) {
        CHECK(TwoProcesses::hasFailedAllocation());
    }
    TwoProcesses::failAllocation(-1);
    co_return TwoProcesses::hasFailedAllocation();
}

TEST_CASE("request stream: requests arrive after any allocation of the client has failed") {
    bool hasFailed = true;
    for (std::int64_t n = 0; hasFailed; ++n) {
        INFO("allocation ", n);
        TwoProcesses::run([] { return serve(Service()); },
                          [&]() -> Future<Void> {
                              hasFailed = co_await connectWithFailure(n);
                              Service service = co_await timeoutError(connectTo(TwoProcesses::server()), 60);
                              CHECK(co_await timeoutError(service.echo.getReply(echoOf("hello")), 60) == "hello");
                          });
    }
}

TEST_CASE("request stream: a client may end right after any of its allocations has failed") {
    bool hasFailed = true;
    for (std::int64_t n = 0; hasFailed; ++n) {
        INFO("allocation ", n);
        TwoProcesses::run([] { return serve(Service()); },
                          [&]() -> Future<Void> { hasFailed = co_await connectWithFailure(n); });
    }
}

/// Its allocation number n fails in a second in which it reads no requests, so that its stream must grow.
Future<Void> serveLate(std::int64_t n) {
    Service service;
    RequestStream<GetService> get;
    get.makeWellKnownEndpoint(kGetService, TaskPriority::DefaultEndpoint);
    FutureStream<GetService> gets = get.getFuture();
    FutureStream<Echo> echoes = service.echo.getFuture();
    GetService first = co_await gets;
    first.reply.send(service);
    co_await delay(0.5);
    Future<Void> second = delay(1);
    TwoProcesses::failAllocation(n);
    co_await second;
    TwoProcesses::failAllocation(-1);
    for (;;) {
        Echo request = co_await echoes;
        request.reply.send(request.text);
    }
}

TEST_CASE("request stream: requests are answered after any allocation of the server has failed") {
    bool hasFailed = true;
    for (std::int64_t n = 0; hasFailed; ++n) {
        INFO("allocation ", n);
        TwoProcesses::run([n] { return serveLate(n); },
                          [&]() -> Future<Void> {
                              Service service = co_await connectTo(TwoProcesses::server());
                              std::vector<Future<std::string>> replies;
                              co_await delay(0.6);
                              for (int i = 0; i < 20; ++i)
                                  replies.push_back(service.echo.getReply(echoOf(std::to_string(i))));
                              int answers = 0;
                              for (int i = 0; i < 20; ++i) {
                                  auto reply = co_await tryGet(timeoutError(replies[i], 60));
                                  CHECK(!reply.isError(error_code_timed_out));
                                  answers += !reply.isError() && reply.get() == std::to_string(i);
                              }
                              CHECK(answers >= 19);
                              hasFailed = TwoProcesses::hasFailedAllocation();
                          });
    }
}

/// What listens at the port of a service and is none: it says nothing, and closes each connection after a while.
Future<Void> closeEach(Reference<Listener> listener) {
    for (;;) {
        Reference<Connection> client = co_await listener->accept();
        co_await delay(1.5);
    }
}

TEST_CASE("request stream: a server that accepts connections and greets none has failed") {
    World world(1);
    SimNetwork network(world);
    Process& other = world.start({.name = "other", .main = []() -> Future<Void> {
                                      return closeEach(transport().listen(transport().localAddress().withPort(80)));
                                  }});
    Process& asking = world.start({.name = "client", .main = [&]() -> Future<Void> {
                                       rpc::Node rpc;
                                       Endpoint at = Endpoint::wellKnown({Address(other.address(), 80)}, kGetService);
                                       RequestStream<GetService> get(at);
                                       ErrorOr<Service> got =
                                           co_await timeoutError(get.getReplyUnlessFailedFor(GetService(), 2, 0), 30);
                                       CHECK(got.isError(error_code_request_maybe_delivered));
                                       CHECK(FailureMonitor::failureMonitor().getState(at).isFailed());
                                   }});
    world.run(asking.onStop());
    REQUIRE(asking.exit());
    CHECK(!asking.exit()->isValid());
    world.stopAll();
}

TEST_CASE("request stream: over sockets of the machine") {
    test::Balance balance;
    RealLoop loop;
    loop.run([]() -> Future<Void> {
        // One process of two loops would need threads: here the server's streams are reached by a second address.
        rpc::Node node;
        Future<Void> listening = node.bind(Address(), Address(0x7F000001, 0));
        CHECK(!listening.isReady());
        Address at(0x7F000001, node.getLocalAddress().port());
        Future<Void> serving = serve(Service());
        Service service = co_await connectTo(at);
        CHECK(co_await service.echo.getReply(echoOf("hello")) == "hello");
        CHECK(co_await service.other.getReply(otherOf(4)) == 8);
        CHECK(node.connections() == 1);
        CHECK(node.counters().framesSent > 0);
    }());
}
