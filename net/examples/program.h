#pragma once
// Types and functions that the main functions of the examples use.

#include "flow/base/parse_number.h"
#include "flow/flow.h"
#include "flow/wait/signals.h"
#include "net/serve.h"
#include "net/service_manager.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>

using Arguments = std::vector<std::string>;
using Options = std::map<std::string, std::string>; // an option, such as "--idle", and its value
using Wrap = std::function<flow::Reference<flow::net::Listener>(flow::Reference<flow::net::Listener>)>;

struct WrongArgument {
    std::string text;
};

/// Removes and returns the options, which follow the first `count` arguments. Each option has a value.
inline Options takeOptions(Arguments& arguments, std::size_t count, std::initializer_list<char const*> known) {
    Options options;
    for (std::size_t i = count; i < arguments.size(); i += 2) {
        std::string const& name = arguments[i];
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw WrongArgument{"there is no such option: " + name};
        if (i + 1 == arguments.size())
            throw WrongArgument{"a value is expected behind " + name};
        if (!options.emplace(name, arguments[i + 1]).second)
            throw WrongArgument{"given twice: " + name};
    }
    arguments.resize(std::min(arguments.size(), count));
    return options;
}

/// Returns the address 127.0.0.1 with the port `portText`; "0": a free port.
inline flow::net::Address addressOf(std::string const& portText) {
    auto port = flow::parseNumber<std::uint16_t>(portText);
    if (!port)
        throw WrongArgument{"this is no port: " + portText};
    return flow::net::Address(0x7F000001, *port);
}

/// Takes the first socket that systemd has passed to the program, or else listens at addressOf(portText). Prints the
/// address. If `wrap` is given, returns the result of wrap(listener) instead of the listener.
inline flow::Reference<flow::net::Listener> listenAt(std::string const& portText, Wrap const& wrap = {}) {
    flow::net::Address address = addressOf(portText);
    auto passed = flow::net::passedListeners();
    auto listener = passed.empty() ? flow::net::transport().listen(address) : passed[0].listener;
    if (wrap)
        listener = wrap(listener);
    std::printf("listening at %s\n", listener->localAddress().toString().c_str());
    std::fflush(stdout);
    return listener;
}

/// Waits until SIGTERM or SIGINT comes.
inline flow::Future<flow::Void> endOfProgram() {
    flow::Future<int> signal = keep(flow::signals({SIGTERM, SIGINT}));
    return flow::success(signal);
}

/// Listens at the port, and serves clients until SIGTERM or SIGINT. Then open connections get a second to end.
template <class Serve>
flow::Future<flow::Void> serve(std::string portText, Serve serveOne, Wrap const& wrap = {}) {
    flow::Future<flow::Void> stop = endOfProgram();
    return flow::net::serveUntil(listenAt(portText, wrap), serveOne, stop, 1.0);
}

/// Waits for the Future of run(arguments). Returns the result of main(): 1 if this Future fails; 2 if an argument is
/// wrong, or there are fewer than `least` or more than `most` arguments; else 0. `--help` prints the usage.
template <class Run>
int runExample(int argc, char** argv, char const* usage, std::size_t least, std::size_t most, Run run) {
    Arguments arguments(argv + 1, argv + argc);
    std::string help = std::string("usage: ") + argv[0] + " " + usage;
    try {
        if (arguments == Arguments{"--help"}) {
            std::printf("%s\n", help.c_str());
            return 0;
        }
        if (arguments.size() < least || arguments.size() > most)
            throw WrongArgument{help};
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
