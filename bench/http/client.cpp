// The client of bench/http: asks on so many connections for so many seconds, and prints a ClientRow.

#include "net/http/client.h"
#include "bench/client_row.h"
#include "net/examples/program.h"

#include <string>
#include <vector>

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
    std::vector<Future<Void>> asking;
    for (int i = 0; i < connections; ++i)
        asking.push_back(ask(&client, url, &row));
    auto asked = all(std::move(asking));
    co_await std::move(asked);
    row.print();
}

} // namespace

int main(int argc, char** argv) {
    return runExample(argc, argv, "URL CONNECTIONS SECONDS", 3, 3, [](Arguments const& arguments) {
        auto connections = parseNumber<int>(arguments[1]);
        auto seconds = parseNumber<double>(arguments[2]);
        if (!connections || !seconds)
            throw WrongArgument{"CONNECTIONS and SECONDS are numbers"};
        return askAll(arguments[0], *connections, *seconds);
    });
}
