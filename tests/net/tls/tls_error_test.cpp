#include "net/tls/detail/tls_error.h"

#include "net/connection.h"
#include "net/tls/tls_context.h"

#include <doctest/doctest.h>

#include <thread>

using namespace flow;
using namespace flow::net;

TEST_CASE("tls error: all are errors of a connection") {
    for (Error error : {tls_error(), tls_protocol_error(), tls_certificate_expired(), tls_certificate_untrusted(),
                        tls_wrong_name()}) {
        INFO(error.name());
        CHECK(isConnectionError(error));
        CHECK(std::string(error.name()).starts_with("tls_"));
    }
}

TEST_CASE("tls error: the last sentence is the thread's own, and is cut where it is too long") {
    CHECK_THROWS_AS(TlsContext::server({}), Error);
    std::string before = lastTlsError();
    CHECK(before == "TlsServerOptions: identities is empty; a server needs a certificate");
    std::string there;
    std::thread([&] { there = lastTlsError(); }).join();
    CHECK(there == "");
    TlsClientOptions options;
    options.authorities = "/" + std::string(1000, 'x');
    CHECK_THROWS_AS(TlsContext::client(options), Error);
    CHECK(std::string(lastTlsError()) == "/" + std::string(254, 'x'));
}
