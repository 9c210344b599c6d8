#pragma once
// chat: who connects is a guest of a room. What one says, a line, all others get, with the guest's name before it.

#include "net/connection.h"

#include <map>
#include <string>

class Room {
public:
    static constexpr std::uint32_t kLongestLine = 1000;     // bytes; who says more is cut off
    static constexpr std::size_t kMostUnread = 1024 * 1024; // bytes; who leaves more unread is cut off

    /// The guest's name. All others hear of it.
    std::string enter(flow::Reference<flow::net::Connection> guest);
    void leave(std::string const& name);
    /// Everybody but `from` gets the text.
    void tell(std::string const& from, std::string const& text);
    std::size_t guests() const { return guests_.size(); }

private:
    std::map<std::string, flow::Reference<flow::net::Connection>> guests_;
    int entered_ = 0;
};

/// Until the guest goes. The room must outlive it.
flow::Future<flow::Void> chat(Room* room, flow::Reference<flow::net::Connection> guest);
