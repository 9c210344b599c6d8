#include "net/connection.h"

#include "flow/base/random.h"
#include "flow/core/future.h"
#include "flow/sim/sim_loop.h"

#include "tests/flow/support/death.h"
#include "tests/flow/support/pending_text.h"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;

namespace {

/// Receives what a test gives it, and keeps what is sent.
class Scripted final : public Connection {
public:
    Scripted() : Connection(4, 8) {}
    void come(StringRef bytes) {
        coming_.append(bytes);
        readersMayTry();
    }
    void end() {
        ends_ = true;
        readersMayTry();
    }
    void breakOff(Error error) { fail(error); }
    void take(std::size_t bytes) {
        noteGone(bytes);
        wakeDrains();
    }
    void shutdownWrite() override { writeEnded_ = true; }
    void close() override { fail(operation_obsolete()); }
    void abort() override { close(); }
    Address localAddress() const override { return {}; }
    Address peerAddress() const override { return *Address::parse("10.0.0.7:80"); }

    int fills = 0;
    std::string sent;

private:
    bool fill(std::size_t) noexcept override {
        ++fills;
        if (coming_.isEmpty()) {
            ended_ = ends_;
            return ends_;
        }
        received_.append(coming_.data(), 1); // one byte at a time
        coming_.consume(1);
        return true;
    }
    void send(std::span<Bytes> pieces) override {
        for (Bytes const& each : pieces) {
            noteWritten(static_cast<std::size_t>(each.size()));
            sent += each.toString();
        }
    }

    ByteBuffer coming_;
    bool ends_ = false;
};

Error captureError(auto operation) {
    CHECK(operation.isReady());
    try {
        operation.take();
    } catch (Error const& error) {
        return error;
    }
    return Error();
}

} // namespace

TEST_CASE("connection: asking whether a read is ready takes nothing, however often") {
    SimLoop loop;
    auto connection = makeReference<Scripted>();
    connection->come("abc"_sr);
    Read two = connection->readExactly(2);
    Read other = connection->readExactly(3);
    CHECK(two.isReady());
    CHECK(two.isReady());
    CHECK(other.isReady());
    CHECK(two.take() == "ab"_sr);
    CHECK(connection->bufferedBytes() == 1);
    CHECK_FALSE(other.isReady());
}

TEST_CASE("connection: a text that comes in pieces is found, also across what another read has taken") {
    SimLoop loop;
    auto connection = makeReference<Scripted>();
    connection->come("ab-"_sr);
    ReadUntil line = connection->readUntil("--"_sr, 100);
    CHECK_FALSE(line.isReady());
    CHECK(connection->read(2).take() == "ab"_sr);
    connection->come("-"_sr);
    CHECK(line.isReady());
    CHECK(line.take() == "--"_sr);
}

TEST_CASE("connection: two texts are searched for at a time, and neither is missed, also across what others take") {
    SimLoop loop;
    DeterministicRandom random(11);
    for (int round = 0; round < 300; ++round) {
        auto connection = makeReference<Scripted>();
        std::string all;
        int size = random.randomInt(1, 40);
        for (int i = 0; i < size; ++i)
            all.push_back("ab-\n"[random.randomInt(0, 4)]);
        std::string_view texts[] = {"--", "\n", "ab-"};
        ReadUntil reads[] = {connection->readUntil("--"_sr, 1000), connection->readUntil("\n"_sr, 1000),
                             connection->readUntil("ab-"_sr, 1000)};
        std::size_t come = 0, taken = 0;
        while (come < all.size()) {
            std::size_t some =
                std::min<std::size_t>(static_cast<std::size_t>(random.randomInt(1, 6)), all.size() - come);
            connection->come(StringRef(std::string_view(all).substr(come, some)));
            come += some;
            for (int i : {0, 1, 2}) {
                std::size_t found = all.substr(0, come).find(texts[i], taken);
                REQUIRE(reads[i].isReady() == (found != std::string::npos));
                if (found == std::string::npos || random.coinflip())
                    continue;
                CHECK(reads[i].take().toString() == all.substr(taken, found + texts[i].size() - taken));
                taken = found + texts[i].size();
            }
        }
    }
}

TEST_CASE("connection: of those that wait for texts the one whose text comes first goes on") {
    SimLoop loop;
    auto connection = makeReference<Scripted>();
    connection->come("one"_sr);
    Future<Bytes> stop = keep(connection->readUntil("STOP"_sr, 100)), line = keep(connection->readUntil("\n"_sr, 100));
    Future<Bytes> some = keep(connection->readExactly(5)); // it waits behind them
    connection->come(" line\nand"_sr);
    loop.run();
    CHECK_FALSE(stop.isReady());
    CHECK_FALSE(some.isReady());
    REQUIRE(line.isReady());
    CHECK(line.get() == "one line\n"_sr);
    connection->come(" more STOP rest"_sr);
    loop.run();
    REQUIRE(stop.isReady());
    CHECK(stop.get() == "and more STOP"_sr);
    REQUIRE(some.isReady());
    CHECK(some.get() == " rest"_sr);
}

