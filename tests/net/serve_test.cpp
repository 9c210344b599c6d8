#include "net/serve.h"

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/standalone.h"
#include "flow/sim/world.h"
#include "flow/tasks/scope.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"
#include "flow/wait/handler_slot.h"
#include "net/sim/sim_network.h"
#include "tests/net/serve_suite.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

Future<Void> serveLinesByActor(Reference<Connection> const& client, Event* const& ending, Work* const& work);

namespace {

StringRef answerTo(Event const* ending) {
    return ending->isSet() ? "last "_sr : "more "_sr;
}

Future<Void> serveLines(Reference<Connection> client, Event* ending, Work* work) {
    for (;;) {
        auto next = co_await race(client->readUntil("\n"_sr, 100), ending->wait());
        if (next.index() == 1)
            co_return;
        ++work->begun;
        co_await work->mayGoOn.wait();
        Bytes answer = std::get<0>(next).withPrefix(answerTo(ending));
        co_await client->write(std::move(answer));
    }
}

Task<> serveLinesInTask(Context, Reference<Connection> client, Event* ending, Work* work) {
    for (;;) {
        auto next = co_await race(client->readUntil("\n"_sr, 100), ending->wait());
        if (next.index() == 1)
            co_return;
        ++work->begun;
        co_await work->mayGoOn.wait();
        Bytes answer = std::get<0>(next).withPrefix(answerTo(ending));
        co_await client->write(std::move(answer));
    }
}

/// In the callback style.
struct LineServer {
    LineServer(Reference<Connection> c, Event* e, Work* w) : client(std::move(c)), ending(e), work(w) {
        call(ending->wait(), end, [this](Error) { ended.send(Void()); });
        read();
    }
    void read() {
        call(client->readUntil("\n"_sr, 100), next, [this](Error error, Bytes line) {
            if (error.isValid())
                return ended.sendError(error);
            end.cancel();
            ++work->begun;
            question = std::move(line);
            call(work->mayGoOn.wait(), next, [this](Error) { answer(); });
        });
    }
    void answer() {
        (void)client->write(question.withPrefix(answerTo(ending)));
        if (ending->isSet())
            return ended.send(Void());
        call(ending->wait(), end, [this](Error) { ended.send(Void()); });
        read();
    }

    Reference<Connection> client;
    Event* ending;
    Work* work;
    Bytes question;
    HandlerSlot next, end;
    Promise<Void> ended;
};
Future<Void> serveLinesByCallbacks(Reference<Connection> client, Event* ending, Work* work) {
    LineServer server(std::move(client), ending, work);
    co_await server.ended.getFuture();
}

Future<Void> failing(Reference<Connection> connection) {
    co_await connection->readExactly(4);
    throw connection_failed();
}

/// What is reported as dropped while this exists.
class Reports {
public:
    Reports() {
        all.clear();
        before_ = setDroppedErrorHandler(
            [](char const* where, Error error) { all.push_back(std::string(error.name()) + " of " + where); });
    }
    Reports(Reports const&) = delete;
    Reports& operator=(Reports const&) = delete;
    ~Reports() { setDroppedErrorHandler(before_); }

    static inline std::vector<std::string> all;

private:
    DroppedErrorHandler before_;
};

/// A server with this handler.
struct Serving {
    explicit Serving(ServeToTheEnd serve, double grace = 1000)
        : listener(transport().listen(transport().localAddress())),
          running(serveUntil(listener, std::move(serve), stop.getFuture(), grace)) {}

    Future<Reference<Connection>> connect() const { return transport().connect(listener->localAddress()); }
    /// How a client that says nothing ends. A reset may come before connect() has returned.
    Future<Error> endOfSilentClient() const {
        auto visit = [](Future<Reference<Connection>> connecting) -> Future<std::string> {
            Reference<Connection> client = co_await connecting;
            std::string all = co_await readAll(client);
            co_return all;
        };
        return endOf(visit(connect()));
    }

    Reference<Listener> listener;
    Promise<Void> stop;
    Future<Void> running;
};

std::string much() {
    return std::string(3 << 20, 'x'); // more than the kernel takes for a client that does not read
}

} // namespace

