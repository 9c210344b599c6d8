#pragma once
// The main of an example that is called with a port.

#include "flow/base/parse_number.h"
#include "flow/loop/real_loop.h"

#include <cstdint>
#include <cstdio>
#include <optional>

/// Runs serve(port) to its end. 0 for port: one that is free. Returns what main() is to return.
template <class Serve>
int runExample(int argc, char** argv, Serve serve) {
    auto port = argc == 2 ? flow::parseNumber<std::uint16_t>(argv[1]) : std::nullopt;
    if (!port) {
        std::fprintf(stderr, "usage: %s PORT\n", argv[0]);
        return 2;
    }
    try {
        flow::RealLoop loop;
        loop.run(serve(*port));
        return 0;
    } catch (flow::Error& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}