TEST_CASE("connection: a writer waits from above the high mark until no more than the low one is left") {
    SimLoop loop;
    auto connection = makeReference<Scripted>();
    CHECK(connection->write("12345678"_sr).isReady());
    Future<Void> room = connection->write("9"_sr);
    Future<Void> all = connection->flushed();
    loop.run();
    CHECK_FALSE(room.isReady());
    connection->take(4);
    loop.run();
    CHECK_FALSE(room.isReady()); // 5 are left
    connection->take(1);
    loop.run();
    CHECK(room.isReady());
    CHECK_FALSE(all.isReady());
    connection->take(4);
    loop.run();
    CHECK(all.isReady());
    CHECK(connection->sent == "123456789");
}

TEST_CASE("connection: closing it fails all waiters, and so does its last reference") {
    SimLoop loop;
    for (bool closes : {true, false}) {
        auto connection = makeReference<Scripted>();
        Future<Bytes> reading = keep(connection->read());
        Future<Void> writing = connection->write("123456789"_sr);
        closes ? connection->close() : connection.clear();
        loop.run();
        REQUIRE(reading.isReady());
        REQUIRE(writing.isReady());
        CHECK(reading.getError() == operation_obsolete());
        CHECK(writing.getError() == operation_obsolete());
    }
}

TEST_CASE("connection: errors of connections are distinguished from others") {
    for (Error const& error : {connection_failed(), connection_refused(), connection_timed_out(), host_unreachable(),
                               connection_reset(), connection_cut_off()})
        CHECK(isConnectionError(error));
    for (Error const& error : {operation_obsolete(), end_of_stream(), platform_error(), Error()})
        CHECK_FALSE(isConnectionError(error));
}

TEST_CASE("connection: an error says which connection it is of, and the limit") {
    SimLoop loop;
    auto errorOf = [](auto operation) {
        Error error = captureError(operation);
        return std::string(error.name()) + ": " + error.what();
    };
    auto connection = makeReference<Scripted>();
    connection->come("abcd"_sr);
    CHECK(errorOf(connection->readUntil("\n"_sr, 3)) ==
          "value_too_large: read from 10.0.0.7:80: the text that ends the read is not within 3 bytes");
    connection->end();
    std::string cutOff = "connection_cut_off: read from 10.0.0.7:80: "
                         "the connection ended before all expected bytes had arrived";
    CHECK(errorOf(connection->readUntil("\n"_sr, 10)) == cutOff);
    CHECK(errorOf(connection->readExactly(5)) == cutOff);
    CHECK(connection->readExactly(4).take() == "abcd"_sr);
    CHECK(std::string(captureError(connection->readExactly(1)).what()) == end_of_stream().what()); // an ordinary end
    std::string reset = " 10.0.0.7:80: the other side has reset the connection";
    connection->breakOff(connection_reset());
    CHECK(errorOf(connection->read()) == "connection_reset: read from" + reset);
    CHECK(errorOf(connection->write("a"_sr)) == "connection_reset: write to" + reset);
    CHECK(errorOf(connection->flushed()) == "connection_reset: write to" + reset);
    connection = makeReference<Scripted>();
    connection->breakOff(connection_reset().withSentence("10.0.0.7:80 is gone"));
    CHECK(errorOf(connection->read()) == "connection_reset: 10.0.0.7:80 is gone");
}

TEST_CASE("connection: a report of what is pending has the peer and what is to be read or written") {
    SimLoop loop;
    auto connection = makeReference<Scripted>();
    Future<Bytes> some = keep(connection->read()), exactly = keep(connection->readExactly(16));
    Future<Bytes> line = keep(connection->readUntil("\n"_sr, 100));
    Future<Void> written = keep(connection->write("0123456789"_sr));
    std::string text = flow::test::pendingText();
    INFO(text);
    CHECK(flow::test::has(text, " waits for bytes from 10.0.0.7:80\n"));
    CHECK(flow::test::has(text, " waits for 16 bytes from 10.0.0.7:80\n"));
    CHECK(flow::test::has(text, " waits for bytes up to a text from 10.0.0.7:80\n"));
    CHECK(flow::test::has(text, " waits for 6 bytes to be sent to 10.0.0.7:80\n"));
}

