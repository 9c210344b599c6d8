// Owned descriptors, which stay registered between their waits.

#include "tests/net/file_descriptor_suite.h"

#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/wait/delay.h"
#include "net/real/real_network.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"

#include <optional>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// A copy, as of a library's descriptor.
int copyOf(int number) {
    return ::fcntl(number, F_DUPFD_CLOEXEC, 0);
}

PollCounters polls() {
    return static_cast<RealNetwork&>(transport()).counters().polls;
}

} // namespace

TEST_CASE("owned file descriptor: a wait for bytes needs no change of what epoll has registered") {
    ChosenPoller chosen("epoll");
    RealLoop loop;
    auto test = []() -> Future<Void> {
        ForeignPair pair = ForeignPair::ofSocket();
        FileDescriptor descriptor(copyOf(pair[0]), FileDescriptor::Owned);
        pair.send();
        co_await descriptor.readable();
        CHECK(pair.take() == 1);
        std::uint64_t before = polls().changes;
        for (int i = 0; i < 100; ++i) {
            Future<Void> waiting = keep(descriptor.readable());
            if (i % 2 == 0)
                co_await delay(0.0);
            pair.send();
            co_await std::move(waiting);
            CHECK(pair.take() == 1);
            auto first = co_await race(descriptor.readable(), delay(0.0)); // a lost race neither
            CHECK(first.index() == 1);
        }
        CHECK(polls().changes == before);
        co_await descriptor.writable(); // one change, and one back
        CHECK(polls().changes <= before + 2);
        pair.send();
        co_await descriptor.readable();
        CHECK(polls().changes <= before + 2);
    };
    loop.run(test());
}

TEST_CASE("owned file descriptor: reports by level, whatever was read before") {
    onEachPoller([] {
        Balance balance;
        RealLoop loop;
        auto test = []() -> Future<Void> {
            ForeignPair pair = ForeignPair::ofSocket();
            FileDescriptor descriptor(copyOf(pair[0]), FileDescriptor::Owned);
            pair.send("five5");
            for (int i = 0; i < 5; ++i) {
                co_await timeoutError(keep(descriptor.readable()), 10.0);
                CHECK(pair.take(1) == 1);
            }
            for (int i = 0; i < 3; ++i) { // bytes come, and the loop turns, while nothing waits
                pair.send("ab");
                co_await delay(0.001);
                co_await delay(0.001);
                co_await timeoutError(keep(descriptor.readable()), 10.0);
                CHECK(pair.take(1) == 1);
                co_await timeoutError(keep(descriptor.readable()), 10.0);
                CHECK(pair.take(1) == 1);
                auto first = co_await race(descriptor.readable(), delay(0.001));
                CHECK(first.index() == 1);
            }
            pair.close(1);
            for (int i = 0; i < 3; ++i) {
                co_await timeoutError(keep(descriptor.readable()), 10.0);
                CHECK(pair.take() == 0);
            }
        };
        loop.run(test());
    });
}

TEST_CASE("owned file descriptor: unread bytes and an end for which nothing waits do not keep the loop awake") {
    onEachPoller([] {
        RealLoop loop;
        auto test = []() -> Future<Void> {
            ForeignPair pair = ForeignPair::ofSocket();
            FileDescriptor descriptor(copyOf(pair[0]), FileDescriptor::Owned);
            pair.send();
            co_await descriptor.readable();
            for (bool isEnd : {false, true}) {
                if (isEnd)
                    pair.close(1);
                co_await delay(0.001);
                std::uint64_t before = polls().waits;
                co_await delay(0.02);
                CHECK(polls().waits - before < 10);
            }
            co_await descriptor.readable();
        };
        loop.run(test());
    });
}

TEST_CASE("owned file descriptor: a reader and a writer wait at the same time, and each gets its own event") {
    onEachPoller([] {
        RealLoop loop;
        auto test = []() -> Future<Void> {
            ForeignPair pair = ForeignPair::ofSocket();
            FileDescriptor both(copyOf(pair[1]), FileDescriptor::Owned);
            pair.fill();
            Future<Void> reading = keep(both.readable());
            Future<Void> writing = keep(both.writable());
            co_await delay(0.002);
            CHECK_FALSE(reading.isReady());
            CHECK_FALSE(writing.isReady());
            CHECK(::write(pair[0], "x", 1) == 1);
            co_await timeoutError(std::move(reading), 10.0);
            co_await delay(0.002); // the byte is unread, and nobody waits for it
            CHECK_FALSE(writing.isReady());
            while (pair.take() > 0) {
            }
            co_await timeoutError(std::move(writing), 10.0);
            co_await timeoutError(keep(both.readable()), 10.0);
            char byte;
            CHECK(::read(pair[1], &byte, 1) == 1);
            reading = keep(both.readable());
            auto first = co_await race(both.writable(), delay(10.0));
            CHECK(first.index() == 0);
            co_await delay(0.002);
            CHECK_FALSE(reading.isReady());
            writing = keep(both.writable());
            writing = Future<Void>(); // a cancel
            CHECK(::write(pair[0], "x", 1) == 1);
            co_await timeoutError(std::move(reading), 10.0);
        };
        loop.run(test());
    });
}

TEST_CASE("owned file descriptor: nothing is left of it when it is destroyed, with copies and in a child") {
    onEachPoller([] {
        RealLoop loop;
        ForeignPair pair = ForeignPair::ofSocket();
        std::optional<FileDescriptor> descriptor;
        descriptor.emplace(copyOf(pair[0]), FileDescriptor::Owned);
        Future<Void> parked = keep(descriptor->readable());
        loop.run(delay(0.001));
        Death child = runInChild([&] {
            pair.send();
            loop.run(std::move(parked));
            return pair.take() == 1 ? 0 : 1;
        });
        CHECK_MESSAGE(child.status == 0, child.text);
        parked = Future<Void>();
        descriptor.reset(); // the open file lives on in pair[0]
        pair.send();
        auto test = []() -> Future<Void> {
            std::uint64_t before = polls().waits;
            co_await delay(0.02);
            CHECK(polls().waits - before < 10);
        };
        loop.run(test());
        FileDescriptor next(copyOf(pair[0]), FileDescriptor::Owned);
        loop.run(timeoutError(endOfWait(next.readable()), 10.0));
    });
}

TEST_CASE("owned file descriptor: another object that has waited for the same file takes nothing away") {
    onEachPoller([] {
        RealLoop loop;
        auto test = []() -> Future<Void> {
            ForeignPair pair = ForeignPair::ofSocket();
            int number = copyOf(pair[0]);
            FileDescriptor descriptor(number, FileDescriptor::Owned);
            for (int i = 0; i < 3; ++i) {
                pair.send();
                co_await timeoutError(keep(descriptor.readable()), 10.0);
                FileDescriptor other(number);
                co_await timeoutError(keep(other.readable()), 10.0);
                CHECK(pair.take() == 1);
            }
        };
        loop.run(test());
    });
}
