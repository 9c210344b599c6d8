#pragma once
// What tests of the HTTP client have in common: the other ends of its connections, in memory.

#include "flow/core/error_or.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "net/http/client.h"
#include "net/testing/connection_pair.h"
#include "net/testing/scripted_peer.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace flow::test {

/// The servers: each connection of a client is a pair, and its other end is kept here.
struct ServerEnds {
    std::vector<Reference<net::Connection>> all;
    std::vector<std::string> asked; // "a:80", for each connection
    Error error;                    // of the next connection
    double seconds = 0;             // that a connection takes

    net::http::ClientOptions options(net::http::ClientOptions options = {}) {
        options.connect = [this](std::string host, std::uint16_t port) { return make(this, std::move(host), port); };
        return options;
    }
    net::ScriptedPeer peer(std::size_t number) { return net::ScriptedPeer(all.at(number)); }
    /// True if the client has ended the connection, in order or with a reset.
    bool isGone(std::size_t number) {
        char bytes[4096];
        std::optional<std::size_t> count;
        while ((count = all.at(number)->tryReadSome(bytes)).value_or(0) != 0) {
        }
        return count.has_value();
    }

private:
    static Future<Reference<net::Connection>> make(ServerEnds* self, std::string host, std::uint16_t port) {
        self->asked.push_back(host + ":" + std::to_string(port));
        if (self->seconds > 0)
            co_await delay(self->seconds);
        if (Error error = std::exchange(self->error, Error()); error.isValid())
            throw error;
        net::ConnectionPair pair = net::connectionPair();
        self->all.push_back(pair.second);
        co_return pair.first;
    }
};

inline void simulatedClient(Future<Void> (*test)()) {
    SimLoop loop;
    Balance balance;
    loop.run(test());
}

/// How a request ends: "200 text of the body", or "name of the error: its sentence".
inline Future<std::string> answerText(Future<net::http::Response> asking) {
    std::string text;
    try {
        net::http::Response response = co_await std::move(asking);
        text = std::to_string(response.status) + " ";
        Future<std::string> reading = response.body.text(1 << 20);
        text += co_await std::move(reading);
    } catch (Error& error) {
        text += std::string(error.name()) + ": " + error.what();
    }
    co_return text;
}

/// The head of a request as the client sends it.
inline std::string headOf(std::string const& methodAndTarget, std::string const& host, std::string const& more = "") {
    return methodAndTarget + " HTTP/1.1\r\nHost: " + host + "\r\n" + more + "User-Agent: millrace\r\n";
}
inline std::string getHead(std::string const& target, std::string const& host = "a") {
    return headOf("GET " + target, host) + "\r\n";
}
inline std::string const kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

} // namespace flow::test
