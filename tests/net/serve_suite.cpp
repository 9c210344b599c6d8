#include "tests/net/serve_suite.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/poll/network_poller.h"
#include "net/sim/sim_network.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

namespace flow::test {

using namespace net;

void onEachNetwork(std::function<Future<Void>()> const& test) {
    for (char const* poller : {"epoll", "uring"}) {
        if (std::string(poller) == "uring" && !hasUring())
            continue;
        INFO(std::string(poller));
        ChosenPoller chosen(poller);
        RealLoop loop;
        loop.run(test());
    }
    INFO("simulated");
    onSimulatedNetwork(test);
}

void onSimulatedNetwork(std::function<Future<Void>()> const& test) {
    World world(1);
    SimNetwork network(world);
    Process& process = world.start({.name = "p", .main = test});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
    CHECK(network.openEnds() == 0);
}

Future<Void> endInOrder(ServeLines serve) {
    Work work;
    Reference<Listener> listener = transport().listen(transport().localAddress());
    Promise<Void> stop;
    auto handler = [&](Reference<Connection> client, Event* ending) { return serve(client, ending, &work); };
    Future<Void> serving = serveUntil(listener, handler, stop.getFuture(), 1000);
    Reference<Connection> idle = co_await transport().connect(listener->localAddress());
    Reference<Connection> busy = co_await transport().connect(listener->localAddress());
    for (Reference<Connection> const& client : {idle, busy}) {
        co_await client->write("question\n"_sr);
        Bytes answer = co_await client->readUntil("\n"_sr, 100);
        CHECK(answer == "more question\n"_sr);
    }
    work.mayGoOn.reset();
    co_await busy->write("question\n"_sr);
    while (work.begun < 3)
        co_await delay(0.001);
    double before = now();
    stop.send(Void());
    Bytes end = co_await idle->read();
    CHECK(end.empty());
    CHECK(now() - before < 100);
    CHECK_FALSE(serving.isReady());
    work.mayGoOn.set();
    std::string last = co_await readAll(busy);
    CHECK(last == "last question\n");
    co_await serving;
    CHECK(now() - before < 100);
}

} // namespace flow::test
