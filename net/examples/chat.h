#pragma once
// chat: each client is a guest of a room. When a guest sends a line, the others get the line, after the guest's name.

#include "flow/sync/event.h"
#include "net/connection.h"

#include <map>
#include <string>

class Room {
public:
    static constexpr std::uint32_t kLongestLine = 1000;     // bytes; a guest with a longer line is disconnected
    static constexpr std::size_t kMostUnread = 1024 * 1024; // bytes; a guest with more unread bytes is disconnected

    /// Adds a guest and returns the guest's name. All other guests get a message.
    std::string enter(flow::Reference<flow::net::Connection> guest);
    void leave(std::string const& name);
    /// Sends the text to all guests but `from`.
    void say(std::string const& from, std::string const& text);
    std::size_t guests() const { return guests_.size(); }

private:
    std::map<std::string, flow::Reference<flow::net::Connection>> guests_;
    int entered_ = 0;
};

/// Serves the guest until the guest disconnects or the server ends. The room must exist until then.
flow::Future<flow::Void> chat(Room* room, flow::Reference<flow::net::Connection> guest, flow::Event* ending);
