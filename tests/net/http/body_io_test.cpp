#include "net/http/detail/body_io.h"

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "net/testing/connection_pair.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::net;
using namespace flow::net::http;
using namespace flow::net::http::detail;
using namespace flow::test;

namespace {

struct Outcome {
    std::string text;     // the body, or the name of the error
    int status = 0;       // of the refusal
    std::string left;     // behind the body
    std::string trailers; // as text
};

Framing framingOf(Framing::Kind kind, std::uint64_t length = 0) {
    Framing framing;
    framing.kind = kind;
    framing.length = length;
    return framing;
}

/// Writes the bytes one at a time, or all at once.
Future<Void> write(Reference<Connection> to, std::string bytes, bool slowly) {
    if (!slowly)
        (void)to->write(StringRef(bytes));
    for (std::size_t i = 0; slowly && i < bytes.size(); ++i) {
        (void)to->write(StringRef(bytes.substr(i, 1)));
        co_await delay(0.001);
    }
    to->shutdownWrite();
}

Future<Outcome> readOn(Framing framing, std::string bytes, BodyLimits limits, bool slowly) {
    ConnectionPair pair = connectionPair();
    Future<Void> writing = write(pair.first, bytes, slowly);
    auto source = makeReference<ReceivedBody>(pair.second, framing, limits);
    Body body = Body::from(source, framing.size());
    Outcome outcome;
    ErrorOr<std::string> text = co_await tryGet(body.text(1 << 30));
    outcome.text = text.isError() ? text.getError().name() : text.get();
    outcome.status = source->refusal().status;
    outcome.trailers = body.trailers().text();
    CHECK(source->isAtEnd() != text.isError());
    while (source->isAtEnd()) {
        Bytes more = co_await pair.second->read();
        if (more.empty())
            break;
        outcome.left += more.toStringView();
    }
    co_await writing;
    co_return outcome;
}

Outcome readAs(Framing framing, std::string const& bytes, BodyLimits limits = {}) {
    Balance balance;
    SimLoop loop;
    Outcome whole = loop.run(readOn(framing, bytes, limits, false));
    Outcome slow = loop.run(readOn(framing, bytes, limits, true));
    CHECK(whole.text == slow.text);
    CHECK(whole.status == slow.status);
    CHECK(whole.left == slow.left);
    CHECK(whole.trailers == slow.trailers);
    return whole;
}
Outcome readChunked(std::string const& bytes, BodyLimits limits = {}) {
    return readAs(framingOf(Framing::Kind::Chunked), bytes, limits);
}

} // namespace

TEST_CASE("http body: a length, and what is behind it") {
    Outcome outcome = readAs(framingOf(Framing::Kind::Length, 5), "hellonext");
    CHECK(outcome.text == "hello");
    CHECK(outcome.left == "next");
    CHECK(readAs(framingOf(Framing::Kind::Length, 5), "hell").text == "connection_cut_off");
    CHECK(readAs(framingOf(Framing::Kind::Length, 5), "").text == "connection_cut_off");
    CHECK(readAs(framingOf(Framing::Kind::UntilEnd), "hello").text == "hello");
    CHECK(readAs(framingOf(Framing::Kind::UntilEnd), "").text == "");
    CHECK(readAs(framingOf(Framing::Kind::UntilEnd), "hello", {.bytes = 4}).status == 413);
    CHECK(readAs(framingOf(Framing::Kind::None), "next").left == "next");
}

TEST_CASE("http body: chunks and trailers") {
    Outcome outcome = readChunked("5\r\nhello\r\n0C;a=b;c=\"d\"\r\n, everybody!\r\n0\r\nA: 1\r\nB: 2\r\n\r\nnext");
    CHECK(outcome.text == "hello, everybody!");
    CHECK(outcome.left == "next");
    CHECK(outcome.trailers == "A: 1\r\nB: 2\r\n");
    CHECK(readChunked("0\r\n\r\n").text == "");
    CHECK(readChunked("000\r\n\r\nx").left == "x");
}

