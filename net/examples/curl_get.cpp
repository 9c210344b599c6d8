// curl_get URL...: gets all the URLs at the same time with libcurl, and prints a line for each answer as soon as it
// arrives.
//
//     $ curl_get https://example.org/ https://example.com/
//     200, 1256 bytes: https://example.com/
//     200, 1256 bytes: https://example.org/

#include "net/examples/curl.h"
#include "net/examples/program.h"

using namespace flow;
using namespace flow::net;

namespace {

Future<Void> getOne(Curl* curl, std::string url) {
    Future<Curl::Answer> getting = curl->get(url);
    Curl::Answer answer = co_await std::move(getting);
    std::printf("%ld, %zu bytes: %s\n", answer.status, answer.body.size(), url.c_str());
}

Future<Void> fetchAll(Arguments urls) {
    Curl curl;
    Scope getting;
    for (std::string const& url : urls)
        getting.spawn(getOne(&curl, url));
    co_await getting.join();
}

} // namespace

int main(int argc, char** argv) {
    return runExample(argc, argv, "URL...", 1, 1000, fetchAll);
}
