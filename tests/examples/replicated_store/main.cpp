// replicated_store serve PORT: a replica at that port of this machine.
// replicated_store put KEY VALUE, replicated_store get KEY: a client of the replicas at the ports 4501, 4502 and 4503.

#include "store.h"

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace flow;
using net::Address;

static Address local(int port) {
    return Address(0x7F000001, static_cast<std::uint16_t>(port));
}

static Future<Void> show(Store* store, std::string key) {
    Optional<std::string> value = co_await store->get(key);
    std::printf("%s\n", value.present() ? value.get().c_str() : "no value");
}

int main(int argc, char** argv) {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    std::string command = arguments.empty() ? "" : arguments[0];
    RealLoop loop;
    Store store({local(4501), local(4502), local(4503)});
    try {
        if (command == "serve" && argc == 3)
            loop.run(serveReplica(local(std::atoi(argv[2]))));
        else if (command == "put" && argc == 4)
            loop.run(timeoutError(store.put(arguments[1], arguments[2]), 5));
        else if (command == "get" && argc == 3)
            loop.run(timeoutError(show(&store, arguments[1]), 5));
        else
            std::fprintf(stderr, "usage: replicated_store serve PORT | put KEY VALUE | get KEY\n");
    } catch (Error& e) {
        std::fprintf(stderr, "replicated_store: %s\n", e.what());
        return 1;
    }
}
