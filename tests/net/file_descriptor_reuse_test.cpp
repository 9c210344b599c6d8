// Descriptors that their owner closes, and numbers that are given out again.

#include "tests/net/file_descriptor_suite.h"

#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/descriptors.h"

#include <memory>
#include <optional>
#include <string>
#include <sys/eventfd.h>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

TEST_CASE("file descriptor: a descriptor that was closed, or that now is another file, fails the wait") {
    onEachPoller([] {
        RealLoop loop;
        auto test = [](int waitsBefore, bool isCancelled, bool isReused) -> Future<Void> {
            ForeignPair pair = ForeignPair::ofSocket(), other = ForeignPair::ofSocket();
            FileDescriptor descriptor(pair[0]);
            for (int i = 0; i < waitsBefore; ++i) {
                pair.send();
                co_await descriptor.readable();
                CHECK(pair.take() == 1);
            }
            if (isCancelled)
                (void)keep(descriptor.readable());
            int number = pair[0];
            pair.close(0);
            if (isReused)
                CHECK(::dup2(other[0], number) == number);
            other.send();
            for (int i = 0; i < 2; ++i) {
                Error error = co_await endOf(endOfWait(descriptor.readable()));
                CHECK(error == operation_obsolete());
                CHECK(std::string(error.what()).find("descriptor " + std::to_string(number)) != std::string::npos);
            }
            if (isReused) {
                FileDescriptor again(number); // as a library does that has made another connection
                co_await timeoutError(keep(again.readable()), 10.0);
                ::close(number);
            }
        };
        for (int waitsBefore : {0, 1, 2})
            for (bool isCancelled : {false, true})
                for (bool isReused : {false, true})
                    loop.run(test(waitsBefore, isCancelled, isReused));
        FileDescriptor never(-1);
        CHECK(loop.run(endOf(endOfWait(never.readable()))) == operation_obsolete());
    });
}

TEST_CASE("file descriptor: epoll notices that another eventfd has the number") {
    ChosenPoller chosen("epoll");
    RealLoop loop;
    auto test = []() -> Future<Void> {
        int number = ::eventfd(1, EFD_CLOEXEC);
        FileDescriptor first(number);
        co_await first.readable();
        ::close(number);
        CHECK(::eventfd(1, EFD_CLOEXEC) == number);
        Error error = co_await endOf(endOfWait(first.readable()));
        CHECK(error == operation_obsolete());
        FileDescriptor second(number, FileDescriptor::Owned);
        co_await second.readable();
    };
    loop.run(test());
}

TEST_CASE("file descriptor: a library that changes its descriptor is served without a leak") {
    onEachPoller([] {
        Balance balance;
        RealLoop loop;
        auto test = []() -> Future<Void> {
            int before = openDescriptors();
            {
                ForeignPair stable = ForeignPair::ofSocket();
                int number = ::dup(stable[0]);
                std::optional<FileDescriptor> descriptor;
                for (int i = 0; i < 100; ++i) { // as PQconnectPoll() may do
                    ForeignPair next = ForeignPair::ofSocket();
                    CHECK(::dup2(next[0], number) == number); // while the one before is registered
                    next.send();
                    descriptor.emplace(number);
                    co_await timeoutError(keep(descriptor->readable()), 10.0);
                    char byte;
                    CHECK(::read(number, &byte, 1) == 1);
                    auto first =
                        co_await race(descriptor->readable(), delay(i % 2 == 0 ? 0.0 : 10.0), descriptor->writable());
                    CHECK(first.index() != 0);
                }
                ::close(number);
            }
            CHECK(openDescriptors() == before);
        };
        loop.run([](auto inner) -> Future<Void> {
            (void)keep(transport().listen(Address(0x7F000001, 0))->accept()); // opens the poller
            co_await inner();
        }(test));
    });
}

TEST_CASE("file descriptor: closing it while a wait is parked resumes nothing else, and harms nothing else") {
    onEachPoller([] {
        RealLoop loop;
        auto test = []() -> Future<Void> {
            Pair pair = co_await makePairAt(Address(0x7F000001, 0));
            Future<Void> echoing = echoOnce(pair.server);
            ForeignPair victim = ForeignPair::ofSocket();
            int number = victim[0], copy = ::dup(number); // the open file lives on, and with it epoll's registration
            auto descriptor = std::make_unique<FileDescriptor>(number);
            Future<Void> parked = keep(descriptor->readable());
            co_await delay(0.001);
            victim.close(0);
            ForeignPair other = ForeignPair::ofSocket();
            CHECK(other[0] == number);
            {
                FileDescriptor second(number);
                Future<Void> waiting = keep(second.readable());
                co_await delay(0.001);
                CHECK(::write(victim[1], "x", 1) == 1); // news of the old file
                co_await delay(0.001);
                CHECK_FALSE(waiting.isReady());
                parked = Future<Void>(); // must not end the other wait
                descriptor.reset();
                co_await delay(0.001);
                other.send();
                co_await timeoutError(std::move(waiting), 10.0);
            }
            ::close(copy);
            co_await askTimes(pair.client, 3);
        };
        loop.run(test());
    });
}

TEST_CASE("file descriptor: the number of a borrowed one becomes a connection's") {
    onEachPoller([] {
        RealLoop loop;
        auto test = []() -> Future<Void> {
            Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
            ForeignPair library = ForeignPair::ofSocket();
            FileDescriptor stale(library[0]);
            library.send();
            co_await stale.readable();
            int number = library[0];
            library.close(0);
            Reference<Connection> client = co_await transport().connect(listener->localAddress());
            Reference<Connection> server = co_await listener->accept();
            (void)number; // the connection most likely has it
            Future<Void> echoing = echoOnce(server);
            Error error = co_await endOf(endOfWait(stale.readable()));
            CHECK(error == operation_obsolete());
            co_await askTimes(client, 3);
        };
        loop.run(test());
    });
}
