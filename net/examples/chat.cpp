#include "net/examples/chat.h"

#include "flow/flow.h"

using namespace flow;
using namespace flow::net;

namespace {

/// Leaves the room in its destructor.
struct Stay {
    Room* room;
    std::string name;
    ~Stay() { room->leave(name); }
};

} // namespace

Future<Void> chat(Room* room, Reference<Connection> guest) {
    Stay stay{room, room->enter(guest)};
    for (;;) {
        Bytes line = co_await guest->readUntil("\n"_sr, Room::kLongestLine);
        room->say(stay.name, stay.name + ": " + line.toString());
    }
}
