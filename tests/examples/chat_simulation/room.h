#pragma once
// Room: what is said in it reaches all guests, each line once, in the same order, however often they are disconnected.
//
// A guest sends "NAME HEARD", the number of lines that it has, then lines "NUMBER TEXT" of its own, numbered from 0. It
// gets the lines of all guests, "NAME: TEXT", from HEARD on.

#include "flow/flow.h"
#include "net/connection.h"

#include <map>
#include <string>
#include <vector>

inline constexpr std::uint32_t kLongestLine = 1000;

class Room {
public:
    /// Serves the guest until it disconnects. The room must outlive the future.
    flow::Future<flow::Void> serve(flow::Reference<flow::net::Connection> guest);

private:
    flow::Future<flow::Void> listen(flow::Reference<flow::net::Connection> guest, std::string name);
    flow::Future<flow::Void> send(flow::Reference<flow::net::Connection> guest, std::size_t heard);

    std::vector<std::string> lines_;
    std::map<std::string, std::size_t> said_; // lines of each guest
    flow::Trigger changed_;
};
