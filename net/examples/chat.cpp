#include "net/examples/chat.h"

#include "flow/flow.h"

using namespace flow;
using namespace flow::net;

namespace {

/// Leaves the room at the end of the chat, also after an error or a cancel.
struct Stay {
    Room* room;
    std::string name;
    ~Stay() { room->leave(name); }
};

} // namespace

Future<Void> chat(Room* room, Reference<Connection> guest, Event* ending) {
    Stay stay{room, room->enter(guest)};
    for (;;) {
        auto next = co_await race(guest->readUntil("\n"_sr, Room::kLongestLine), ending->wait());
        if (next.index() == 1)
            co_return;
        room->say(stay.name, stay.name + ": " + std::get<0>(next).toString());
    }
}
