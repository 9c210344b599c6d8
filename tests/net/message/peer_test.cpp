#include "net/message/peer.h"

#include "flow/flow.h"
#include "net/transport.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;

TEST_CASE("peer: small parts of the input are copies, large ones share its memory") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
        Reference<Connection> client = co_await transport().connect(listener->localAddress());
        Reference<Connection> server = co_await listener->accept();
        Input input(server);
        co_await client->write(StringRef(std::string(3000, 'x')));
        co_await input.fill(1000);
        CHECK(input.view().size() >= 1000);
        co_await input.fill(3000);
        CHECK(input.view() == std::string(3000, 'x'));
        Bytes small = input.own(input.view().substr(0, 10)), large = input.own(input.view().substr(0, 2000));
        CHECK(static_cast<void const*>(small.begin()) != input.view().data());
        CHECK(static_cast<void const*>(large.begin()) == input.view().data());
        input.consume(2999);
        CHECK(input.view() == "x");
        client->close();
        CHECK((co_await tryGet(input.fill(2))).isError(error_code_connection_cut_off));
    };
    loop.run(test());
}
