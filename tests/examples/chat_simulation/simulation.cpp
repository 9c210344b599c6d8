#include "flow/sim/simulation.h"
#include "flow/flow.h"
#include "flow/sim/world.h"
#include "guest.h"
#include "net/serve.h"
#include "net/sim/sim_network.h"
#include "room.h"

#include <algorithm>

using namespace flow;

namespace {

constexpr std::uint16_t kPort = 4000;
constexpr int kLines = 10; // of each guest

Future<Void> runServer() {
    Room room;
    Reference<net::Listener> listener = net::transport().listen(kPort);
    auto serve = [&](Reference<net::Connection> guest) { return room.serve(guest); };
    co_await net::serveUntil(listener, serve, Never(), 0);
}

std::string whatIsWrong(std::vector<Guest> const& guests) {
    for (Guest const& guest : guests) {
        if (guest.heard != guests[0].heard)
            return guest.name + " has heard something else than " + guests[0].name;
        auto next = guest.heard.begin();
        for (std::string const& text : guest.toSay) {
            next = std::find(next, guest.heard.end(), guest.name + ": " + text + "\n");
            if (next == guest.heard.end())
                return guest.name + " was not heard in order: " + text;
        }
    }
    return "";
}

Future<Void> chat(World& world) {
    Faults faults = world.faults();
    faults.messageCorruption = 0; // that is for the checksums of a real protocol
    world.setFaults(faults);
    net::SimNetwork network(world);
    // It keeps the lines in memory, so that it must not be restarted. Its network has faults.
    Process& server = world.start({.name = "room", .main = runServer, .protectedFromFaults = true});
    net::Address room(server.address(), kPort);

    std::vector<Guest> guests(3); // what a guest knows outlives its restarts
    std::size_t total = guests.size() * kLines;
    for (Guest& guest : guests) {
        guest.name = format("guest%d", static_cast<int>(&guest - guests.data()));
        for (int i = 0; i < kLines; ++i)
            guest.toSay.push_back(format("line %d", i));
        world.start({.name = guest.name, .main = [&, room] { return stay(&guest, room, total); }, .restartAfter = 0.5});
    }

    co_await delay(30);
    world.disableFaults();
    network.heal();
    for (auto& process : world.processes()) {
        if (!process->isRunning())
            world.start(*process);
        world.resume(*process);
    }
    co_await delay(60);
    for (Guest const& guest : guests)
        if (guest.heard.size() != total)
            world.fail(format("%s has heard %zu lines", guest.name.c_str(), guest.heard.size()));
    if (std::string wrong = whatIsWrong(guests); !wrong.empty())
        world.fail(wrong);
    world.stopAll(); // their mains refer to what is here
}

Simulation const registered("chat", chat);

} // namespace
