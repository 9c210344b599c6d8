#pragma once
// stay: a guest of a Room, until it has heard so many lines.

#include "flow/flow.h"
#include "net/address.h"

#include <string>
#include <vector>

struct Guest {
    std::string name;
    std::vector<std::string> toSay;
    std::size_t said = 0; // of toSay: those that have come back
    std::vector<std::string> heard;
};

/// Connects again when the connection has ended, or has been silent for too long. The guest must outlive the future.
flow::Future<flow::Void> stay(Guest* guest, flow::net::Address room, std::size_t untilHeard);
