// proxy PORT HOST:PORT: connects each client of PORT to HOST:PORT. SIGTERM and SIGINT end the program cleanly.
//
//     $ proxy 8080 example.org:80 &
//     $ curl --header 'Host: example.org' http://127.0.0.1:8080/

#include "net/examples/proxy.h"

#include "net/examples/program.h"

using namespace flow;
using namespace flow::net;

int main(int argc, char** argv) {
    return runExample(argc, argv, "PORT HOST:PORT", 2, 2, [](Arguments const& arguments) {
        auto to = parseNameAndPort(arguments[1]);
        if (!to || to->port == 0)
            throw WrongArgument{"this is no host with a port: " + arguments[1]};
        return serve(arguments[0], [to](Reference<Connection> client) { return proxy(*to, client); });
    });
}
