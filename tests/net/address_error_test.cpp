// The sentences of errors of sockets and of name look-ups: the same in the real and in the simulated network.
#include "net/detail/address_error.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/world.h"
#include "net/connect.h"
#include "net/sim/sim_network.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

Address const kOther = *Address::parse("192.0.2.1:0"); // of no machine

template <class Call>
std::string thrownBy(Call call) {
    try {
        call();
        return "no error";
    } catch (Error const& error) {
        return error.what();
    }
}

Future<Void> connectTo(Address to) {
    (void)co_await transport().connect(to);
}
constexpr int kConnects = __LINE__ - 2;

Future<Void> namesTheAddress() {
    Address local = transport().localAddress();
    Reference<Listener> listener = transport().listen(local);
    Reference<DatagramSocket> socket = transport().bind(local);
    Address taken = listener->localAddress(), bound = socket->localAddress();
    CHECK(thrownBy([&] { (void)transport().listen(taken); }) ==
          "listen at " + taken.toString() + ": Address already in use");
    CHECK(thrownBy([&] { (void)transport().bind(bound); }) ==
          "bind to " + bound.toString() + ": Address already in use");
    CHECK(thrownBy([] { (void)transport().listen(kOther); }) ==
          "listen at " + kOther.toString() + ": Cannot assign requested address");
    listener->close();
    Error refused = co_await endOf(transport().connect(taken));
    CHECK(refused == connection_refused());
    CHECK(refused.what() == "connect to " + taken.toString() + ": Connection refused");
    bool records = Error::recordOrigins(true);
    Error placed = co_await endOf(connectTo(taken));
    Error::recordOrigins(records);
    std::string place = "address_error_test.cpp:" + std::to_string(kConnects);
    CHECK_MESSAGE(std::string(placed.origin()).starts_with(place + ", by "), std::string(placed.origin()));
    std::vector<Address> both = {taken, taken};
    Error any = co_await endOf(connectAny(both));
    CHECK(any.what() == std::string(refused.what()));
    Error noName = co_await endOf(net::connect("", 80));
    CHECK(noName.what() == std::string("look up \"\": this is not a name"));
}

Future<Void> timesOut() {
    co_await namesTheAddress();
    ConnectOptions hasty;
    hasty.timeout = 0.5;
    Address silent = *Address::parse("10.9.9.9:1");
    Error late = co_await endOf(transport().connect(silent, hasty));
    CHECK(late == connection_timed_out());
    CHECK(late.what() == std::string("connect to 10.9.9.9:1: no answer within 0.5 s"));
    late = co_await endOf(net::connect("nowhere", 80, hasty));
    CHECK(late.what() == std::string("connect to nowhere:80: no answer within 0.5 s"));
    Error unknown = co_await endOf(net::connect("unknown", 80));
    CHECK(unknown == lookup_failed());
    CHECK(unknown.what() == std::string("look up \"unknown\": the name has no address"));
    Error again = co_await endOf(net::connect("unknown", 80)); // from the cache
    CHECK(again.what() == std::string(unknown.what()));
}

} // namespace

TEST_CASE("address error: the real network names address and reason") {
    RealLoop loop;
    loop.run(namesTheAddress());
    ConnectOptions from;
    from.local = kOther;
    Error error = loop.run(endOf(transport().connect(*Address::parse("127.0.0.1:1"), from)));
    CHECK(error == invalid_local_address());
    CHECK(error.what() == std::string("connect to 127.0.0.1:1: from 192.0.2.1:0: Cannot assign requested address"));
    std::vector<Address> many(10, kOther); // by io_uring, if the kernel has it
    std::string text = thrownBy([&] { (void)transport().listenMany(many); });
    CHECK_MESSAGE(text.ends_with(" at 192.0.2.1:0: Cannot assign requested address"), text);
    text = thrownBy([] { (void)transport().listen(*Address::parse("unix:/nowhere/socket")); });
    CHECK_MESSAGE(text.ends_with("/nowhere/socket: No such file or directory"), text);
}

TEST_CASE("address error: the simulated network has the same sentences") {
    World world(1);
    SimNetwork network(world, {.latency = 0.01, .jitter = 0, .bandwidth = 1e9});
    network.setName("nowhere", {*Address::parse("10.9.9.9:1")});
    Process& process = world.start({.name = "p", .main = timesOut});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
}
