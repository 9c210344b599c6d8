#pragma once
// Shared by the main functions of the examples.

#include "flow/base/parse_number.h"
#include "flow/flow.h"
#include "flow/wait/signals.h"
#include "net/serve.h"

#include <csignal>
#include <cstdio>

using Arguments = std::vector<std::string>;

/// The exception for wrong arguments, with a message.
struct WrongArgument {
    std::string text;
};

/// Listens at that port of 127.0.0.1, or at a free one if it is 0, prints the address, and serves each client until
/// SIGTERM or SIGINT comes; connections that are open then get a second.
template <class Serve>
flow::Future<flow::Void> serve(std::string portText, Serve serveOne) {
    auto port = flow::parseNumber<std::uint16_t>(portText);
    if (!port)
        throw WrongArgument{"this is no port: " + portText};
    auto listener = flow::net::transport().listen(flow::net::Address(0x7F000001, *port));
    flow::Future<int> stop = keep(flow::signals({SIGTERM, SIGINT}));
    std::printf("listening at %s\n", listener->localAddress().toString().c_str());
    std::fflush(stdout);
    return flow::net::serveUntil(listener, serveOne, flow::success(stop), 1.0);
}

/// Runs run(arguments), which returns a Future, to its end. Returns the result of main(): 2 if there are fewer than
/// `least` or more than `most` arguments or one of them is wrong, 1 if it fails.
template <class Run>
int runExample(int argc, char** argv, char const* usage, std::size_t least, std::size_t most, Run run) {
    Arguments arguments(argv + 1, argv + argc);
    try {
        if (arguments.size() < least || arguments.size() > most)
            throw WrongArgument{std::string("usage: ") + argv[0] + " " + usage};
        flow::RealLoop loop;
        loop.run(run(arguments));
        return 0;
    } catch (WrongArgument& wrong) {
        std::fprintf(stderr, "%s\n", wrong.text.c_str());
        return 2;
    } catch (flow::Error& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}
