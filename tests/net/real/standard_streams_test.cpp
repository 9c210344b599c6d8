#include "net/real/standard_streams.h"

#include "flow/combine/errors.h"
#include "flow/combine/race.h"
#include "flow/file/lines.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "net/real/adopt.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/temporary_directory.h"
#include "tests/net/real/stream_ends.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

Future<std::string> allLines(Reference<Connection> from) {
    Lines lines(from);
    std::string all;
    while (Optional<std::string> line = co_await lines.next())
        all += *line + ".";
    co_return all;
}

std::string whyNoStream(int descriptor) {
    try {
        adoptStream(descriptor);
        return "";
    } catch (Error& error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("standard streams: lines from a pipe; a cancel takes nothing") {
    onEachPoller([] {
        NoneLeft none;
        Balance balance;
        {
            TwoEnds pipe = TwoEnds::ofPipe();
            StandsFor input(0, pipe[0]);
            SameFlags flags(0);
            RealLoop loop;
            auto test = [](TwoEnds* feed, SameFlags* same) -> Future<Void> {
                Lines lines(standardInput());
                CHECK(standardInput() == standardInput());
                feed->send("one\ntwo\nthr");
                Optional<std::string> line = co_await lines.next();
                CHECK(line == std::string("one"));
                line = co_await lines.next();
                CHECK(line == std::string("two"));
                for (int i = 0; i < 3; ++i) {
                    auto first = co_await race(lines.next(), delay(0.001));
                    CHECK(first.index() == 1);
                }
                same->check();
                feed->send("ee\nfour");
                feed->closeEnd(1);
                Future<std::string> rest = allLines(standardInput());
                line = co_await lines.next();
                CHECK(line == std::string("three"));
                line = co_await lines.next();
                CHECK(line == std::string("four"));
                line = co_await lines.next();
                CHECK_FALSE(line.present());
                std::string nothing = co_await std::move(rest);
                CHECK(nothing == "");
            };
            loop.run(test(&pipe, &flags));
        }
    });
}

TEST_CASE("standard streams: a file is read from its shared position, and written at its end") {
    onEachPoller([] {
        NoneLeft none;
        TemporaryDirectory here;
        std::string path = here.path() + "/file";
        std::ofstream(path) << "skipped\none\ntwo";
        {
            int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
            CHECK(::lseek(file, 8, SEEK_SET) == 8);
            StandsFor input(0, file);
            SameFlags flags(0);
            RealLoop loop;
            CHECK(loop.run(allLines(standardInput())) == "one.two.");
            CHECK(::lseek(file, 0, SEEK_CUR) == 15);
            ::close(file);
        }
        {
            RealLoop loop;
            auto test = [](int file) -> Future<Void> {
                Reference<Connection> output = adoptStream(file);
                for (int i = 0; i < 100; ++i)
                    co_await output->write("0123456789"_sr);
                co_await output->flushed();
                output->shutdownWrite();
            };
            loop.run(test(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)));
            CHECK(std::filesystem::file_size(path) == 15 + 1000);
        }
    });
}

TEST_CASE("standard streams: lines from a terminal, and output to it") {
    onEachPoller([] {
        NoneLeft none;
        Balance balance;
        TwoEnds terminal = TwoEnds::ofTerminal();
        if (!terminal)
            return;
        StandsFor input(0, terminal[0]), output(1, terminal[0]);
        SameFlags flags(0);
        RealLoop loop;
        auto test = [](TwoEnds* typed, SameFlags* same) -> Future<Void> {
            typed->send("line one\nline two\nthree\n\x04"); // the last one is Ctrl-D
            std::string lines = co_await allLines(standardInput());
            CHECK(lines == "line one.line two.three.");
            // The side that controls a terminal cannot be opened anew, so threads read it.
            Reference<Connection> screen = adoptStream(::fcntl((*typed)[1], F_DUPFD_CLOEXEC, 0));
            std::string text(100'000, 'x');
            Reference<Connection> out = standardOutput();
            Drain room = out->write(StringRef(text));
            CHECK_FALSE(room.isReady());
            same->check();
            Bytes shown = co_await screen->readExactly(100'000);
            CHECK(shown == StringRef(text));
            co_await out->flushed();
        };
        loop.run(test(&terminal, &flags));
    });
}

TEST_CASE("standard streams: a reader that has gone is an error, without a signal") {
    onEachPoller([] {
        NoneLeft none;
        TemporaryDirectory here;
        std::string path = here.path() + "/fifo";
        REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
        TwoEnds pipe = TwoEnds::ofPipe();
        int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        int fifo = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        ::close(reader);
        pipe.closeEnd(0);
        for (int end : {pipe.take(1), fifo}) { // a FIFO without a reader cannot be opened anew: a thread writes
            StandsFor output(1, end);
            ::close(end);
            RealLoop loop;
            Error error = loop.run(failureOfWrite(standardOutput()));
            CHECK(error == connection_reset());
            CHECK(std::string(error.what()) == "write \"standard output\": Broken pipe");
            CHECK(loop.run(failureOfWrite(standardOutput())) == connection_reset());
        }
        sigset_t pending;
        ::sigpending(&pending);
        CHECK(::sigismember(&pending, SIGPIPE) == 0);
    });
}

TEST_CASE("standard streams: the flags are the same after a crash") {
    NoneLeft none;
    TwoEnds terminal = TwoEnds::ofTerminal(), pipe = TwoEnds::ofPipe();
    for (int end : {terminal[0], pipe[0]}) {
        if (end < 0)
            continue;
        StandsFor input(0, end);
        SameFlags flags(end);
        Death death = runInChild([] {
            RealLoop loop;
            auto test = []() -> Future<Void> {
                (void)co_await race(standardInput()->read(), delay(0.001));
                ::raise(SIGKILL);
            };
            loop.run(test());
        });
        CHECK(death.signal == SIGKILL);
    }
}

TEST_CASE("standard streams: a socket (inetd) is one connection") {
    onEachPoller([] {
        NoneLeft none;
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
        StandsFor input(0, ends[0]), output(1, ends[0]);
        ::close(ends[0]);
        RealLoop loop;
        auto test = [](int peer) -> Future<Void> {
            Reference<Connection> client = adoptConnection(peer);
            Reference<Connection> in = standardInput(), out = standardOutput();
            CHECK(in == out);
            Future<Void> echoing = echoOnce(in);
            co_await askTimes(client, 3);
            client->shutdownWrite();
            co_await std::move(echoing);
        };
        loop.run(test(ends[1]));
    });
}

TEST_CASE("standard streams: wrong uses") {
    NoneLeft none;
    RealLoop loop;
    auto test = []() -> Future<Void> {
        TwoEnds pipe = TwoEnds::ofPipe();
        int closed = pipe[1] + 100;
        CHECK(whyNoStream(closed) == "adoptStream(): descriptor " + std::to_string(closed) + " is not open");
        std::string why;
        try {
            StandsFor input(0, pipe[1]);
            (void)standardInput();
        } catch (Error& error) {
            CHECK(error == client_invalid_operation());
            why = error.what();
        }
        CHECK(why == "standardInput(): descriptor 0 is not open for reading");
        std::string name = "descriptor " + std::to_string(pipe[0]);
        Reference<Connection> from = adoptStream(pipe.take(0)), to = adoptStream(pipe.take(1));
        Error error = co_await failureOfWrite(from);
        CHECK(std::string(error.what()) == "a write to " + name + ", which is for reading");
        ErrorOr<Bytes> read = co_await errorOr(keep(to->read()));
        CHECK(read.isError());
        CHECK(read.getError() == client_invalid_operation());
        from->close();
        error = co_await failureOfWrite(from);
        CHECK(error == operation_obsolete());
    };
    loop.run(test());
}

TEST_CASE("standard streams: a simulation has none") {
    NoneLeft none;
    SimLoop loop;
    auto test = []() -> Future<Void> {
        std::string why = whyNoStream(0);
        CHECK(why ==
              "adoptStream(): a simulation has no such streams; give the code that reads and writes a Connection");
        co_return;
    };
    loop.run(test());
}