TEST_CASE("http body: chunks that two programs could read differently are refused") {
    for (std::string wrong : {"5\nhello\r\n0\r\n\r\n",
                              "5 \r\nhello\r\n0\r\n\r\n",
                              " 5\r\nhello\r\n0\r\n\r\n",
                              "+5\r\nhello\r\n0\r\n\r\n",
                              "-5\r\nhello\r\n0\r\n\r\n",
                              "0x5\r\nhello\r\n0\r\n\r\n",
                              "\r\nhello\r\n0\r\n\r\n",
                              "g\r\nhello\r\n",
                              "5\r\nhelloX\r\n0\r\n\r\n",
                              "5\r\nhello\n0\r\n\r\n",
                              "5\r\nhello\rX0\r\n\r\n",
                              "5\r\nhello0\r\n\r\n",
                              "5;a\rb\r\nhello\r\n0\r\n\r\n",
                              "5;a\nb\r\nhello\r\n0\r\n\r\n",
                              "5\t;a\r\nhello\r\n0\r\n\r\n",
                              "FFFFFFFFFFFFFFFF5\r\nhello\r\n0\r\n\r\n",
                              "10000000000000005\r\nhello\r\n0\r\n\r\n",
                              "0\r\nA : 1\r\n\r\n",
                              "0\r\nA: 1\nB: 2\r\n\r\n",
                              "0\r\n A: 1\r\n\r\n",
                              "0\r\nA\r\n\r\n"}) {
        INFO(wrong);
        Outcome outcome = readChunked(wrong);
        CHECK(outcome.text == "serialization_failed");
        CHECK(outcome.status == 400);
    }
    CHECK(readChunked(std::string("5;\0\r\nhello\r\n0\r\n\r\n", 18)).status == 400);
    for (std::string cut : {"", "5", "5\r", "5\r\n", "5\r\nhell", "5\r\nhello", "5\r\nhello\r", "5\r\nhello\r\n",
                            "5\r\nhello\r\n0\r\n", "5\r\nhello\r\n0\r\n\r", "0\r\nA: 1\r\n"})
        CHECK(readChunked(cut).text == "connection_cut_off");
}

TEST_CASE("http body: limits of chunked bodies") {
    CHECK(readChunked("5\r\nhello\r\n5\r\nhello\r\n0\r\n\r\n", {.bytes = 10}).text == "hellohello");
    CHECK(readChunked("5\r\nhello\r\n6\r\nhello!\r\n0\r\n\r\n", {.bytes = 10}).status == 413);
    CHECK(readChunked("FFFFFFFFFFFFFFF\r\nhello", {.bytes = 10}).status == 413);
    CHECK(readChunked("5;" + std::string(100, 'x') + "\r\n", {.trailerBytes = 100}).status == 431);
    CHECK(readChunked("0\r\n" + std::string(20, 'x') + ": y\r\n" + std::string(80, 'z') + ": y\r\n\r\n",
                      {.trailerBytes = 100})
              .status == 431);
    CHECK(readChunked("0\r\nA: 1\r\nB: 2\r\n\r\n", {.trailerFields = 1}).status == 431);
    std::string small, padded;
    for (int i = 0; i < 300; ++i) {
        small += "1\r\nx\r\n";
        padded += "1;" + std::string(100, 'p') + "\r\nx\r\n";
    }
    CHECK(readChunked(small + "0\r\n\r\n").text == std::string(300, 'x'));
    CHECK(readChunked(padded + "0\r\n\r\n").status == 400);
}

