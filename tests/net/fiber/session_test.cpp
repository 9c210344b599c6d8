// A session of requests and responses over a connection in a fiber; ../session_test.cpp has other styles.

#include "flow/fiber/fiber.h"

#include "flow/core/future.h"
#include "flow/loop/real_loop.h"
#include "net/connection.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::net;

namespace {

Bytes ask(Connection& to, Bytes line) {
    fiber::wait(to.write(std::move(line)));
    return fiber::wait(to.readUntil("\r\n"_sr, 100));
}

} // namespace

TEST_CASE("session: in a fiber, over a real connection") {
    RealLoop loop;
    Future<int> asked = fiber::spawn([] {
        test::Pair pair = fiber::wait(test::makePair());
        Future<Void> echoing = test::echoOnce(pair.server);
        int answers = 0;
        for (; answers < 20; ++answers) {
            Bytes line = StringRef("question " + std::to_string(answers) + "\r\n");
            CHECK(ask(*pair.client, line) == line);
        }
        pair.client->shutdownWrite();
        fiber::wait(echoing);
        return answers;
    });
    CHECK(loop.run(asked) == 20);
}