TEST_CASE("connection: misuse names the caller") {
    SimLoop loop;
    auto connection = makeReference<Scripted>();
    std::span<char> nothing;
    std::vector<std::span<std::uint8_t>> none;
    CHECK_NAMES_CALLER((void)connection->read(0));
    CHECK_NAMES_CALLER((void)connection->readUntil(""_sr, 100));
    CHECK_NAMES_CALLER((void)connection->readSome(nothing));
    CHECK_NAMES_CALLER((void)connection->readExactly(nothing));
    CHECK_NAMES_CALLER((void)connection->readSome(none));
    CHECK_NAMES_CALLER((void)connection->readExactly(none));
    connection->shutdownWrite();
    CHECK_NAMES_CALLER((void)connection->write("x"_sr));
}

namespace {

/// Receives straight into the reader's memory, if it is sure to have bytes.
class Straight final : public Connection {
public:
    void shutdownWrite() override {}
    void close() override { fail(operation_obsolete()); }
    void abort() override { close(); }
    Address localAddress() const override { return {}; }
    Address peerAddress() const override { return {}; }
    void come(StringRef bytes, bool isSure) {
        coming_ += bytes.toString();
        isSure_ = isSure;
        readersMayTry();
    }

    int fills = 0, asked = 0;

private:
    bool fill(std::size_t) noexcept override {
        ++fills;
        received_.append(StringRef(coming_));
        return !std::exchange(coming_, {}).empty();
    }
    std::size_t fillInto(Buffers to, std::size_t size, bool& isSomething) noexcept override {
        std::size_t total = 0, all = 0;
        for (std::span<std::uint8_t> each : to) {
            all += each.size();
            std::size_t count = std::min(each.size(), coming_.size());
            coming_.copy(reinterpret_cast<char*>(each.data()), count);
            coming_.erase(0, count);
            total += count;
        }
        CHECK(all == size);
        isSure_ = false;
        isSomething = total != 0;
        return total;
    }
    bool hasBytes(std::size_t) noexcept override {
        ++asked;
        return isSure_;
    }
    void send(std::span<Bytes>) override {}

    std::string coming_;
    bool isSure_ = false;
};

} // namespace

TEST_CASE(
    "connection: readSome() takes straight into the caller's memory what is surely there, and only when it wins") {
    SimLoop loop;
    auto connection = makeReference<Straight>();
    char buffer[4];
    std::uint8_t head[1], body[2];
    std::span<std::uint8_t> const parts[] = {head, {}, body};
    connection->come("abcdefg"_sr, true);
    ReadInto some = connection->readSome(buffer), scattered = connection->readSome(parts);
    CHECK(some.isReady());
    CHECK(scattered.isReady());
    CHECK(some.isReady());
    CHECK(connection->fills == 0); // no read has taken anything
    CHECK(some.take() == 4);
    CHECK(std::string(buffer, 4) == "abcd");
    CHECK(connection->bufferedBytes() == 0);
    CHECK(scattered.isReady()); // not surely any more: the rest is buffered, and copied
    CHECK(connection->fills == 1);
    CHECK(connection->bufferedBytes() == 3);
    connection->come("h"_sr, true);
    CHECK(scattered.take() == 3); // what is buffered comes first
    CHECK(head[0] == 'e');
    CHECK(body[1] == 'g');
    CHECK(scattered.isReady());
    CHECK(scattered.take() == 1);
    CHECK(connection->fills == 1);
    int asked = connection->asked;
    CHECK_FALSE(connection->readExactly(buffer).isReady()); // which may have to wait for the rest
    CHECK_FALSE(connection->read().isReady());
    CHECK(connection->asked == asked);
}

TEST_CASE("connection: a transport that was wrong about bytes fails the connection, and is no end") {
    SimLoop loop;
    auto connection = makeReference<Straight>();
    char buffer[4];
    connection->come(""_sr, true);
    ReadInto some = connection->readSome(buffer);
    CHECK(some.isReady());
    CHECK_THROWS_AS(some.take(), Error);
    CHECK(connection->failure() == connection_failed());
}

TEST_CASE("connection: a read that receives straight counts for its turn as others do") {
    SimLoop loop;
    auto connection = makeReference<Straight>();
    std::string buffer(1000 * TurnBudget::kBytesOfOne, 'x');
    connection->come(StringRef(buffer), true);
    TurnBudget::begin();
    CHECK(connection->readSome(buffer).take() == buffer.size());
    CHECK(TurnBudget::isSpent());
    connection->come("x"_sr, true);
    CHECK_FALSE(connection->readSome(buffer).isReady());
    TurnBudget::begin();
    CHECK(connection->readSome(buffer).isReady());
}
