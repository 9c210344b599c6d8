// How a stream reads, writes and ends: on its own description, and on threads.
#include "net/real/detail/real_stream.h"

#include "flow/combine/errors.h"
#include "flow/combine/race.h"
#include "flow/wait/delay.h"
#include "net/real/standard_streams.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/temporary_directory.h"
#include "tests/net/real/stream_ends.h"

#include <filesystem>
#include <memory>
#include <string>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

Future<std::string> allBytes(Reference<Connection> from) {
    std::string all;
    for (;;) {
        Bytes some = co_await from->read();
        if (some.empty())
            co_return all;
        all += some.toString();
    }
}

} // namespace

TEST_CASE("real stream: a reader that was cancelled at any wait leaves the rest to the next") {
    onEachPoller([] {
        NoneLeft none;
        for (int turns = 0; turns < 12; ++turns) {
            Balance balance;
            TwoEnds pipe = TwoEnds::ofPipe();
            RealLoop loop;
            std::string got;
            auto read = [](Connection* from, std::string* to) -> Future<Void> {
                for (;;) {
                    Bytes bytes = co_await from->readExactly(3);
                    *to += bytes.toString();
                }
            };
            auto test = [&]() -> Future<Void> {
                Reference<Connection> stream = adoptStream(pipe.take(0));
                Future<Void> reading = read(stream.getPtr(), &got);
                for (int i = 0; i < turns; ++i) {
                    pipe.send("ab");
                    co_await delay(0);
                }
                reading = Future<Void>();
                pipe.send("end");
                pipe.closeEnd(1);
                std::string rest = co_await allBytes(stream);
                std::string sent;
                for (int i = 0; i < turns; ++i)
                    sent += "ab";
                CHECK(got + rest == sent + "end");
            };
            auto running = test();
            loop.run(std::move(running));
        }
    });
}

TEST_CASE("real stream: a read that blocks on a thread ends with a cancel, and nothing waits for it") {
    onEachPoller([] {
        NoneLeft none;
        TwoEnds terminal = TwoEnds::ofTerminal();
        if (!terminal)
            return;
        {
            RealLoop loop;
            auto test = [](int control, int other) -> Future<Void> {
                Reference<Connection> screen = adoptStream(control);
                for (int i = 0; i < 3; ++i) {
                    auto first = co_await race(screen->read(), delay(0.001));
                    CHECK(first.index() == 1);
                }
                CHECK(::write(other, "kept", 4) == 4);
                Bytes kept = co_await screen->readExactly(4);
                CHECK(kept == "kept"_sr);
                (void)co_await race(screen->read(), delay(0.001)); // the thread is blocked from here on
            };
            loop.run(test(::fcntl(terminal[1], F_DUPFD_CLOEXEC, 0), terminal[0]));
        }
        terminal.closeEnd(0);
        terminal.closeEnd(1);
    });
}

TEST_CASE("real stream: a loop with a read that nobody waits for drains") {
    NoneLeft none;
    TwoEnds terminal = TwoEnds::ofTerminal();
    if (!terminal)
        return;
    RealLoop loop;
    auto test = [](int control) -> Future<Void> {
        Reference<Connection> screen = adoptStream(control);
        (void)co_await race(screen->read(), delay(0.001));
        Future<Bytes> reading = keep(screen->read());
        co_await delay(0.001);
        reading = Future<Bytes>();
        Promise<Void> never;
        co_await never.getFuture();
    };
    CHECK_THROWS_AS(loop.run(test(::fcntl(terminal[1], F_DUPFD_CLOEXEC, 0))), Error);
}

