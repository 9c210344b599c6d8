#include "net/rpc/service.h"

#include "flow/fiber/fiber.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "net/rpc/node.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::net;

namespace {

struct Double {
    using Reply = int;
    static constexpr char const* name = "test/double";
    int number = 0;
};

} // namespace

TEST_CASE("service: a handler and a caller on fibers") {
    RealLoop loop;
    rpc::Node node;
    Address any(0x7F000001, 0);
    Future<Void> listening = node.listen(any);
    Future<Void> served = rpc::serve(node, [](Double request) {
        return fiber::spawn([request] {
            fiber::wait(delay(0.001));
            return 2 * request.number;
        });
    });
    Address at = node.getLocalAddress();
    int called = loop.run(fiber::spawn([at] { return fiber::wait(rpc::call(at, Double{21})); }));
    CHECK(called == 42);
}
