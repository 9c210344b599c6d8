// The client of bench/http: asks on so many connections for so many seconds, and prints a ClientRow.

#include "net/http/client.h"
#include "bench/http/client_row.h"
#include "flow/base/parse_number.h"
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "net/real/real_network.h"

#include <cstdlib>
#include <string>

namespace {

using namespace flow;
using namespace flow::net;

Future<Void> ask(http::Client* client, std::string url, bench::ClientRow* row) {
    while (row->goesOn()) {
        std::uint64_t asked = bench::ClientRow::now();
        http::Response response = co_await client->get(url);
        for (;;) {
            Bytes piece = co_await response.body.read();
            if (piece.empty())
                break;
        }
        if (response.status != 200)
            throw operation_failed();
        row->add(asked);
    }
}

Future<Void> askAll(std::string url, int connections, double seconds) {
    http::ClientOptions options;
    options.connections = static_cast<std::size_t>(connections);
    http::Client client(options);
    bench::ClientRow row(seconds);
    std::vector<Future<Void>> all;
    for (int i = 0; i < connections; ++i)
        all.push_back(ask(&client, url, &row));
    co_await waitForAll(all);
    row.print();
}

} // namespace

int main(int argc, char** argv) {
    auto connections = argc == 4 ? parseNumber<int>(argv[2]) : std::nullopt;
    if (!connections) {
        std::fprintf(stderr, "usage: http_client_bench URL CONNECTIONS SECONDS\n");
        return 2;
    }
    RealLoop loop;
    RealNetwork network(loop);
    try {
        loop.run(askAll(argv[1], *connections, std::atof(argv[3])));
    } catch (Error& error) {
        std::fprintf(stderr, "http_client_bench: %s\n", error.what());
        return 1;
    }
}