TEST_CASE("real stream: a reader that goes while a write waits") {
    onEachPoller([] {
        NoneLeft none;
        RealLoop loop;
        auto test = []() -> Future<Void> {
            TwoEnds pipe = TwoEnds::ofPipe();
            Reference<Connection> output = adoptStream(pipe.take(1));
            std::string text(300'000, 'x');
            Future<Void> writing = output->write(StringRef(text));
            co_await delay(0.001);
            CHECK_FALSE(writing.isReady());
            pipe.closeEnd(0);
            ErrorOr<Void> result = co_await errorOr(std::move(writing));
            CHECK(result.isError());
            CHECK(result.getError() == connection_reset());
        };
        loop.run(test());
    });
}

TEST_CASE("real stream: a full disk") {
    NoneLeft none;
    RealLoop loop;
    int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    std::string number = std::to_string(full);
    Error error = loop.run(failureOfWrite(adoptStream(full)));
    CHECK(error == disk_full());
    CHECK(std::string(error.what()) == "write \"descriptor " + number + "\": No space left on device");
}

TEST_CASE("real stream: a writer waits for its reader, and a closed stream still writes") {
    onEachPoller([] {
        NoneLeft none;
        Balance balance;
        {
            RealLoop loop;
            auto write = [](Reference<Connection> to) -> Future<Void> {
                std::string text(100'000, 'x');
                for (int i = 0; i < 20; ++i) {
                    co_await to->write(StringRef(text));
                    CHECK(to->queuedBytes() <= Connection::kHighWater);
                }
                to->write(StringRef(text));
                to->close();
            };
            auto test = [](auto writer) -> Future<Void> {
                TwoEnds pipe = TwoEnds::ofPipe();
                Reference<Connection> from = adoptStream(pipe.take(0));
                Future<Void> writing = writer(adoptStream(pipe.take(1)));
                std::string all = co_await allBytes(from);
                CHECK(all == std::string(2'100'000, 'x'));
                co_await std::move(writing);
                co_await transport().settled();
            };
            loop.run(test(write));
        }
    });
}

TEST_CASE("real stream: an error of a read comes again with each read") {
    NoneLeft none;
    RealLoop loop;
    auto test = []() -> Future<Void> {
        int folder = ::open("/", O_RDONLY | O_CLOEXEC);
        std::string sentence = "read \"descriptor " + std::to_string(folder) + "\": Is a directory";
        Reference<Connection> stream = adoptStream(folder);
        for (int i = 0; i < 2; ++i) {
            ErrorOr<Bytes> read = co_await errorOr(keep(stream->read()));
            CHECK(read.isError());
            CHECK(read.getError() == io_error());
            CHECK(std::string(read.getError().what()) == sentence);
        }
        CHECK(stream->failure() == io_error());
    };
    loop.run(test());
}

TEST_CASE("real stream: a closed stream writes on, also by threads") {
    onEachPoller([] {
        NoneLeft none;
        TemporaryDirectory here;
        std::string path = here.path() + "/file";
        RealLoop loop;
        auto test = [](int file) -> Future<Void> {
            std::string text(300'000, 'x');
            Reference<Connection> output = adoptStream(file);
            for (int i = 0; i < 5; ++i)
                output->write(StringRef(text));
            output = Reference<Connection>();
            co_await transport().settled();
        };
        loop.run(test(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)));
        CHECK(std::filesystem::file_size(path) == 1'500'000);
    });
}

TEST_CASE("real stream: unsent bytes are dropped after a time, by abort(), and at the end of the loop") {
    onEachPoller([] {
        NoneLeft none;
        Balance balance;
        std::string text(300'000, 'x');
        TwoEnds pipe = TwoEnds::ofPipe();
        auto loop = std::make_unique<RealLoop>();
        auto writeTo = [&] {
            Reference<Connection> output = adoptStream(::fcntl(pipe[1], F_DUPFD_CLOEXEC, 0));
            output->write(StringRef(text));
            return output;
        };
        auto test = [&]() -> Future<Void> {
            Reference<Connection> output = writeTo();
            output->abort();
            CHECK(output->write("x"_sr).error == operation_obsolete());
            output = writeTo();
            RealConnection::linger = 0.001;
            output->close();
            RealConnection::linger = Connection::kLinger;
            Future<Void> settled = transport().settled();
            CHECK_FALSE(settled.isReady());
            co_await std::move(settled);
            writeTo();
        };
        auto running = test();
        loop->run(std::move(running));
        Reference<Connection> left = writeTo();
        Future<Void> flushed = left->flushed();
        loop.reset();
        CHECK_FALSE(flushed.isReady());
        flushed = Future<Void>();
    });
}

TEST_CASE("real stream: a thread waits for a file that another program has made non-blocking") {
    NoneLeft none;
    TwoEnds terminal = TwoEnds::ofTerminal();
    if (!terminal)
        return;
    ::fcntl(terminal[1], F_SETFL, O_RDWR | O_NONBLOCK);
    SameFlags flags(terminal[1]);
    RealLoop loop;
    auto test = [](int control, int other) -> Future<Void> {
        Reference<Connection> screen = adoptStream(control);
        auto first = co_await race(screen->read(), delay(0.001));
        CHECK(first.index() == 1);
        CHECK(::write(other, "late", 4) == 4);
        Bytes late = co_await screen->readExactly(4);
        CHECK(late == "late"_sr);
        std::string typed(100'000, 'y'); // more than the terminal holds
        typed.back() = '\n';
        screen->write(StringRef(typed));
        co_await delay(0.001);
    };
    loop.run(test(::fcntl(terminal[1], F_DUPFD_CLOEXEC, 0), terminal[0]));
    flags.check();
}
