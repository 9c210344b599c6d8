#include "flow/combine/race.h"
#include "flow/core/future.h"
#include "flow/fiber/fiber.h"
#include "net/serve.h"
#include "tests/net/serve_suite.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;

namespace {

Future<Void> serveOnFiber(Reference<Connection> client, Event* ending, test::Work* work) {
    return fiber::spawn([=] {
        for (;;) {
            auto next = fiber::wait(race(client->readUntil("\n"_sr, 100), ending->wait()));
            if (next.index() == 1)
                return;
            ++work->begun;
            fiber::wait(work->mayGoOn.wait());
            fiber::wait(client->write(std::get<0>(next).withPrefix(ending->isSet() ? "last "_sr : "more "_sr)));
        }
    });
}

} // namespace

TEST_CASE("serve: a handler on a fiber is told that the end begins") {
    test::onEachNetwork([] { return test::endInOrder(serveOnFiber); });
}
