#include "tests/net/file_descriptor_suite.h"

#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "net/real/real_network.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/descriptors.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

Future<int> countByActor(FileDescriptor* const& descriptor, int const& bytes); // file_descriptor_actors.actor.cpp

namespace {

Future<int> countByCoroutine(FileDescriptor* descriptor, int bytes) {
    int count = 0;
    for (char byte; count < bytes; ++count) {
        co_await descriptor->readable();
        CHECK(::read(descriptor->number(), &byte, 1) == 1);
    }
    co_return count;
}

/// True if an epoll of this process has registered the number.
bool isInEpoll(int number) {
    std::string const tag = "tfd:";
    for (auto const& each : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
        std::ifstream info(each.path());
        for (std::string word; info >> word;)
            if (word == tag && info >> word && word == std::to_string(number))
                return true;
    }
    return false;
}

} // namespace

TEST_CASE("file descriptor: readable() reports by level, in coroutines and actors") {
    onEachPoller([] {
        Balance balance;
        RealLoop loop;
        for (auto count : {countByCoroutine, +[](FileDescriptor* d, int bytes) { return countByActor(d, bytes); }}) {
            ForeignPair pipe = ForeignPair::ofPipe();
            FileDescriptor descriptor(pipe[0]);
            pipe.send("five5");
            CHECK(loop.run(count(&descriptor, 5)) == 5);
            Future<int> more = count(&descriptor, 2);
            loop.run(delay(0.002));
            CHECK_FALSE(more.isReady());
            pipe.send("ab");
            CHECK(loop.run(std::move(more)) == 2);
        }
    });
}

TEST_CASE("file descriptor: another thread's write ends a sleep, and a loop without waits drains") {
    onEachPoller([] {
        RealLoop loop;
        ForeignPair pipe = ForeignPair::ofPipe();
        FileDescriptor descriptor(pipe[0]);
        std::thread other([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            pipe.send();
        });
        loop.run(endOfWait(descriptor.readable()));
        other.join();
        Promise<Void> never;
        CHECK_THROWS_AS(loop.run(never.getFuture()), Error);
    });
}

TEST_CASE("file descriptor: the end makes it readable; a full socket is writable when there is room") {
    onEachPoller([] {
        RealLoop loop;
        auto test = []() -> Future<Void> {
            ForeignPair pair = ForeignPair::ofSocket();
            FileDescriptor reader(pair[0]), writer(pair[1]);
            co_await writer.writable();
            pair.fill();
            Future<Void> room = keep(writer.writable());
            co_await delay(0.002);
            CHECK_FALSE(room.isReady());
            while (pair.take() > 0) {
            }
            co_await timeoutError(std::move(room), 10.0);
            pair.close(1);
            co_await reader.readable();
            CHECK(pair.take() == 0);
            co_await reader.readable(); // as often as one asks
        };
        loop.run(test());
    });
}

TEST_CASE("file descriptor: a reader and a writer wait at the same time, and each gets its own event") {
    onEachPoller([] {
        RealLoop loop;
        auto test = []() -> Future<Void> {
            ForeignPair pair = ForeignPair::ofSocket();
            FileDescriptor both(pair[1]);
            pair.fill();
            Future<Void> reading = keep(both.readable());
            Future<Void> writing = keep(both.writable());
            co_await delay(0.002);
            CHECK_FALSE(reading.isReady());
            CHECK_FALSE(writing.isReady());
            CHECK(::write(pair[0], "x", 1) == 1);
            co_await timeoutError(std::move(reading), 10.0);
            co_await delay(0.002);
            CHECK_FALSE(writing.isReady());
            while (pair.take() > 0) {
            }
            char byte;
            CHECK(::read(pair[1], &byte, 1) == 1);
            reading = keep(both.readable());
            co_await timeoutError(std::move(writing), 10.0);
            CHECK_FALSE(reading.isReady());
            auto first = co_await race(both.writable(), delay(10.0)); // beside the reader
            CHECK(first.index() == 0);
            CHECK(::write(pair[0], "x", 1) == 1);
            co_await timeoutError(std::move(reading), 10.0);
        };
        loop.run(test());
    });
}

