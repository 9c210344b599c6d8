#include "tests/net/transport_suite.h"

#include "flow/combine/race.h"
#include "flow/memory/standalone.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <cstring>
#include <span>

namespace flow::test {

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
    CHECK(refused == connection_refused());
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
    Reference<Listener> first = transport().listen(transport().localAddress());
    Reference<Listener> second = transport().listen(transport().localAddress());
    Address at = first->localAddress();
    CHECK(at.port() != 0);
    CHECK(at != second->localAddress());
    CHECK(errorOfListen(at) == address_in_use());
    CHECK(errorOfListen(*Address::parse("203.0.113.7:4500")) == invalid_local_address());
    // Another program may take a port that is free again, or that is free for connections only.
    auto isFreeOnce = [](auto makeFree) {
        for (int i = 0; i < 20; ++i)
            if (errorOfListen(makeFree()) == Error())
                return true;
        return false;
    };
    CHECK(isFreeOnce([] {
        Reference<Listener> closed = transport().listen(transport().localAddress());
        Address address = closed->localAddress();
        closed->close();
        return address;
    }));
    Reference<DatagramSocket> socket;
    CHECK(isFreeOnce([&socket] {
        socket = transport().bind(transport().localAddress());
        return socket->localAddress();
    }));
    co_return;
}

