#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "net/connect.h"
#include "net/real/real_network.h"
#include "net/transport.h"
#include "tests/flow/support/descriptors.h"
#include "tests/flow/support/pending_text.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// A name server with a few names. It listens on a port for datagrams and, with the same number, for connections.
struct NameServer {
    Reference<DatagramSocket> socket;
    Reference<Listener> listener;
    std::map<std::string, int> asked; // by name and type
    int seconds = 100;
    bool isDumb = false;

    NameServer() {
        // The system chooses a number of which it knows only that no datagram socket has it.
        while (!listener) {
            socket = transport().bind(Address(0x7F000001, 0));
            try {
                listener = transport().listen(socket->localAddress());
            } catch (Error& error) {
                if (error != address_in_use())
                    throw;
            }
        }
    }

    static std::string number(unsigned value, int bytes) {
        std::string text;
        while (bytes-- > 0)
            text += static_cast<char>(value >> (8 * bytes));
        return text;
    }

    std::string answer(std::string const& question, bool isStream) {
        std::string name;
        std::size_t at = 12;
        while (question[at] != 0) {
            auto size = static_cast<std::size_t>(question[at]);
            name += (name.empty() ? "" : ".") + question.substr(at + 1, size);
            at += size + 1;
        }
        bool isV6 = question[at + 2] == 28;
        ++asked[name + (isV6 ? " v6" : " v4") + (isStream ? " stream" : "")];
        unsigned flags = 0x8180, answers = 0;
        std::string data;
        auto add = [&](std::string const& bytes) {
            ++answers;
            data += "\xC0\x0C" + number(isV6 ? 28 : 1, 2) + number(1, 2) + number(static_cast<unsigned>(seconds), 4) +
                    number(static_cast<unsigned>(bytes.size()), 2) + bytes;
        };
        if (name == "both.test" || (name == "large.test" && isStream))
            add(isV6 ? std::string(15, '\0') + "\x01" : number(0x7F000001, 4));
        else if (name == "large.test")
            flags |= 0x200; // does not fit into a datagram
        else if (name == "v4.test")
            isV6 ? void() : add(number(0x0A000001, 4));
        else if (name == "broken.test")
            flags |= 2; // the server could not answer
        else
            flags |= 3; // there is no such name
        return question.substr(0, 2) + number(flags, 2) + number(1, 2) + number(answers, 2) + number(0, 4) +
               question.substr(12, at + 5 - 12) + data;
    }

    Future<Void> serveDatagrams() {
        for (;;) {
            Datagram question = co_await socket->receive();
            std::string text = answer(question.bytes.toString(), false);
            if (!isDumb)
                co_await socket->send(question.from, StringRef(text));
        }
    }
    Future<Void> serveStreams() {
        for (;;) {
            Reference<Connection> client = co_await listener->accept();
            try {
                for (;;) {
                    Bytes size = co_await client->readExactly(2);
                    Bytes question = co_await client->readExactly(size[0] * 256u + size[1]);
                    std::string text = answer(question.toString(), true);
                    co_await client->write(StringRef(number(static_cast<unsigned>(text.size()), 2)));
                    co_await delay(0.01); // it comes in pieces
                    co_await client->write(StringRef(text));
                }
            } catch (Error&) {
            }
        }
    }
};

/// Runs test(server, resolver, network) with resolvers that use a NameServer.
void withServer(Future<Void> (*test)(NameServer&, Resolver&), ResolverOptions options = {}) {
    RealLoop loop;
    RealNetwork network(loop);
    NameServer server;
    options.servers = {server.socket->localAddress()};
    network.setResolver(options);
    Future<Void> datagrams = server.serveDatagrams(), streams = server.serveStreams();
    loop.run(test(server, network.resolver()));
}

Future<Error> errorOf(Resolver& resolver, std::string name) {
    return endOf(resolver.resolve(std::move(name), 1));
}

} // namespace

TEST_CASE("ares resolver: queries a name server once while the answer is valid") {
    withServer([](NameServer& server, Resolver& resolver) -> Future<Void> {
        std::vector<Address> found = co_await resolver.resolve("V4.test", 80);
        CHECK(found == std::vector<Address>{Address(0x0A000001, 80)});
        found = co_await resolver.resolve("v4.TEST", 81);
        CHECK(found == std::vector<Address>{Address(0x0A000001, 81)});
        CHECK(server.asked["v4.test v4"] == 1);
        found = co_await resolver.resolve("both.test", 80);
        CHECK(found.size() == 2);
        server.seconds = 0; // holds for this question only
        resolver.clear();
        co_await resolver.resolve("v4.test", 80);
        co_await resolver.resolve("v4.test", 80);
        CHECK(server.asked["v4.test v4"] == 3);
    });
}

