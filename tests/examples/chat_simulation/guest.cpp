#include "guest.h"

#include "net/transport.h"
#include "room.h"

using namespace flow;
using namespace flow::net;

static constexpr double kSilence = 5; // seconds

static Future<Void> say(Guest* guest, Reference<Connection> connection) {
    std::string first = guest->name + " " + std::to_string(guest->heard.size()) + "\n";
    co_await connection->write(first);
    for (std::size_t i = guest->said; i < guest->toSay.size(); ++i) {
        co_await delayJittered(1);
        std::string line = std::to_string(i) + " " + guest->toSay[i] + "\n";
        co_await connection->write(line);
    }
}

static Future<Void> listen(Guest* guest, Reference<Connection> connection, std::size_t untilHeard) {
    while (guest->heard.size() < untilHeard) {
        Bytes line = co_await timeoutError(keep(connection->readUntil("\n"_sr, kLongestLine)), kSilence);
        guest->heard.push_back(line.toString());
        if (guest->heard.back().starts_with(guest->name + ": "))
            ++guest->said;
    }
}

static Future<Void> visit(Guest* guest, Address room, std::size_t untilHeard) {
    Reference<Connection> connection = co_await transport().connect(room);
    Future<Void> saying = say(guest, connection);
    Future<Void> listening = listen(guest, connection, untilHeard);
    co_await (saying && listening); // an error of either cancels the other
}

Future<Void> stay(Guest* guest, Address room, std::size_t untilHeard) {
    while (guest->heard.size() < untilHeard) {
        ErrorOr<Void> visited = co_await tryGet(visit(guest, room, untilHeard));
        if (visited.isError())
            co_await delayJittered(0.5);
    }
}