TEST_CASE("file descriptor: after a cancel nothing is registered, and the owner may close at once") {
    onEachPoller([] {
        Balance balance;
        RealLoop loop;
        int before = 0;
        auto test = [&before]() -> Future<Void> {
            for (int i = 0; i < 1000; ++i) {
                ForeignPair pair = ForeignPair::ofSocket();
                {
                    FileDescriptor descriptor(pair[1]);
                    Future<Void> reading = keep(descriptor.readable());
                    Future<Void> writing;
                    if (i % 50 == 1)
                        pair.fill();
                    if (i % 2 == 1)
                        writing = keep(descriptor.writable());
                    if (i % 10 == 0)
                        co_await delay(0.0); // the poller has seen it
                    if (i % 100 == 0 && std::string_view(std::getenv("FLOW_POLLER")) == "epoll")
                        CHECK(isInEpoll(pair[1]));
                    reading = Future<Void>();
                    writing = Future<Void>();
                    if (i % 100 == 0)
                        CHECK_FALSE(isInEpoll(pair[1]));
                    pair.close(1);
                    while (pair.take() > 0) {
                    }
                    CHECK(pair.take() == 0); // nothing keeps the closed socket
                }
                if (i == 0)
                    before = openDescriptors();
            }
            CHECK(openDescriptors() == before - 1); // the other end is closed too
        };
        loop.run(test());
    });
}

TEST_CASE("file descriptor: a race that it loses leaves nothing, and the wait behind it works") {
    onEachPoller([] {
        RealLoop loop;
        auto test = []() -> Future<Void> {
            ForeignPair pipe = ForeignPair::ofPipe();
            FileDescriptor descriptor(pipe[0]);
            for (int i = 0; i < 3; ++i) {
                auto first = co_await race(descriptor.readable(), delay(0.001));
                CHECK(first.index() == 1);
                CHECK_FALSE(isInEpoll(pipe[0]));
            }
            pipe.send();
            auto first = co_await race(descriptor.readable(), delay(10.0));
            CHECK(first.index() == 0);
        };
        loop.run(test());
    });
}

TEST_CASE("file descriptor: a file for which the kernel cannot wait is ready at once") {
    onEachPoller([] {
        RealLoop loop;
        auto test = []() -> Future<Void> {
            for (char const* path : {"/proc/self/exe", "/dev/null"}) {
                FileDescriptor file(::open(path, O_RDONLY | O_CLOEXEC), FileDescriptor::Owned);
                for (int i = 0; i < 1000; ++i)
                    co_await file.readable();
                auto first = co_await race(file.writable(), delay(10.0));
                CHECK(first.index() == 0);
                Future<Void> two[] = {keep(file.readable()), keep(file.writable())};
                for (Future<Void>& each : two)
                    co_await std::move(each);
            }
        };
        loop.run(test());
    });
}

TEST_CASE("file descriptor: an owned one is closed, and its waits fail with broken_promise") {
    onEachPoller([] {
        RealLoop loop;
        auto test = []() -> Future<Void> {
            ForeignPair pair = ForeignPair::ofSocket();
            for (bool isOwned : {false, true}) {
                int number = ::dup(pair[0]);
                auto descriptor = std::make_unique<FileDescriptor>(number, isOwned ? FileDescriptor::Owned
                                                                                   : FileDescriptor::Borrowed);
                Future<Void> reading = keep(descriptor->readable());
                descriptor.reset();
                Error error = co_await endOf(std::move(reading));
                CHECK(error == broken_promise());
                CHECK((::fcntl(number, F_GETFD) < 0) == isOwned);
                if (!isOwned)
                    ::close(number);
            }
        };
        loop.run(test());
    });
}

TEST_CASE("file descriptor: outlives its network and its loop") {
    onEachPoller([] {
        Balance balance;
        ForeignPair pair = ForeignPair::ofSocket();
        FileDescriptor first(pair[0]), second(pair[1]);
        auto loop = std::make_unique<RealLoop>();
        auto network = std::make_unique<RealNetwork>(*loop);
        loop->run(endOfWait(second.writable())); // registered, and not waited for
        Future<Void> reading = keep(first.readable());
        Future<Void> both = keep(second.readable());
        network.reset();
        pair.send();
        CHECK_FALSE(reading.isReady());
        reading = Future<Void>();
        loop.reset();
        CHECK_FALSE(both.isReady());
    });
}

