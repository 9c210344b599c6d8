#include "net/examples/chat.h"

#include "flow/flow.h"

#include "flow/actorcompiler.h"

using namespace flow;
using namespace flow::net;

ACTOR static Future<Void> chatting(Room* room, Reference<Connection> guest, Event* ending) {
    state std::string name = room->enter(guest);
    try {
        loop choose {
            when(Bytes line = wait(guest->readUntil("\n"_sr, Room::kLongestLine))) {
                room->say(name, name + ": " + line.toString());
            }
            when(wait(ending->wait())) {
                room->leave(name);
                return Void();
            }
        }
    } catch (Error& error) {
        room->leave(name);
        throw error;
    }
}

Future<Void> chat(Room* room, Reference<Connection> guest, Event* ending) {
    return chatting(room, guest, ending);
}
