// resolve NAME: prints the addresses of a name, one in each line. If MILLRACE_NAME_SERVER is set, for example to
// 10.0.0.1:53, the program asks the name server at that address instead of the machine's name servers.
//
//     $ resolve localhost
//     ::1
//     127.0.0.1

#include "net/examples/resolve.h"

#include "net/examples/program.h"
#include "net/real/real_network.h"

#include <cstdlib>

using namespace flow;
using namespace flow::net;

namespace {

Future<Void> print(std::string name) {
    std::string lines = co_await resolve(std::move(name));
    std::fputs(lines.c_str(), stdout);
}

Future<Void> run(Arguments const& arguments) {
    if (char const* server = std::getenv("MILLRACE_NAME_SERVER")) {
        ParsedAddress address = Address::parse(server);
        if (!address)
            throw WrongArgument{std::string("MILLRACE_NAME_SERVER is no address: ") + server};
        static_cast<RealNetwork&>(transport()).setResolver({.servers = {*address}});
    }
    return print(arguments[0]);
}

} // namespace

int main(int argc, char** argv) {
    return runExample(argc, argv, "NAME", 1, 1, run);
}