TEST_CASE("serve: a handler in each style is told that the end begins") {
    onEachNetwork([] { return endInOrder(serveLines); });
    onEachNetwork([] { return endInOrder(serveLinesByActor); });
    onEachNetwork([] { return endInOrder(serveLinesByCallbacks); });
    onEachNetwork([] {
        return endInOrder([](Reference<Connection> client, Event* ending, Work* work) {
            return start(serveLinesInTask(Environment(), client, ending, work));
        });
    });
}

TEST_CASE("serve: serves all clients, also after one of them has failed") {
    onEachNetwork([]() -> Future<Void> {
        Reference<Listener> listener = transport().listen(transport().localAddress());
        Promise<Void> stop;
        Future<Void> serving = serveUntil(listener, failing, stop.getFuture(), 1);
        for (int i = 0; i < 3; ++i) {
            Reference<Connection> client = co_await transport().connect(listener->localAddress());
            co_await client->write("four"_sr);
            Error error = co_await endOf(readAll(client));
            CHECK(error == connection_reset());
        }
        CHECK_FALSE(serving.isReady());
        stop.send(Void());
        co_await serving;
    });
}

TEST_CASE("serve: a handler that throws before it gives a future ends only its connection") {
    Reports reports;
    onEachNetwork([]() -> Future<Void> {
        int count = 0;
        Serving serving([&](Reference<Connection> client, Event*) -> Future<Void> {
            if (++count == 2)
                throw io_error();
            if (count == 3)
                throw std::bad_alloc();
            return echoOnce(client);
        });
        Reference<Connection> first = co_await serving.connect();
        co_await askTimes(first, 1);
        for (int i = 0; i < 2; ++i) {
            Error error = co_await serving.endOfSilentClient();
            CHECK(error == connection_reset());
        }
        co_await askTimes(first, 1);
        Reference<Connection> later = co_await serving.connect();
        co_await askTimes(later, 1);
        CHECK_FALSE(serving.running.isReady());
    });
    CHECK(Reports::all.front().starts_with("io_error of the server at "));
}

TEST_CASE("serve: a handler that fails as if it were cancelled ends only its connection") {
    onEachNetwork([]() -> Future<Void> {
        Serving serving([count = 0](Reference<Connection> client, Event*) mutable -> Future<Void> {
            return ++count == 1 ? Future<Void>(actor_cancelled()) : echoOnce(client);
        });
        Error error = co_await serving.endOfSilentClient();
        CHECK(error == connection_reset());
        Reference<Connection> second = co_await serving.connect();
        co_await askTimes(second, 1);
        CHECK_FALSE(serving.running.isReady());
    });
}

TEST_CASE("serve: a handler that fails within an answer resets its connection, one that returns ends it") {
    Reports reports;
    for (Error error : {Error(), io_error(), end_of_stream(), timed_out()})
        onEachNetwork([error]() -> Future<Void> {
            INFO(error.name());
            Serving serving([error](Reference<Connection> client, Event*) -> Future<Void> {
                std::string answer = much();
                (void)client->write(StringRef(answer));
                if (error.isValid())
                    throw error;
                co_return;
            });
            Error end = co_await serving.endOfSilentClient();
            bool isWell = !error.isValid() || error == end_of_stream();
            CHECK(end == (isWell ? Error() : connection_reset()));
        });
}

TEST_CASE("serve: what is cut after the grace, or when the server is dropped, is reset, also where all was sent") {
    for (bool isDropped : {false, true})
        onEachNetwork([isDropped]() -> Future<Void> {
            auto half = [](Reference<Connection> client, Event*) -> Future<Void> {
                co_await client->write("half an answer"_sr);
                co_await Future<Void>(Never());
            };
            Serving serving(half, 0.05);
            Reference<Connection> client = co_await serving.connect();
            Bytes got = co_await client->readExactly(14);
            CHECK(got == "half an answer"_sr);
            if (isDropped) {
                serving.running = Future<Void>();
            } else {
                serving.stop.send(Void());
                co_await serving.running;
            }
            Error error = co_await endOf(readAll(client));
            CHECK(error == connection_reset());
        });
}

