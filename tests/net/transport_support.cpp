// What the cases of transport_suite.cpp and other tests are written with.
#include "tests/net/transport_suite.h"

#include "flow/coro/coroutine.h"

#include <doctest/doctest.h>

#include <cstdlib>

namespace flow::test {

ChosenPoller::ChosenPoller(char const* name) {
    if (char const* before = std::getenv("FLOW_POLLER"))
        before_ = before;
    ::setenv("FLOW_POLLER", name, 1);
}

ChosenPoller::~ChosenPoller() {
    before_ ? ::setenv("FLOW_POLLER", before_->c_str(), 1) : ::unsetenv("FLOW_POLLER");
}

Future<Pair> makePair() {
    return makePairAt(transport().localAddress());
}

Future<Pair> makePairAt(Address at) {
    Pair pair;
    pair.listener = transport().listen(at);
    Future<Reference<Connection>> connecting = transport().connect(pair.listener->localAddress());
    pair.server = co_await pair.listener->accept();
    pair.client = co_await connecting;
    co_return pair;
}

Future<Void> echoOnce(Reference<Connection> connection) {
    for (;;) {
        Bytes bytes = co_await connection->read();
        if (bytes.empty())
            co_return;
        co_await connection->write(bytes);
    }
}

Future<Void> askTimes(Reference<Connection> connection, int times) {
    for (int i = 0; i < times; ++i) {
        co_await connection->write("ping"_sr);
        Bytes answer = co_await connection->readExactly(4);
        CHECK(answer == "ping"_sr);
    }
}

Future<std::string> readAll(Reference<Connection> connection) {
    std::string text;
    for (;;) {
        Bytes bytes = co_await connection->read();
        if (bytes.empty())
            co_return text;
        text += bytes.toString();
    }
}

Future<std::string> readAtLeast(Reference<Connection> connection, std::size_t size) {
    std::string text;
    while (text.size() < size) {
        Bytes bytes = co_await connection->read();
        if (bytes.empty())
            throw end_of_stream();
        text += bytes.toString();
    }
    co_return text;
}

} // namespace flow::test
