#include "tests/net/transport_suite.h"

#include "flow/flow.h"

#include <doctest/doctest.h>

namespace flow::test {

Future<Pair> makePair() {
    Pair pair;
    pair.listener = transport().listen(0);
    Address at = pair.listener->localAddress();
    Future<Reference<Connection>> connecting = transport().connect(at);
    pair.server = co_await pair.listener->accept();
    pair.client = co_await connecting;
    co_return pair;
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

namespace {

Bytes filled(int size, int letter = 'x') {
    Bytes bytes = makeString(size);
    std::memset(mutateString(bytes), letter, static_cast<std::size_t>(size));
    return bytes;
}

Future<Void> echo() {
    Pair pair = co_await makePair();
    CHECK(pair.client->peerAddress() == pair.listener->localAddress());
    CHECK(pair.server->localAddress() == pair.listener->localAddress());
    CHECK(pair.server->peerAddress() == pair.client->localAddress());
    co_await pair.client->write("ping"_sr);
    std::string asked = co_await readAtLeast(pair.server, 4);
    CHECK(asked == "ping");
    co_await pair.server->write("pong"_sr);
    std::string answer = co_await readAtLeast(pair.client, 4);
    CHECK(answer == "pong");
}

Future<Void> halfClose() {
    Pair pair = co_await makePair();
    co_await pair.client->write("all I have"_sr);
    pair.client->shutdownWrite();
    pair.client->shutdownWrite();
    std::string asked = co_await readAll(pair.server);
    CHECK(asked == "all I have");
    Bytes again = co_await pair.server->read();
    CHECK(again.empty());
    co_await pair.server->write("goes on"_sr);
    pair.server->close();
    std::string answer = co_await readAll(pair.client);
    CHECK(answer == "goes on");
}

Future<Void> nobodyListens() {
    Reference<Listener> listener = transport().listen(0);
    Address at = listener->localAddress();
    listener->close();
    Error refused = co_await endOf(transport().connect(at));
    CHECK(refused == connection_failed());
}

Error errorOfListen(Address at) {
    try {
        transport().listen(at);
        return Error();
    } catch (Error& error) {
        return error;
    }
}

Future<Void> ports() {
    Reference<Listener> first = transport().listen(0);
    Reference<Listener> second = transport().listen(0);
    Address at = first->localAddress();
    CHECK(at.port() != 0);
    CHECK(at != second->localAddress());
    CHECK(errorOfListen(at) == address_in_use());
    CHECK(errorOfListen(*Address::parse("203.0.113.7:4500")) == invalid_local_address());
    first->close();
    CHECK(errorOfListen(at) == Error());
    second.clear();
    Reference<DatagramSocket> socket = transport().bind(Address());
    CHECK(errorOfListen(socket->localAddress()) == Error());
    co_return;
}

Future<Void> cancelledRead() {
    Pair pair = co_await makePair();
    for (int i = 0; i < 5; ++i) {
        Future<Bytes> dropped = pair.server->read();
        CHECK(!dropped.isReady());
        if (i % 2)
            co_await delay(0);
        dropped = Future<Bytes>();
        co_await pair.client->write("abc"_sr);
        auto either = co_await race(pair.server->read(), delay(0));
        if (either.index() == 0) {
            std::string rest = co_await readAtLeast(pair.server, 0);
            CHECK(std::get<0>(either) == "abc"_sr);
            continue;
        }
        std::string got = co_await readAtLeast(pair.server, 3);
        CHECK(got == "abc");
    }
}

Future<Void> cancelledAccept() {
    Reference<Listener> listener = transport().listen(0);
    Future<Reference<Connection>> dropped = listener->accept();
    Future<Reference<Connection>> connecting = transport().connect(listener->localAddress());
    dropped = Future<Reference<Connection>>();
    Reference<Connection> client = co_await connecting;
    Reference<Connection> server = co_await listener->accept();
    CHECK(server->peerAddress() == client->localAddress());
}

Future<Void> cancelledConnect() {
    Reference<Listener> listener = transport().listen(0);
    {
        Future<Reference<Connection>> dropped = transport().connect(listener->localAddress());
        CHECK(!dropped.isReady());
    }
    auto first = co_await race(listener->accept(), delay(1));
    if (first.index() == 0) { // it was on its way already
        Reference<Connection> left = std::get<0>(first);
        Error end = co_await endOf(readAtLeast(left, 1));
        CHECK(end.isValid());
    }
}

Future<Void> cancelledWrite() {
    Pair pair = co_await makePair();
    int const size = 8 << 20; // more than any machine takes at once
    Future<Void> dropped = pair.client->write(filled(size));
    CHECK(!dropped.isReady());
    dropped = Future<Void>();
    Future<Void> behind = pair.client->write("end"_sr);
    pair.client->shutdownWrite();
    std::string all = co_await readAll(pair.server);
    CHECK(all.size() == std::size_t{8 << 20} + 3);
    CHECK(all.ends_with("xend"));
    co_await behind;
}

Future<Void> readerThatDoesNot() {
    Pair pair = co_await makePair();
    std::size_t written = 0, limit = std::size_t{64} << 20;
    Future<Void> last;
    while (written < limit) {
        last = pair.client->write(filled(10'000));
        written += 10'000;
        auto first = co_await race(last, delay(1));
        if (first.index() == 1)
            break;
    }
    CHECK(written > Connection::kHighWater);
    CHECK(written < limit);
    CHECK(!last.isReady());
    std::string read = co_await readAtLeast(pair.server, written);
    CHECK(read.size() == written);
    co_await last;
}

Future<Void> writeNumbers(Reference<Connection> connection, int count) {
    for (int i = 0; i < count; ++i)
        co_await connection->write(StringRef(std::to_string(i) + ","));
    connection->shutdownWrite();
}

Future<Void> inOrder() {
    Pair pair = co_await makePair();
    std::string expected;
    for (int i = 0; i < 2000; ++i)
        expected += std::to_string(i) + ",";
    Future<Void> there = writeNumbers(pair.client, 2000);
    Future<Void> back = writeNumbers(pair.server, 2000);
    Future<std::string> atServer = readAll(pair.server);
    std::string atClient = co_await readAll(pair.client);
    CHECK(atClient == expected);
    std::string other = co_await atServer;
    CHECK(other == expected);
    co_await there;
    co_await back;
}

Future<Void> closing() {
    Pair pair = co_await makePair();
    Future<Bytes> pending = pair.client->read();
    pair.client->close();
    pair.client->close();
    Error ofPending = co_await endOf(pending);
    CHECK(ofPending == operation_obsolete());
    Error ofRead = co_await endOf(pair.client->read());
    CHECK(ofRead == operation_obsolete());
    Error ofWrite = co_await endOf(pair.client->write("x"_sr));
    CHECK(ofWrite == operation_obsolete());
    Bytes end = co_await pair.server->read();
    CHECK(end.empty());
    Error error; // whoever goes on writing hears of it
    while (!error.isValid()) {
        error = co_await endOf(pair.server->write("x"_sr));
        co_await delay(0.01);
    }
    CHECK(error == connection_failed());
    Error afterwards = co_await endOf(pair.server->read());
    CHECK(afterwards == connection_failed());
}

Future<Void> dropping() {
    Pair pair = co_await makePair();
    co_await pair.client->write("last words"_sr);
    pair.client.clear();
    std::string words = co_await readAll(pair.server);
    CHECK(words == "last words");
}

Future<Void> unreadBytes() {
    Pair pair = co_await makePair();
    co_await pair.client->write("nobody reads this"_sr);
    co_await delay(0.1);
    pair.server->close();
    Error error = co_await endOf(readAll(pair.client));
    CHECK(error == connection_failed());
}

Future<Void> closedListener() {
    Reference<Listener> listener = transport().listen(0);
    Reference<Connection> client = co_await transport().connect(listener->localAddress());
    co_await delay(0.1);
    listener->close();
    Error unaccepted = co_await endOf(readAll(client));
    CHECK(unaccepted == connection_failed());
    Error later = co_await endOf(listener->accept());
    CHECK(later == operation_obsolete());
    Reference<Listener> other = transport().listen(0);
    Future<Reference<Connection>> pending = other->accept();
    other->close();
    Error ofPending = co_await endOf(pending);
    CHECK(ofPending == operation_obsolete());
}

Future<Void> listenerGoes() {
    Pair pair = co_await makePair();
    pair.listener.clear();
    co_await pair.client->write("still"_sr);
    std::string text = co_await readAtLeast(pair.server, 5);
    CHECK(text == "still");
}

Future<Void> datagrams() {
    Address any = transport().localAddress();
    Reference<DatagramSocket> a = transport().bind(any), b = transport().bind(any);
    Future<Datagram> dropped = b->receive();
    dropped = Future<Datagram>();
    co_await a->send(b->localAddress(), "one"_sr);
    Datagram one = co_await b->receive();
    CHECK(one.bytes == "one"_sr);
    CHECK(one.from == a->localAddress());
    co_await b->send(one.from, Bytes());
    Datagram empty = co_await a->receive();
    CHECK(empty.bytes.empty());
    Error tooLarge = co_await endOf(a->send(b->localAddress(), filled(DatagramSocket::kLargest + 1)));
    CHECK(tooLarge == client_invalid_operation());
    Future<Datagram> pending = b->receive();
    b->close();
    Error closed = co_await endOf(pending);
    CHECK(closed == operation_obsolete());
    Error later = co_await endOf(b->receive());
    CHECK(later == operation_obsolete());
    Error sent = co_await endOf(b->send(any, "x"_sr));
    CHECK(sent == operation_obsolete());
    co_await a->send(b->localAddress(), "into the void"_sr);
}

} // namespace

std::vector<TransportCase> const& transportCases() {
    static std::vector<TransportCase> const cases = {
        {"echo", echo},
        {"one side ends its writing, the other goes on", halfClose},
        {"nobody listens", nobodyListens},
        {"ports", ports},
        {"a cancelled read loses no bytes", cancelledRead},
        {"a cancelled accept loses no connection", cancelledAccept},
        {"a cancelled connect leaves no connection behind", cancelledConnect},
        {"a cancelled write is sent whole", cancelledWrite},
        {"a reader that does not read bounds the writer", readerThatDoesNot},
        {"bytes come in the order of the writes", inOrder},
        {"close", closing},
        {"the last reference closes", dropping},
        {"bytes that were sent and not read", unreadBytes},
        {"a closed listener", closedListener},
        {"connections outlive their listener", listenerGoes},
        {"datagrams", datagrams},
    };
    return cases;
}

} // namespace flow::test