Future<Void> cancelledRead() {
    Pair pair = co_await makePair();
    for (int i = 0; i < 5; ++i) {
        Future<Bytes> dropped = keep(pair.server->read());
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
    Future<Reference<Connection>> dropped = keep(listener->accept());
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
    Future<Bytes> pending = keep(pair.client->read());
    pair.client->close();
    pair.client->close();
    Error ofPending = co_await endOf(pending);
    CHECK(ofPending == operation_obsolete());
    Error ofRead = co_await endOf(keep(pair.client->read()));
    CHECK(ofRead == operation_obsolete());
    Error ofWrite = co_await endOf(Future<Void>(pair.client->write("x"_sr)));
    CHECK(ofWrite == operation_obsolete());
    Bytes end = co_await pair.server->read();
    CHECK(end.empty());
    Error error; // a later write gets it
    while (!error.isValid()) {
        error = co_await endOf(Future<Void>(pair.server->write("x"_sr)));
        co_await delay(0.01);
    }
    CHECK(error == connection_reset());
    Error afterwards = co_await endOf(keep(pair.server->read()));
    CHECK(afterwards == connection_reset());
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
    CHECK(error == connection_reset());
}

Future<Void> closedListener() {
    Reference<Listener> listener = transport().listen(0);
    Reference<Connection> client = co_await transport().connect(listener->localAddress());
    co_await delay(0.1);
    listener->close();
    Error unaccepted = co_await endOf(readAll(client));
    CHECK(unaccepted == connection_reset());
    Error later = co_await endOf(keep(listener->accept()));
    CHECK(later == operation_obsolete());
    Reference<Listener> other = transport().listen(0);
    Future<Reference<Connection>> pending = keep(other->accept());
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
    Future<Datagram> dropped = keep(b->receive());
    dropped = Future<Datagram>();
    co_await a->send(b->localAddress(), "one"_sr);
    Datagram one = co_await b->receive();
    CHECK(one.bytes == "one"_sr);
    CHECK(one.from == a->localAddress());
    co_await b->send(one.from, Bytes());
    Datagram empty = co_await a->receive();
    CHECK(empty.bytes.empty());
    Error tooLarge = co_await endOf(Future<Void>(a->send(b->localAddress(), filled(DatagramSocket::kLargest + 1))));
    CHECK(tooLarge == client_invalid_operation());
    Future<Datagram> pending = keep(b->receive());
    b->close();
    Error closed = co_await endOf(pending);
    CHECK(closed == operation_obsolete());
    Error later = co_await endOf(keep(b->receive()));
    CHECK(later == operation_obsolete());
    Error sent = co_await endOf(Future<Void>(b->send(any, "x"_sr)));
    CHECK(sent == operation_obsolete());
    co_await a->send(b->localAddress(), "into the void"_sr);
}

Future<Void> loserTakesNothing() {
    Pair pair = co_await makePair();
    for (int i = 0; i < 100; ++i) {
        co_await pair.client->write("abcde"_sr);
        co_await delay(i % 2 ? 0.01 : 0); // there already, or on its way
        // Both are ready, or become so in any order; whichever loses has taken nothing.
        char three[3];
        auto first = co_await race(delay(i % 3 ? 0 : 0.005), pair.server->readSome(three));
        std::string got;
        if (first.index() == 1)
            got.assign(three, std::get<1>(first));
        got += co_await readAtLeast(pair.server, 5 - got.size());
        CHECK(got == "abcde");
    }
    Reference<Listener> listener = transport().listen(transport().localAddress());
    for (int i = 0; i < 10; ++i) {
        Future<Reference<Connection>> connecting = transport().connect(listener->localAddress());
        auto first = co_await race(delay(0.001 * (i % 3)), listener->accept());
        Reference<Connection> server;
        if (first.index() == 1)
            server = std::get<1>(first);
        else
            server = co_await listener->accept();
        Reference<Connection> client = co_await connecting;
        CHECK(server->peerAddress() == client->localAddress());
    }
}

Future<Void> sizesOfReads() {
    Pair pair = co_await makePair();
    co_await pair.client->write("0123456789"_sr);
    Bytes three = co_await pair.server->readExactly(3);
    CHECK(three == "012"_sr);
    Bytes two = co_await pair.server->read(2);
    CHECK(two == "34"_sr);
    char rest[6];
    CHECK(pair.server->tryReadSome(rest) == 5u);
    CHECK(std::string(rest, 5) == "56789");
    CHECK_FALSE(pair.server->tryReadSome(rest).has_value());
    Future<Bytes> five = keep(pair.server->readExactly(5));
    for (char const* piece : {"a", "b", "c", "d", "e"}) {
        CHECK(!five.isReady());
        co_await pair.client->write(StringRef(piece));
        co_await delay(0.01);
    }
    Bytes all = co_await five;
    CHECK(all == "abcde"_sr);
    char exact[4];
    Bytes pieces[] = {"fo"_sr, ""_sr, "ur"_sr};
    co_await pair.client->write(std::span<Bytes>(pieces));
    std::size_t count = co_await pair.server->readExactly(exact);
    CHECK(count == 4);
    CHECK(std::string(exact, 4) == "four");
    co_await pair.client->write("ab"_sr);
    pair.client->shutdownWrite();
    Error cutOff = co_await endOf(keep(pair.server->readExactly(3)));
    CHECK(cutOff == connection_cut_off());
    std::string left = co_await readAll(pair.server);
    CHECK(left == "ab");
    Error end = co_await endOf(keep(pair.server->readExactly(3)));
    CHECK(end == end_of_stream());
    std::size_t none = co_await pair.server->readSome(exact);
    CHECK(none == 0);
}

std::string textOf(std::span<std::span<std::uint8_t> const> buffers, std::size_t size) {
    std::string text;
    for (std::span<std::uint8_t> each : buffers)
        text.append(reinterpret_cast<char*>(each.data()), each.size());
    return text.substr(0, size);
}

Future<Void> scattered() {
    Pair pair = co_await makePair();
    std::uint8_t head[3], body[8];
    std::span<std::uint8_t> const buffers[] = {head, {}, body};
    co_await pair.client->write("0123456789ab"_sr);
    std::size_t count = co_await pair.server->readExactly(buffers);
    CHECK(textOf(buffers, count) == "0123456789a");
    co_await pair.client->write("cde"_sr);
    std::string text;
    while (text.size() < 4) {
        count = co_await pair.server->readSome(buffers);
        text += textOf(buffers, count);
    }
    CHECK(text == "bcde");
    for (int i = 0; i < 30; ++i) { // a loser has taken nothing, and has written nothing
        head[0] = body[0] = '-';
        co_await pair.client->write("fghi"_sr);
        if (i % 2)
            co_await delay(0.01);
        auto first = co_await race(pair.server->readExactly(buffers), delay(i % 3 ? 0 : 0.005));
        CHECK(first.index() == 1);
        CHECK(head[0] == '-');
        CHECK(body[0] == '-');
        std::string whole = co_await readAtLeast(pair.server, 4);
        CHECK(whole == "fghi");
    }
    co_await pair.client->write("jklmn"_sr);
    for (text.clear(); text.size() < 5;) {
        co_await pair.server->readable();
        if (std::optional<std::size_t> some = pair.server->tryReadSome(buffers))
            text += textOf(buffers, *some);
    }
    CHECK(text == "jklmn");
    CHECK_FALSE(pair.server->tryReadSome(buffers).has_value());
    co_await pair.client->write("opqrs"_sr);
    pair.client->shutdownWrite();
    Error cutOff = co_await endOf(keep(pair.server->readExactly(buffers)));
    CHECK(cutOff == connection_cut_off());
    std::string left = co_await readAll(pair.server);
    CHECK(left == "opqrs");
    std::size_t none = co_await pair.server->readSome(buffers);
    CHECK(none == 0);
}

Future<Void> lines() {
    Pair pair = co_await makePair();
    co_await pair.client->write("one\r\ntwo\r"_sr);
    Bytes one = co_await pair.server->readUntil("\r\n"_sr, 100);
    CHECK(one == "one\r\n"_sr);
    Future<Bytes> two = keep(pair.server->readUntil("\r\n"_sr, 100));
    co_await delay(0.05);
    CHECK(!two.isReady());
    two = Future<Bytes>(); // has taken nothing
    co_await pair.client->write("\nthree"_sr);
    Bytes again = co_await pair.server->readUntil("\r\n"_sr, 100);
    CHECK(again == "two\r\n"_sr);
    Error tooLong = co_await endOf(keep(pair.server->readUntil("\r\n"_sr, 5)));
    CHECK(tooLong == value_too_large());
    pair.client->shutdownWrite();
    Error cutOff = co_await endOf(keep(pair.server->readUntil("\r\n"_sr, 100)));
    CHECK(cutOff == connection_cut_off());
    std::string left = co_await readAll(pair.server);
    CHECK(left == "three");
}

/// Two texts are searched for at a time: the one that comes first is found first.
Future<Void> twoTexts() {
    Pair pair = co_await makePair();
    Future<Bytes> stop = keep(pair.server->readUntil("STOP"_sr, 100));
    Future<Bytes> line = keep(pair.server->readUntil("\r\n"_sr, 100));
    co_await pair.client->write("one\r"_sr);
    co_await delay(0.02);
    co_await pair.client->write("\ntwoST"_sr);
    Bytes one = co_await line;
    CHECK(one == "one\r\n"_sr);
    CHECK_FALSE(stop.isReady());
    line = keep(pair.server->readUntil("\r\n"_sr, 100));
    co_await pair.client->write("OP\r"_sr);
    Bytes two = co_await stop;
    CHECK(two == "twoSTOP"_sr);
    co_await pair.client->write("\n"_sr);
    Bytes rest = co_await line;
    CHECK(rest == "\r\n"_sr);
    co_await pair.client->write("three\r\n"_sr);
    auto first = co_await race(pair.server->readUntil("STOP"_sr, 100), pair.server->readUntil("\r\n"_sr, 100));
    CHECK(first.index() == 1);
    co_await delay(0.02);
    co_await pair.client->write("four\r\n"_sr);
    co_await delay(0.02);
    auto next = co_await race(pair.server->readUntil("STOP"_sr, 100), pair.server->readUntil("\r\n"_sr, 100));
    CHECK(next.index() == 1);
}

Future<Void> readersInOrder() {
    Pair pair = co_await makePair();
    Future<Bytes> first = keep(pair.server->readExactly(2));
    Future<Bytes> second = keep(pair.server->readExactly(3));
    Future<Bytes> third = keep(pair.server->readExactly(1));
    second = Future<Bytes>();
    co_await pair.client->write("abc"_sr);
    Bytes ab = co_await first;
    Bytes c = co_await third;
    CHECK(ab == "ab"_sr);
    CHECK(c == "c"_sr);
}

Future<Void> aborting() {
    Pair pair = co_await makePair();
    Future<Bytes> pending = keep(pair.server->read());
    pair.server->abort();
    pair.server->abort();
    Error own = co_await endOf(pending);
    CHECK(own == operation_obsolete());
    Error other = co_await endOf(readAll(pair.client));
    CHECK(other == connection_reset());
    CHECK(isConnectionError(other));
    CHECK_FALSE(isConnectionError(own));
}

Future<Void> flushing() {
    Pair pair = co_await makePair();
    Future<std::string> reading = readAll(pair.server);
    pair.client->setWaterMarks(1000, 2000);
    (void)pair.client->write(filled(300'000));
    co_await pair.client->flushed();
    (void)pair.client->write("end"_sr);
    pair.client->close();
    std::string all = co_await reading;
    CHECK(all.size() == 300'003);
    CHECK(all.ends_with("xend"));
}

Future<Void> manyBinds() {
    std::vector<Address> at(20, transport().localAddress());
    std::vector<Reference<Listener>> listeners = transport().listenMany(at);
    std::vector<Reference<DatagramSocket>> sockets = transport().bindMany(at);
    CHECK(listeners.size() == 20);
    CHECK(sockets.size() == 20);
    std::vector<Address> twice = {listeners[3]->localAddress(), transport().localAddress()};
    Error error;
    try {
        (void)transport().listenMany(twice);
    } catch (Error& thrown) {
        error = thrown;
    }
    CHECK(error == address_in_use());
    Reference<Connection> client = co_await transport().connect(listeners[19]->localAddress());
    CHECK(client.isValid());
    Reference<Listener> later = co_await transport().listenAsync(transport().localAddress());
    CHECK(later->localAddress().port() != 0);
    CHECK(co_await endOf(transport().listenAsync(later->localAddress())) == address_in_use());
    Reference<DatagramSocket> socket = co_await transport().bindAsync(transport().localAddress());
    CHECK(co_await endOf(transport().bindAsync(socket->localAddress())) == address_in_use());
}

Future<Void> manyDatagrams() {
    Address any = transport().localAddress();
    Reference<DatagramSocket> a = transport().bind(any), b = transport().bind(any);
    std::vector<Datagram> all;
    for (int i = 0; i < 40; ++i)
        all.push_back({b->localAddress(), StringRef(std::to_string(i))});
    co_await a->send(std::span<Datagram>(all));
    long sum = 0;
    for (int i = 0; i < 40; ++i) {
        auto first = co_await race(delay(i % 2 ? 0 : 1), b->receive());
        Datagram got;
        if (first.index() == 1)
            got = std::get<1>(first);
        else
            got = co_await b->receive();
        CHECK(got.from == a->localAddress());
        sum += std::stol(got.bytes.toString());
    }
    CHECK(sum == 39 * 40 / 2);
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
        {"what loses a race has taken nothing", loserTakesNothing},
        {"reads of exactly, and of at most, so many bytes", sizesOfReads},
        {"reads into several buffers", scattered},
        {"reads up to a text", lines},
        {"reads up to two texts", twoTexts},
        {"several readers are served in order", readersInOrder},
        {"abort", aborting},
        {"flushed, and a close behind much that was written", flushing},
        {"many datagrams", manyDatagrams},
        {"many listeners and sockets", manyBinds},
    };
    return cases;
}

} // namespace flow::test
