#include "net/poll/network_poller.h"

#include "flow/flow.h"
#include "net/real/real_network.h"
#include "tests/flow/support/death.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// The environment says which poller, as long as this exists.
struct Chosen {
    std::string before;
    bool wasSet;

    explicit Chosen(char const* name) {
        char const* old = std::getenv("FLOW_POLLER");
        wasSet = old != nullptr;
        before = old ? old : "";
        ::setenv("FLOW_POLLER", name, 1);
    }
    ~Chosen() { wasSet ? ::setenv("FLOW_POLLER", before.c_str(), 1) : ::unsetenv("FLOW_POLLER"); }
};

} // namespace

TEST_CASE("network poller: every transport case with each poller") {
    for (char const* name : {"epoll", "uring"}) {
        if (std::string(name) == "uring" && !hasUring())
            continue;
        Chosen chosen(name);
        for (TransportCase const& each : transportCases()) {
            INFO(name, ": ", each.name);
            RealLoop loop;
            RealNetwork network(loop);
            CHECK(std::string(network.poller().name()) == name);
            loop.run(each.run());
        }
    }
}

TEST_CASE("network poller: with io_uring a child of fork() and its parent do not take each other's news") {
    if (!hasUring())
        return;
    Chosen chosen("uring");
    RealLoop loop;
    Pair pair = loop.run(makePairAt(Address(0x7F000001, 0)));
    Future<Void> serving = echoOnce(pair.server);
    loop.run(askTimes(pair.client, 3));
    ::test::Death child = ::test::runInChild([&] {
        auto own = []() -> Future<Void> {
            Pair pair = co_await makePairAt(Address(0x7F000001, 0));
            Future<Void> serving = echoOnce(pair.server);
            co_await askTimes(pair.client, 20);
        };
        loop.run(own());
    });
    CHECK(child.status == 0);
    loop.run(askTimes(pair.client, 20));
}

TEST_CASE("network poller: a name that is none is named") {
    Chosen chosen("kqueue");
    CHECK_DIES(makePoller(), "FLOW_POLLER is neither epoll nor uring");
}