TEST_CASE("serve: it ends after the work that a cancelled handler has shielded") {
    onEachNetwork([]() -> Future<Void> {
        struct Transaction {
            bool* isRolledBack;
            ~Transaction() {
                auto rollback = [](bool* done) -> Future<Void> {
                    co_await delay(0.02);
                    *done = true;
                };
                shield(rollback(isRolledBack), 5.0);
            }
        };
        bool isRolledBack = false;
        auto handle = [&isRolledBack](Reference<Connection> client, Event*) -> Future<Void> {
            Transaction transaction{&isRolledBack};
            co_await client->write("begun"_sr);
            co_await Future<Void>(Never());
        };
        Serving serving(handle, 0.05);
        Reference<Connection> client = co_await serving.connect();
        Bytes begun = co_await client->readExactly(5);
        CHECK(begun == "begun"_sr);
        serving.stop.send(Void());
        co_await serving.running;
        CHECK(isRolledBack);
    });
}

TEST_CASE("serve: a connection that its handler has closed ends as the handler has chosen") {
    onEachNetwork([]() -> Future<Void> {
        Serving serving([](Reference<Connection> client, Event*) -> Future<Void> {
            co_await client->write("all of it"_sr);
            client->close();
            co_await delay(0.01);
            throw operation_obsolete();
        });
        Reference<Connection> client = co_await serving.connect();
        std::string all = co_await readAll(client);
        CHECK(all == "all of it");
    });
}

TEST_CASE("serve: the report of an error names the server's address") {
    Reports reports;
    onEachNetwork([]() -> Future<Void> {
        Reference<Listener> listener = transport().listen(transport().localAddress());
        Promise<Void> stop;
        auto broken = [](Reference<Connection> connection) -> Future<Void> {
            co_await connection->readExactly(4);
            throw io_error();
        };
        Future<Void> serving = serveUntil(listener, broken, stop.getFuture(), 1);
        Reference<Connection> client = co_await transport().connect(listener->localAddress());
        co_await client->write("four"_sr);
        (void)co_await endOf(readAll(client));
        CHECK(Reports::all.back() == "io_error of the server at " + listener->localAddress().toString());
        stop.send(Void());
        co_await serving;
    });
}

TEST_CASE("serve: when it stops it accepts no client, and a handler that is not told goes on until the grace is over") {
    onEachNetwork([]() -> Future<Void> {
        Reference<Listener> listener = transport().listen(transport().localAddress());
        Promise<Void> stop;
        Future<Void> serving = serveUntil(listener, echoOnce, stop.getFuture(), 0.3);
        Reference<Connection> client = co_await transport().connect(listener->localAddress());
        co_await askTimes(client, 1);
        stop.send(Void());
        co_await delay(0.05);
        Error refused = co_await endOf(transport().connect(listener->localAddress()));
        CHECK(refused == connection_refused());
        co_await askTimes(client, 1); // it still serves
        double before = now();
        co_await serving;
        CHECK(now() - before < 5);
        Error error = co_await endOf(readAll(client));
        CHECK(error == connection_reset());
    });
}

TEST_CASE("serve: when it stops, clients get what was written to them, unless they take longer than its grace") {
    for (bool reads : {true, false}) {
        RealLoop loop;
        auto test = [](bool reads) -> Future<Void> {
            Reference<Listener> listener = transport().listen(transport().localAddress());
            auto writeMuch = [](Reference<Connection> connection) -> Future<Void> {
                Bytes much = makeString(8 << 20);
                std::memset(mutateString(much), 'x', 8 << 20);
                (void)connection->write(std::move(much)); // the connection is closed with most of it in its queue
                co_return;
            };
            Promise<Void> stop;
            Future<Void> serving = serveUntil(listener, writeMuch, stop.getFuture(), reads ? 1000 : 0.05);
            Reference<Connection> client = co_await transport().connect(listener->localAddress());
            co_await client->readExactly(1);
            stop.send(Void());
            co_await delay(0.01);
            if (reads) {
                CHECK_FALSE(serving.isReady());
                std::string rest = co_await readAll(client);
                CHECK(rest.size() == std::size_t{(8 << 20) - 1});
            }
            co_await serving;
        };
        loop.run(test(reads));
    }
}

TEST_CASE("serve: it ends at once when all have ended, and with the error of what stops it") {
    onEachNetwork([]() -> Future<Void> {
        Reference<Listener> listener = transport().listen(transport().localAddress());
        Future<Void> serving = serveUntil(listener, echoOnce, delay(0.01), 1000);
        double before = now();
        co_await serving;
        CHECK(now() - before < 100);
        Error error = co_await endOf(
            serveUntil(transport().listen(transport().localAddress()), echoOnce, Future<Void>(timed_out()), 1000));
        CHECK(error == timed_out());
    });
}
