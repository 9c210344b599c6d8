#include "net/examples/resolve.h"

#include "flow/flow.h"
#include "net/transport.h"

using namespace flow;
using namespace flow::net;

Future<std::string> resolve(std::string name) {
    std::vector<Address> found = co_await transport().resolver().resolve(name, 0);
    std::string lines;
    for (Address const& each : found)
        lines += each.hostToString() + "\n";
    co_return lines;
}