namespace {

Future<Void> tooSlow() {
    ConnectionPair pair = connectionPair();
    auto source =
        makeReference<ReceivedBody>(pair.second, framingOf(Framing::Kind::Length, 100'000), BodyLimits{.seconds = 10});
    double begin = now();
    co_await delay(1000); // the time in which nobody reads does not count
    Future<Void> writing = write(pair.first, std::string(100, 'x'), true);
    Bytes some = co_await source->next();
    CHECK(some == "x"_sr);
    Error error;
    try {
        for (;;) {
            Bytes more = co_await source->next();
            CHECK_FALSE(more.empty());
        }
    } catch (Error& thrown) {
        error = thrown;
    }
    CHECK(error == connection_cut_off());
    CHECK(now() - begin < 1001);
}

Future<Void> tooSlowWithoutEnd() {
    ConnectionPair pair = connectionPair();
    auto source =
        makeReference<ReceivedBody>(pair.second, framingOf(Framing::Kind::Length, 100'000), BodyLimits{.seconds = 10});
    Error error;
    double begin = now();
    try {
        for (;;) {
            (void)pair.first->write("x"_sr); // again and again, but not enough
            Bytes more = co_await source->next();
            co_await delay(0.5);
            (void)pair.first->write("x"_sr);
            Future<Bytes> next = source->next();
            co_await delay(0.5);
            Bytes one = co_await std::move(next);
            Future<Bytes> late = source->next();
            co_await delay(0.9);
            (void)pair.first->write("x"_sr);
            Bytes two = co_await std::move(late);
        }
    } catch (Error& thrown) {
        error = thrown;
    }
    CHECK(error == timed_out());
    CHECK(source->refusal().status == 408);
    CHECK(now() - begin > 10);
    CHECK(now() - begin < 40);
}

Future<Void> dropped() {
    ConnectionPair pair = connectionPair();
    auto source = makeReference<ReceivedBody>(pair.second, framingOf(Framing::Kind::Length, 5), BodyLimits());
    {
        Future<Bytes> lost = source->next();
        co_await delay(1);
    }
    (void)pair.first->write("hello"_sr);
    Bytes piece = co_await source->next();
    CHECK(piece == "hello"_sr);
    auto other = makeReference<ReceivedBody>(pair.second, framingOf(Framing::Kind::Length, 5), BodyLimits());
    Future<Bytes> waiting = other->next();
    other->detach();
    (void)pair.first->write("other"_sr);
    ErrorOr<Bytes> late = co_await tryGet(std::move(waiting));
    CHECK(late.getError() == operation_obsolete());
    Bytes next = co_await pair.second->read();
    CHECK(next == "other"_sr);
}

/// Gives the pieces, some of them late.
NextPiece piecesOf(std::vector<std::string> pieces) {
    auto all = std::make_shared<std::vector<std::string>>(std::move(pieces));
    auto at = std::make_shared<std::size_t>(0);
    return [all, at]() -> Future<Bytes> {
        std::size_t index = (*at)++;
        return index < all->size() ? Bytes(StringRef((*all)[index])) : Bytes();
    };
}

Future<std::string> readToEnd(Reference<Connection> from) {
    std::string all;
    for (;;) {
        Bytes some = co_await from->read();
        if (some.empty())
            co_return all;
        all += some.toStringView();
    }
}

Future<std::string> sent(Body body, Framed framed, Headers trailers) {
    ConnectionPair pair = connectionPair();
    Future<std::string> reading = readToEnd(pair.second);
    std::uint64_t count = 0;
    Future<Void> sending = sendBody(pair.first.getPtr(), "head|", &body, framed, &trailers, 10, &count);
    ErrorOr<Void> result = co_await tryGet(std::move(sending));
    pair.first->shutdownWrite();
    std::string all = co_await reading;
    co_return result.isError() ? result.getError().name() : all;
}

Future<Void> neverReading() {
    ConnectionPair pair = connectionPair();
    Body body = Bytes(StringRef(std::string(10 << 20, 'x')));
    std::uint64_t count = 0;
    double begin = now();
    ErrorOr<Void> result =
        co_await tryGet(sendBody(pair.first.getPtr(), "", &body, Framed::Plain, nullptr, 10, &count));
    CHECK(result.getError() == connection_timed_out());
    CHECK(now() - begin == 10);
    CHECK(pair.first->queuedBytes() <= Connection::kHighWater + kStep);
}

} // namespace

TEST_CASE("http body: a sender has a time for each step") {
    SimLoop loop;
    loop.run(tooSlow());
    loop.run(tooSlowWithoutEnd());
}

TEST_CASE("http body: a dropped read has taken nothing, and none takes what is behind the exchange") {
    Balance balance;
    SimLoop loop;
    loop.run(dropped());
}

TEST_CASE("http body: bytes, streams and chunks are sent") {
    SimLoop loop;
    CHECK(loop.run(sent("hello", Framed::Plain, {})) == "head|hello");
    CHECK(loop.run(sent("hello", Framed::Chunked, {})) == "head|5\r\nhello\r\n0\r\n\r\n");
    CHECK(loop.run(sent(Body(), Framed::Chunked, {})) == "head|0\r\n\r\n");
    CHECK(loop.run(sent(Body(), Framed::Plain, {})) == "head|");
    CHECK(loop.run(sent(Body::stream(piecesOf({"a", "bc"})), Framed::Chunked, {{"Sum", "1"}})) ==
          "head|1\r\na\r\n2\r\nbc\r\n0\r\nSum: 1\r\n\r\n");
    CHECK(loop.run(sent(Body::stream(piecesOf({"a", "bc"}), 3), Framed::Plain, {})) == "head|abc");
    CHECK(loop.run(sent(Body::stream(piecesOf({"a", "bc"}), 4), Framed::Plain, {})) == "operation_failed");
    CHECK(loop.run(sent(Body::stream(piecesOf({"a", "bc"}), 2), Framed::Plain, {})) == "operation_failed");
    std::string large(300'000, 'y');
    bool isWhole = loop.run(sent(Body(large), Framed::Plain, {})) == "head|" + large;
    CHECK(isWhole);
    loop.run(neverReading());
}
