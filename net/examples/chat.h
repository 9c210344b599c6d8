#pragma once
// chat: each client is a guest of a room. All others get each line of a guest, with the guest's name before it.

#include "flow/sync/event.h"
#include "net/connection.h"

#include <map>
#include <string>

class Room {
public:
    static constexpr std::uint32_t kLongestLine = 1000;     // bytes; a guest with a longer line is disconnected
    static constexpr std::size_t kMostUnread = 1024 * 1024; // bytes; a guest that leaves more unread is disconnected

    /// Adds a guest and returns its name. All others get a message.
    std::string enter(flow::Reference<flow::net::Connection> guest);
    void leave(std::string const& name);
    /// Sends the text to all guests but `from`.
    void say(std::string const& from, std::string const& text);
    std::size_t guests() const { return guests_.size(); }

private:
    std::map<std::string, flow::Reference<flow::net::Connection>> guests_;
    int entered_ = 0;
};

/// Serves the guest until it disconnects, or the server ends. The room must outlive it.
flow::Future<flow::Void> chat(Room* room, flow::Reference<flow::net::Connection> guest, flow::Event* ending);
