// A loop with sockets inside another one: RealLoop::descriptor().

#include "tests/flow/support/outer_loop.h"

#include "flow/wait/delay.h"
#include "net/real/real_network.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/descriptors.h"
#include "tests/net/file_descriptor_suite.h"

#include <optional>
#include <thread>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

Future<Void> echoAndAsk(int times) {
    Pair pair = co_await makePair();
    Future<Void> echoing = echoOnce(pair.server);
    co_await askTimes(pair.client, times);
}

} // namespace

TEST_CASE("loop with sockets inside another: the network may come later and go, the descriptor stays") {
    onEachPoller([] {
        RealLoop loop;
        OuterLoop outer(loop);
        int number = loop.descriptor();
        outer.settle();
        loop.post([] { (void)transport(); }); // in a step
        outer.settle();
        outer.runUntil(echoAndAsk(100));
        for (TransportCase const& each : transportCases()) {
            INFO(std::string(each.name));
            Future<Void> running = each.run();
            outer.runUntil(running);
            CHECK_NOTHROW(running.get());
        }
        outer.settle();
        CHECK(loop.descriptor() == number);
    });
}

TEST_CASE("loop with sockets inside another: a network that is made and ended outside of its steps") {
    onEachPoller([] {
        RealLoop loop;
        OuterLoop outer(loop);
        loop.run(delay(0.001));
        std::optional<RealNetwork> network(loop);
        outer.settle();
        for (int i = 0; i < 3; ++i) {
            outer.runUntil(echoAndAsk(10));
            CHECK(&loop.poller() == &network->poller());
            outer.settle();
            network.reset();
            CHECK(outer.isReadable());
            outer.settle();
            Future<Void> soon = delay(0.002);
            outer.runUntil(soon);
            network.emplace(loop);
            CHECK(outer.isReadable());
            if (i == 1)
                outer.settle();
        }
    });
}

TEST_CASE("loop with sockets inside another: news end the rest, and a cancel leaves none") {
    onEachPoller([] {
        RealLoop loop;
        OuterLoop outer(loop);
        ForeignPair pipe = ForeignPair::ofPipe();
        FileDescriptor descriptor(pipe[0]);
        for (int i = 0; i < 20; ++i) {
            Future<Void> waiting = endOfWait(descriptor.readable());
            outer.settle();
            CHECK_FALSE(outer.isReadable());
            if (i % 2 == 0) {
                std::thread other([&] { pipe.send(); });
                CHECK(outer.isReadable(20'000));
                other.join();
                outer.runUntil(waiting);
                pipe.take();
            }
            waiting = Future<Void>();
            outer.settle();
        }
        Future<Void> waiting = endOfWait(descriptor.readable());
        pipe.send();
        loop.run(std::move(waiting)); // run() sleeps for itself
        outer.settle();
    });
}

TEST_CASE("loop with sockets inside another: it ends while connections are open") {
    onEachPoller([] {
        RealLoop().run(delay(0.001));
        int before = openDescriptors();
        {
            Balance balance;
            RealLoop loop;
            OuterLoop outer(loop);
            Future<Pair> making = makePair();
            outer.runUntil(making);
            Future<Void> echoing = echoOnce(making.get().server);
            outer.settle();
            making.get().client->write("late"_sr);
        }
        CHECK(openDescriptors() == before);
    });
}
