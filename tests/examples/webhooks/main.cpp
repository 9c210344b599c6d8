// webhooks PORT JOURNAL NAME=URL...: accepts events for these receivers at that port of this machine, and delivers
// them. SIGTERM and SIGINT end it in order. One that has ended, in whatever way, is started again with the same
// JOURNAL.

#include "flow/base/parse_number.h"
#include "flow/wait/signals.h"
#include "net/http/client_tls.h"
#include "webhooks.h"

#include <csignal>
#include <cstdio>

using namespace flow;

static Future<Void> run(std::uint16_t port, WebhookOptions options) {
    Reference<net::Listener> listener = net::transport().listen(net::Address(0x7F000001, port));
    std::printf("listening at %s\n", listener->localAddress().toString().c_str());
    std::fflush(stdout);
    Future<int> stop = keep(signals({SIGTERM, SIGINT}));
    co_await serveWebhooks(listener, std::move(options), success(stop));
}

int main(int argc, char** argv) {
    std::optional<std::uint16_t> port;
    WebhookOptions options;
    if (argc > 3) {
        port = parseNumber<std::uint16_t>(argv[1]);
        options.path = argv[2];
    }
    for (int i = 3; i < argc; ++i) {
        std::string receiver = argv[i];
        std::size_t equals = receiver.find('=');
        if (equals == std::string::npos)
            port.reset();
        else
            options.receivers[receiver.substr(0, equals)] = receiver.substr(equals + 1);
    }
    if (!port) {
        std::fprintf(stderr, "usage: webhooks PORT JOURNAL NAME=URL...\n");
        return 2;
    }
    try {
        options.client.encrypt = net::http::tlsConnector();
        RealLoop loop;
        loop.run(run(*port, std::move(options)));
    } catch (Error& e) {
        std::fprintf(stderr, "webhooks: %s\n", e.what());
        return 1;
    }
}
