#include "room.h"

#include <cstdlib>

using namespace flow;
using namespace flow::net;

Future<Void> Room::serve(Reference<Connection> guest) {
    Bytes line = co_await guest->readUntil("\n"_sr, kLongestLine);
    std::string first = line.toString();
    std::size_t space = first.find(' ');
    if (space == std::string::npos)
        co_return;
    Future<Void> sending = send(guest, std::strtoull(first.c_str() + space, nullptr, 10));
    Future<Void> listening = listen(guest, first.substr(0, space));
    co_await (sending || listening); // the end of either cancels the other
}

Future<Void> Room::listen(Reference<Connection> guest, std::string name) {
    while (true) {
        Bytes line = co_await guest->readUntil("\n"_sr, kLongestLine);
        std::string text = line.toString();
        std::size_t space = text.find(' ');
        if (space == std::string::npos)
            co_return;
        if (std::strtoull(text.c_str(), nullptr, 10) != said_[name])
            continue; // a guest that was disconnected repeats what it has not got back
        ++said_[name];
        lines_.push_back(name + ":" + text.substr(space));
        changed_.trigger();
    }
}

Future<Void> Room::send(Reference<Connection> guest, std::size_t heard) {
    while (true) {
        while (heard < lines_.size()) {
            std::string line = lines_[heard++];
            co_await guest->write(line); // waits while the guest reads slowly
        }
        co_await changed_.next();
    }
}
