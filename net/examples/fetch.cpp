// fetch URL [--data TEXT] [--header "NAME: VALUE"] [--most BYTES] [--timeout SECONDS] [--ca FILE] [--proxy URL]: sends
// a GET, or a POST of the text, follows redirects, and prints the status on standard error and the body. An answer with
// more than BYTES (by default 100 MB) or SECONDS (by default 300) is an error.
//
//     $ fetch http://example.org/
//     200 OK
//     <!doctype html>...

#include "net/examples/program.h"
#include "net/http/client_tls.h"

#include <cstdio>

using namespace flow;
using namespace flow::net;

namespace {

constexpr char kUsage[] =
    "URL [--data TEXT] [--header FIELD] [--most BYTES] [--timeout SECONDS] [--ca FILE] [--proxy URL]";

Future<Void> fetch(http::ClientOptions options, http::Request request, std::string url, std::uint64_t most) {
    http::Client client(std::move(options));
    Future<http::Response> asking = client.send(std::move(request), url);
    http::Response response = co_await std::move(asking);
    std::string reason(http::reasonOf(response.status));
    std::fprintf(stderr, "%d %s\n", response.status, reason.c_str());
    for (std::uint64_t total = 0;;) {
        Bytes piece = co_await response.body.read();
        if (piece.empty())
            co_return;
        total += static_cast<std::uint64_t>(piece.size());
        if (total > most)
            throw value_too_large().withSentence("the answer has more bytes than --most allows");
        std::fwrite(piece.begin(), 1, static_cast<std::size_t>(piece.size()), stdout);
    }
}

template <class Number>
Number numberOf(Options& options, char const* name, char const* otherwise) {
    auto number = parseNumber<Number>(options.contains(name) ? options[name] : otherwise);
    if (!number || !(*number > 0))
        throw WrongArgument{std::string("a number is expected behind ") + name};
    return *number;
}

} // namespace

int main(int argc, char** argv) {
    return runExample(argc, argv, kUsage, 1, 13, [](Arguments arguments) {
        Options given = takeOptions(arguments, 1, {"--data", "--header", "--most", "--timeout", "--ca", "--proxy"});
        http::ClientOptions options;
        options.timeout = numberOf<double>(given, "--timeout", "300");
        options.proxy = given["--proxy"];
        if (arguments[0].starts_with("https:")) {
            TlsClientOptions tls;
            tls.authorities = given["--ca"];
            options.encrypt = http::tlsConnector(tls);
        }
        http::Request request;
        if (given.contains("--data")) {
            request.method = "POST";
            request.body = given["--data"];
            request.headers.add("Content-Type", "text/plain");
        }
        if (std::string const& field = given["--header"]; !field.empty()) {
            std::size_t colon = std::min(field.find(':'), field.size() - 1);
            request.headers.set(field.substr(0, colon), field.substr(colon + 1));
        }
        return fetch(std::move(options), std::move(request), arguments[0],
                     numberOf<std::uint64_t>(given, "--most", "100000000"));
    });
}