TEST_CASE("ares resolver: the errors, of which that there is no such name is kept") {
    withServer([](NameServer& server, Resolver& resolver) -> Future<Void> {
        for (int i = 0; i < 3; ++i) {
            Error error = co_await errorOf(resolver, "nothing.test");
            CHECK(error == lookup_failed());
        }
        CHECK(server.asked["nothing.test v4"] == 1);
        Error broken = co_await errorOf(resolver, "broken.test");
        CHECK(broken == operation_failed());
        Error empty = co_await errorOf(resolver, "");
        CHECK(empty == lookup_failed());
        Error label = co_await errorOf(resolver, std::string(70, 'x') + ".test");
        CHECK(label == lookup_failed());
    });
}

TEST_CASE("ares resolver: a server that does not answer, which is not kept") {
    withServer(
        [](NameServer& server, Resolver& resolver) -> Future<Void> {
            server.isDumb = true;
            Future<Error> silent = errorOf(resolver, "Silent.test");
            std::string report = pendingText();
            CHECK_MESSAGE(has(report, "waits for the addresses of silent.test\n"), report);
            Error dumb = co_await silent;
            CHECK(dumb == timed_out());
            CHECK(server.asked["silent.test v4"] == 2);
            CHECK(resolver.keptNames() == 0);
        },
        {.servers = {}, .timeout = 0.05, .tries = 2});
}

TEST_CASE("ares resolver: a server that never answers does not hold up a connect for longer than its timeout") {
    withServer([](NameServer& server, Resolver&) -> Future<Void> {
        server.isDumb = true;
        ConnectOptions options;
        options.timeout = 0.2;
        Error silent = co_await endOf(net::connect("silent.test", 80, options));
        CHECK(silent == connection_timed_out());
        CHECK(server.asked["silent.test v4"] == 1);
        Reference<Connection> local =
            co_await net::connect("localhost", server.listener->localAddress().port(), options);
        CHECK(local->peerAddress() == server.listener->localAddress());
        CHECK(server.asked.count("localhost v4") == 0);
    });
}

TEST_CASE("ares resolver: an answer that needs a connection, and localhost, for which no server is asked") {
    withServer([](NameServer& server, Resolver& resolver) -> Future<Void> {
        std::vector<Address> found = co_await resolver.resolve("large.test", 80);
        CHECK(found.size() == 2);
        CHECK(server.asked["large.test v4 stream"] == 1);
        found = co_await resolver.resolve("localhost", 80);
        CHECK(std::count(found.begin(), found.end(), Address(0x7F000001, 80)) == 1);
        CHECK(server.asked.count("localhost v4") == 0);
    });
}

TEST_CASE("ares resolver: lookups of the same name share a query, which ends with the last of them") {
    withServer(
        [](NameServer& server, Resolver& resolver) -> Future<Void> {
            server.isDumb = true;
            auto first = resolver.resolve("both.test", 1), second = resolver.resolve("both.test", 2);
            co_await delay(0.03);
            CHECK(server.asked["both.test v4"] == 1);
            first = {};
            server.isDumb = false;
            std::vector<Address> found = co_await second; // queried again
            CHECK(found.size() == 2);
            server.isDumb = true;
            auto before = openDescriptors();
            second = resolver.resolve("other.test", 2);
            co_await delay(0.03);
            second = {};
            int asked = server.asked["other.test v4"];
            co_await delay(0.3);
            CHECK(server.asked["other.test v4"] == asked);
            CHECK(openDescriptors() == before); // its socket came and went
        },
        {.servers = {}, .timeout = 0.1, .tries = 8});
}

TEST_CASE("ares resolver: the network ends during a lookup") {
    Future<std::vector<Address>> left;
    {
        RealLoop loop;
        RealNetwork network(loop);
        Reference<DatagramSocket> silent = transport().bind(Address(0x7F000001, 0));
        network.setResolver({.servers = {silent->localAddress()}});
        left = network.resolver().resolve("both.test", 1);
        loop.run(Future<Void>(delay(0.01)));
    }
    CHECK_FALSE(left.isReady());
}
