// Handlers and calls of net/rpc in actors, between two processes of a simulated network.
#include "flow/sim.h"
#include "flow/sim/world.h"
#include "net/rpc/rpc.h"
#include "net/sim/sim_network.h"
#include "trace.h"

#include "flow/actorcompiler.h"

using namespace flow::net;

struct Get {
    using Reply = std::string;
    static constexpr char const* name = "program/get";
    std::string key;
};
struct Set {
    using Reply = Void;
    static constexpr char const* name = "program/set";
    std::string key, value;
};
struct Absent {
    using Reply = int;
    static constexpr char const* name = "program/absent";
};

ACTOR Future<std::string> get(std::map<std::string, std::string>* values, Get request) {
    state Token token("the handler of " + request.key);
    wait(delay(1));
    auto found = values->find(request.key);
    if (found == values->end())
        throw attribute_not_found();
    return found->second;
}

ACTOR Future<Void> server() {
    state std::map<std::string, std::string> values;
    state std::map<std::string, std::string>* all = &values;
    state rpc::Node* node = &rpc::Node::current();
    state Future<Void> listening = node->listen(net::transport().localAddress().withPort(4500));
    state Future<Void> served = rpc::serve(
        *node, [all = all](Get request) { return get(all, request); },
        [all = all](Set const& request) { (*all)[request.key] = request.value; });
    wait(listening || served);
    return Void();
}

ACTOR Future<Void> client(Address at) {
    wait(rpc::call(at, Set{"colour", "blue"}));
    std::string colour = wait(rpc::call(at, Get{"colour"}));
    say("colour: %s", colour.c_str());
    try {
        std::string size = wait(rpc::call(at, Get{"size"}));
        say("size: %s", size.c_str());
    } catch (Error& e) {
        say("size: %s", e.name());
    }
    choose {
        when(std::string late = wait(rpc::call(at, Get{"colour"}))) {
            say("late: %s", late.c_str());
        }
        when(wait(delay(0.5))) {
            say("a call is dropped");
        }
    }
    ErrorOr<int> absent = wait(rpc::tryCall(at, Absent()));
    say("absent: %s", absent.getError().name());
    return Void();
}

int main() {
    World world(1);
    SimNetwork network(world);
    Address at(world.start({.name = "server", .main = server}).address(), 4500);
    Process& asking = world.start({.name = "client", .main = [at] { return client(at); }});
    world.run(asking.onStop());
    say("the client: %s", asking.exit()->name());
    world.stopAll();
}
