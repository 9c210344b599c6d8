#include "net/examples/resolve.h"

#include "flow/flow.h"
#include "net/transport.h"

#include "flow/actorcompiler.h"

using namespace flow;
using namespace flow::net;

ACTOR static Future<std::string> resolving(std::string name) {
    std::vector<Address> found = wait(transport().resolver().resolve(name, 0));
    std::string lines;
    for (Address const& each : found)
        lines += each.hostToString() + "\n";
    return lines;
}

Future<std::string> resolve(std::string name) {
    return resolving(name);
}
