#include "net/rpc/service.h"

#include "flow/base/error.h"
#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/sim/sim_network.h"
#include "net/transport.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/net/rpc/two_processes.h"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using test::TwoProcesses;

namespace {

struct Greet {
    using Reply = std::string;
    static constexpr char const* name = "test/greet";
    std::string who;
    double after = 0;
};
// gcc 12 copies the bytes of a temporary that Greet{"you"} makes within a co_await (flow/docs/coroutines.md).
Greet named(std::string who, double after = 0) {
    return {std::move(who), after};
}

struct Total {
    struct Reply {
        std::int64_t total = 0;
        std::vector<std::string> words;
    };
    static constexpr char const* name = "test/total";
    std::vector<int> numbers;
};
struct Note {
    using Reply = Void;
    static constexpr char const* name = "test/note";
    int number = 0;
};
struct Unserved {
    using Reply = Void;
    static constexpr char const* name = "test/unserved";
};

struct Handled {
    int begun = 0, ended = 0, running = 0, mostRunning = 0;
    std::vector<int> notes;
};
Handled handled;

struct CountedHandler {
    CountedHandler() {
        ++handled.begun;
        handled.mostRunning = std::max(handled.mostRunning, ++handled.running);
    }
    ~CountedHandler() { --handled.running; }
};

Future<std::string> greet(Greet greet) {
    CountedHandler running;
    co_await delay(greet.after);
    if (greet.who == "nobody")
        throw attribute_not_found();
    if (greet.who == "all")
        co_return std::string(20'000, 'x');
    ++handled.ended;
    co_return "hello " + greet.who;
}

Future<Void> serveAll(rpc::ServeOptions options) {
    std::string prefix = "sum"; // a capture, which lives as long as the future
    co_await rpc::serve(
        rpc::Node::current(), options, greet,
        [&](Total const& total) {
            Total::Reply reply;
            for (int each : total.numbers)
                reply.total += each;
            reply.words = {prefix, std::to_string(reply.total)};
            return reply;
        },
        [](Note note) {
            if (note.number < 0)
                throw Error(error_code_key_too_large);
            if (note.number > 1000)
                throw std::runtime_error("too much");
            handled.notes.push_back(note.number);
        });
}
Future<Void> serveAsUsual() {
    return serveAll({});
}

template <class Request>
Future<int> codeOfCall(Address server, Request request) {
    auto reply = co_await errorOr(rpc::call(server, std::move(request)));
    co_return reply.isError() ? reply.getError().code() : 0;
}

/// The calls that the styles of programs make as well: tests/programs/rpc_service.actor.cpp, tests/net/fiber.
Future<Void> callAll(Address server) {
    CHECK(co_await rpc::call(server, named("you")) == "hello you");
    CHECK(co_await rpc::call(server, named("you", 0.01)) == "hello you");
    Total numbers{{1, 2, 39}};
    Total::Reply total = co_await rpc::call(server, numbers);
    CHECK(total.total == 42);
    CHECK(total.words == std::vector<std::string>{"sum", "42"});
    co_await rpc::call(server, Note{7});
    CHECK(handled.notes == std::vector<int>{7});
    CHECK(co_await codeOfCall(server, named("nobody")) == error_code_attribute_not_found);
    CHECK(co_await codeOfCall(server, Note{-1}) == error_code_key_too_large);
    CHECK(co_await codeOfCall(server, Note{1001}) == error_code_unknown_error);
    CHECK(co_await codeOfCall(server, Unserved()) == error_code_service_not_found);
    ErrorOr<Void> unserved = co_await rpc::tryCall(server, Unserved());
    CHECK(unserved.isError(error_code_service_not_found));
}

} // namespace

TEST_CASE("service: calls of another process") {
    test::Balance balance;
    handled = {};
    RpcOptions options;
    options.largestMessage = 10'000;
    TwoProcesses::run(
        serveAsUsual,
        []() -> Future<Void> {
            Address server = TwoProcesses::server();
            co_await callAll(server);
            CHECK(co_await codeOfCall(server, named("all")) == error_code_value_too_large); // its answer is
            CHECK(co_await codeOfCall(server, named(std::string(20'000, 'y'))) == error_code_value_too_large);
            CHECK(co_await rpc::call(server, named("me")) == "hello me");
        },
        options);
}

TEST_CASE("service: calls of the same process, on sockets, and of others there") {
    test::Balance balance;
    handled = {};
    RealLoop loop;
    loop.run([]() -> Future<Void> {
        rpc::Node node;
        Future<Void> listening = node.bind(Address(0x7F000001, 0), Address(0x7F000001, 0));
        Future<Void> served = serveAsUsual();
        co_await callAll(node.getLocalAddress());
        served = {};
        CHECK(co_await codeOfCall(node.getLocalAddress(), Note{1}) == error_code_service_not_found);
        served = serveAsUsual(); // the names are free again
        CHECK(co_await codeOfCall(node.getLocalAddress(), Note{1}) == 0);
    }());
}

TEST_CASE("service: a dropped call, a deadline, and the end of the handlers") {
    test::Balance balance;
    handled = {};
    TwoProcesses::run(
        []() -> Future<Void> {
            Future<Void> served = serveAsUsual();
            co_await delay(10);
            CHECK(handled.running == 1);
            served = {};
            CHECK(handled.running == 0);
            served = serveAsUsual();
            co_await Future<Void>(Never());
        },
        []() -> Future<Void> {
            Address server = TwoProcesses::server();
            Optional<std::string> late = co_await timeout(rpc::call(server, named("late", 5)), 1);
            CHECK(!late.present());
            CHECK(handled.begun == 1);
            co_await delay(0.5);
            CHECK(handled.running == 0); // its handler is cancelled
            ErrorOr<std::string> cut = co_await errorOr(rpc::call(server, named("cut", 100)));
            CHECK(cut.isError(error_code_broken_promise));
            CHECK(co_await rpc::call(server, named("next")) == "hello next");
        });
}

TEST_CASE("service: a silence before a call does not count as a silence of the server") {
    test::Balance balance;
    handled = {};
    TwoProcesses::run(serveAsUsual, []() -> Future<Void> {
        Address server = TwoProcesses::server();
        CHECK(co_await rpc::call(server, named("first")) == "hello first");
        for (double idle : {3.95, 5.0, 20.3, 100.6}) {
            co_await delay(idle);
            int before = handled.begun;
            ErrorOr<std::string> slow = co_await rpc::tryCall(server, named("slow", 10)); // over the same connection
            CHECK(slow.present());
            CHECK(handled.begun == before + 1);
        }
        co_await delay(20);
        TwoProcesses::partition(); // a server that is gone is found as soon as after other calls
        double begin = now();
        ErrorOr<std::string> lost = co_await rpc::tryCall(server, named("lost"));
        CHECK(lost.isError(error_code_request_maybe_delivered));
        CHECK(now() - begin >= 4);
        CHECK(now() - begin <= 6);
        TwoProcesses::heal();
    });
}

TEST_CASE("service: a dropped call that waits is not handled, and the end of a connection drops calls") {
    test::Balance balance;
    handled = {};
    TwoProcesses::run([] { return serveAll({.atATime = 1}); },
                      []() -> Future<Void> {
                          Address server = TwoProcesses::server();
                          auto node = std::make_unique<rpc::Node>();
                          Future<std::string> first = rpc::call(server, named("first", 2));
                          co_await delay(1);
                          Future<std::string> dropped = rpc::call(server, named("dropped", 2));
                          Future<std::string> third = rpc::call(server, named("third", 1));
                          co_await delay(0.5);
                          dropped = {};
                          CHECK(co_await first == "hello first");
                          CHECK(co_await third == "hello third");
                          CHECK(handled.begun == 2);
                          Future<std::string> lost = rpc::call(server, named("lost", 100));
                          co_await delay(1);
                          CHECK(handled.running == 1);
                          node.reset();
                          co_await delay(1);
                          CHECK(handled.running == 0);
                      });
}

TEST_CASE("service: a dropped call of the same process") {
    test::Balance balance;
    handled = {};
    RealLoop loop;
    loop.run([]() -> Future<Void> {
        rpc::Node node;
        Future<Void> listening = node.bind(Address(0x7F000001, 0), Address(0x7F000001, 0));
        Future<Void> served = serveAsUsual();
        Future<std::string> call = rpc::call(node.getLocalAddress(), named("here", 100));
        co_await delay(0);
        CHECK(handled.running == 1);
        call = {};
        co_await delay(0.001);
        CHECK(handled.running == 0);
        std::vector<Address> here{node.getLocalAddress()};
        CHECK(co_await rpc::call(here, named("one")) == "hello one");
        ErrorOr<Void> unserved = co_await errorOr(rpc::call(here, Unserved()));
        CHECK(unserved.isError(error_code_service_not_found));
    }());
}

TEST_CASE("service: a server that is killed") {
    test::Balance balance;
    handled = {};
    TwoProcesses::run(serveAsUsual, []() -> Future<Void> {
        Address server = TwoProcesses::server();
        Future<std::string> again = rpc::call(server, named("again", 1));
        Future<ErrorOr<std::string>> once = rpc::tryCall(server, named("once", 1));
        co_await delay(0.5);
        TwoProcesses::restartServer();
        CHECK(co_await again == "hello again");
        CHECK((co_await once).isError(error_code_request_maybe_delivered));
        CHECK(handled.ended == 1);
    });
}

static Future<Void> serveAfterASecond() {
    Address at = transport().localAddress().withPort(4500);
    Reference<Listener> listener = transport().listen(at);
    co_await delay(1.0); // meanwhile a client connects and sends a request
    RpcOptions options;
    options.listen = [listener](Address const&) { return listener; };
    rpc::Node node(options);
    Future<Void> listening = node.listen(at);
    co_await race(listening, rpc::serve(node, [](Greet greet) { return "late " + greet.who; }));
}

TEST_CASE("service: a request that waits at the listener is handled by what is served in the step that listens") {
    World world(1);
    SimNetwork network(world);
    Address server(world.start({.name = "server", .main = serveAfterASecond}).address(), 4500);
    Process& client = world.start({.name = "client", .main = [server]() -> Future<Void> {
                                       Greet you = named("you");
                                       CHECK(co_await rpc::call(server, you) == "late you");
                                   }});
    world.run(client.onStop());
    CHECK(!client.exit()->isValid());
}

TEST_CASE("service: so many handlers run at a time, and other requests wait") {
    test::Balance balance;
    handled = {};
    auto client = [](int calls, std::size_t bytes) -> Future<Void> {
        std::vector<Future<std::string>> all;
        for (int i = 0; i < calls; ++i)
            all.push_back(rpc::call(TwoProcesses::server(), Greet{std::string(bytes, 'x'), 0.1}));
        co_await waitForAll(all);
    };
    TwoProcesses::run([] { return serveAll({.atATime = 3}); }, [=] { return client(20, 1); });
    CHECK(handled.begun == 20);
    CHECK(handled.mostRunning == 3);
    // The bytes of their requests are bounded, too.
    handled = {};
    RpcOptions options;
    options.backlogBytes = 100'000;
    TwoProcesses::run(serveAsUsual, [=] { return client(20, 40'000); }, options);
    CHECK(handled.begun == 20);
    CHECK(handled.mostRunning == 3);
}

TEST_CASE("service: one of several servers") {
    test::Balance balance;
    handled = {};
    TwoProcesses::run(serveAsUsual, []() -> Future<Void> {
        rpc::Node node; // a server without the service
        Address here = net::transport().localAddress().withPort(4501);
        Future<Void> listening = node.bind(here, here);
        std::vector<Address> servers{TwoProcesses::server(), here, here.withPort(4502)}; // nothing is at the last
        for (int i = 0; i < 5; ++i)                                                      // begins at each of them
            CHECK(co_await rpc::call(servers, named("one")) == "hello one");
        servers.pop_back();
        co_await rpc::call(servers, Note{1});
        ErrorOr<Void> unserved = co_await errorOr(rpc::call(servers, Unserved()));
        CHECK(unserved.isError(error_code_service_not_found));
    });
}

namespace {

// The names have the same hash.
struct Collision {
    using Reply = Void;
    static constexpr char const* name = "kv/tku5ma45xxosn";
};
struct Collided {
    using Reply = Void;
    static constexpr char const* name = "kv/5gytiwmbzntwa";
};

} // namespace

TEST_CASE("service: a name that is served twice, or has the hash of another one") {
    static_assert(rpc::hashOf(Collision::name) == rpc::hashOf(Collided::name));
    auto begin = [](auto... handlers) {
        RealLoop loop;
        rpc::Node node;
        Future<Void> served = rpc::serve(node, handlers...);
    };
    CHECK_DIES(begin([](Note) {}, [](Note) {}), R"("test/note" is served already by this process)");
    CHECK_DIES(begin([](Collision) {}, [](Collided) {}),
               R"("kv/5gytiwmbzntwa" and "kv/tku5ma45xxosn" have the same hash: give one of them another name)");
    CHECK_NAMES_CALLER(RealLoop loop; rpc::Node node; (void)rpc::serve(node, [](Note) {}, [](Note) {}));
    // A request of another process that has the hash of a name here gets an error; the handler does not run.
    handled = {};
    TwoProcesses::run([] { return rpc::serve(rpc::Node::current(), [](Collision) { ++handled.begun; }); },
                      []() -> Future<Void> {
                          CHECK(co_await codeOfCall(TwoProcesses::server(), Collision()) == 0);
                          CHECK(co_await codeOfCall(TwoProcesses::server(), Collided()) ==
                                error_code_serialization_failed);
                      });
    CHECK(handled.begun == 1);
}
