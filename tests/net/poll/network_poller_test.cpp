#include "net/poll/network_poller.h"

#include "flow/flow.h"
#include "net/real/real_network.h"
#include "tests/flow/support/death.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

TEST_CASE("network poller: every transport case with each poller") {
    for (char const* name : {"epoll", "uring"}) {
        if (std::string(name) == "uring" && !hasUring()) {
            MESSAGE("this kernel or this build has no io_uring: only epoll is tested");
            continue;
        }
        ChosenPoller chosen(name);
        for (TransportCase const& each : transportCases()) {
            INFO(name, ": ", each.name);
            RealLoop loop;
            RealNetwork network(loop);
            CHECK(std::string(network.poller().name()) == name);
            loop.run(each.run());
        }
    }
}

TEST_CASE("network poller: a name that is none is named") {
    ChosenPoller chosen("kqueue");
    CHECK_DIES(makePoller(), "FLOW_POLLER is neither epoll nor uring");
}
