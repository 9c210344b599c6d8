#include "net/examples/chat.h"

using namespace flow;
using namespace flow::net;

std::string Room::enter(Reference<Connection> guest) {
    std::string name = "guest" + std::to_string(++entered_);
    guests_[name] = guest;
    say(name, "* " + name + " comes\n");
    return name;
}

void Room::leave(std::string const& name) {
    guests_.erase(name);
    say(name, "* " + name + " goes\n");
}

void Room::say(std::string const& from, std::string const& text) {
    for (auto const& [name, guest] : guests_) {
        if (name == from)
            continue;
        (void)guest->write(StringRef(text)); // not awaited: a slow guest must not delay the other guests
        if (guest->queuedBytes() > kMostUnread)
            guest->abort();
    }
}