TEST_CASE("file descriptor: a child of fork() and its parent both go on") {
    onEachPoller([] {
        RealLoop loop;
        ForeignPair pair = ForeignPair::ofSocket(), idle = ForeignPair::ofSocket();
        FileDescriptor descriptor(pair[0]), quiet(idle[0]);
        Future<Void> parked = keep(quiet.readable());
        pair.send();
        loop.run(endOfWait(descriptor.readable()));
        CHECK(pair.take() == 1);
        Death child = runInChild([&] {
            ForeignPair own = ForeignPair::ofPipe();
            FileDescriptor mine(own[0]);
            own.send();
            loop.run(endOfWait(mine.readable()));
            idle.send();
            loop.run(std::move(parked)); // was parked before the fork
            return idle.take() == 1 ? 0 : 1;
        });
        CHECK_MESSAGE(child.status == 0, child.text);
        pair.send();
        loop.run(endOfWait(descriptor.readable()));
        idle.send();
        loop.run(std::move(parked));
    });
}

TEST_CASE("file descriptor: misuse is an assertion with the caller's line") {
    auto twice = [] {
        RealLoop loop;
        ForeignPair pair = ForeignPair::ofSocket();
        FileDescriptor descriptor(pair[0]);
        Future<Void> first = keep(descriptor.readable());
        (void)keep(descriptor.readable());
    };
    CHECK_DIES(twice(), "two tasks wait for one FileDescriptor to be readable");
    RealLoop loop;
    ForeignPair pair = ForeignPair::ofSocket();
    FileDescriptor descriptor(pair[0]);
    Future<Void> first = keep(descriptor.readable());
    CHECK_NAMES_CALLER((void)keep(descriptor.readable()));
    first = Future<Void>();
    ChosenPoller chosen("epoll");
    auto several = [] {
        RealLoop loop;
        ForeignPair pair = ForeignPair::ofSocket();
        FileDescriptor one(pair[0]), another(pair[0]);
        Future<Void> first = keep(one.readable());
        (void)keep(another.writable());
    };
    CHECK_DIES(several(), "for which another FileDescriptor, or a socket of this loop, waits");
}

TEST_CASE("file descriptor: in a simulation it fails with a sentence") {
    SimLoop loop;
    FileDescriptor descriptor(0);
    Error error = loop.run(endOf(endOfWait(descriptor.readable())));
    CHECK(error == client_invalid_operation());
    CHECK(std::string(error.what()).find("provide a DescriptorWatcher as a stand-in") != std::string::npos);
}

namespace {

/// The descriptors of libraries in a simulation.
struct StandIn final : DescriptorWatcher {
    std::map<PolledDescriptor*, Wanted> asked;

    int watchOnce(PolledDescriptor& descriptor, Wanted wanted) override {
        asked[&descriptor] = wanted;
        return 0;
    }
    void remove(PolledDescriptor& descriptor) override { asked.erase(&descriptor); }
    void report() {
        for (auto [descriptor, wanted] : std::exchange(asked, {}))
            descriptor->onNews({wanted.reading, wanted.writing});
    }
};

} // namespace

TEST_CASE("file descriptor: a test gives a stand-in") {
    SimLoop loop;
    StandIn standIn;
    loop.provide<DescriptorWatcher>(&standIn);
    auto library = [](StandIn* standIn) -> Future<double> {
        FileDescriptor descriptor(1'000'000);
        auto report = [](StandIn* standIn) -> Future<Void> {
            co_await delay(3.0);
            CHECK(standIn->asked.begin()->second == Wanted{true, false});
            standIn->report();
        };
        Future<Void> reporting = report(standIn);
        co_await descriptor.readable();
        co_return now();
    };
    CHECK(loop.run(library(&standIn)) == 3.0);
    CHECK(standIn.asked.empty());
}

TEST_CASE("file descriptor: cancelled at every step") {
    auto make = [](Inputs& in) {
        auto* standIn = static_cast<StandIn*>(Loop::current().service<DescriptorWatcher>());
        if (!standIn) { // a sibling of the computation has one already
            standIn = &in.keep<StandIn>();
            Loop::current().provide<DescriptorWatcher>(standIn);
        }
        in.onStep([standIn] { standIn->report(); });
        in.onStep([standIn] { standIn->report(); });
        in.afterwards([standIn] { return standIn->asked.empty(); });
        return [](Sentinel) -> Future<int> {
            FileDescriptor descriptor(1'000'000);
            co_await descriptor.readable();
            auto first = co_await race(descriptor.writable(), delay(0.5), descriptor.readable());
            co_return int(first.index());
        }(in.sentinel());
    };
    cancelEverywhere("FileDescriptor::readable", make, {.hasHandlers = true});
}
