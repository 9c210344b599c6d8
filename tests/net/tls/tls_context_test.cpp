#include "net/tls/tls_context.h"

#include "flow/coro/coroutine.h"
#include "net/tls/detail/tls_connection.h"
#include "net/transport.h"
#include "tests/flow/support/file_text.h"
#include "tests/net/tls/tls_support.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <openssl/ssl.h>
#include <string>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

Error errorOfMaking(auto make) {
    try {
        make();
        return Error();
    } catch (Error& error) {
        return error;
    }
}

/// A key on the curve P-192.
constexpr char kWeakCertificate[] = "-----BEGIN CERTIFICATE-----\n"
                                    "MIIBVTCCAQugAwIBAgIUbpoqJrQ3fiBxoinGT5jJiksCIdkwCgYIKoZIzj0EAwIw\n"
                                    "DzENMAsGA1UEAwwEd2VhazAgFw0yNjExMjYxMDM0NTRaGA8yMTI2MTEwMjEwMzQ1\n"
                                    "NFowDzENMAsGA1UEAwwEd2VhazBJMBMGByqGSM49AgEGCCqGSM49AwEBAzIABCnP\n"
                                    "UTgaMyin1xqSa6SlToAUfguxEkiUOb3pMxq3KjYcs5UXcESMuN3X/aId9LAe8KNT\n"
                                    "MFEwHQYDVR0OBBYEFBHm26mQgWcZ5sTC76xfhCdJXq9sMB8GA1UdIwQYMBaAFBHm\n"
                                    "26mQgWcZ5sTC76xfhCdJXq9sMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwID\n"
                                    "OAAwNQIZAPOQFVh6lDe/3OYSG7XIDhP6ZwJ239mhuwIYVXe99VmqJIh+m5hpu101\n"
                                    "OAg+8sv4+/5a\n"
                                    "-----END CERTIFICATE-----\n";
constexpr char kWeakKey[] = "-----BEGIN EC PRIVATE KEY-----\n"
                            "MF8CAQEEGP+ykKzziQrtczUDfJN2JYtjqBrbhgYAq6AKBggqhkjOPQMBAaE0AzIA\n"
                            "BCnPUTgaMyin1xqSa6SlToAUfguxEkiUOb3pMxq3KjYcs5UXcESMuN3X/aId9LAe\n"
                            "8A==\n"
                            "-----END EC PRIVATE KEY-----\n";

Future<Void> sayHello(Met const& met) {
    co_await met.server->write("hello"_sr);
    Bytes hello = co_await met.client->readExactly(5); // with it, the tickets that the server has sent before
    CHECK(hello == "hello"_sr);
}

} // namespace

TEST_CASE("tls context: what cannot be used is refused in words") {
    CHECK(errorOfMaking([] { TlsContext::server({}); }) == invalid_option_value());
    CHECK(std::string(lastTlsError()) == "TlsServerOptions: identities is empty; a server needs a certificate");
    TlsServerOptions options = serverOptions();
    options.identities[0].certificate = "/nowhere/server.pem";
    CHECK(errorOfMaking([&] { TlsContext::server(options); }) == file_not_found());
    CHECK(std::string(lastTlsError()) == "/nowhere/server.pem: No such file or directory");
    options.identities[0].certificate = "/tmp";
    CHECK(errorOfMaking([&] { TlsContext::server(options); }) == file_not_readable());
    options.identities[0] = {certificate("server"), identity("client").key};
    CHECK(errorOfMaking([&] { TlsContext::server(options); }) == tls_error());
    CHECK(std::string(lastTlsError()).starts_with("the key does not belong to the certificate ("));
    options.identities[0] = {identity("server").key, identity("server").key};
    CHECK(errorOfMaking([&] { TlsContext::server(options); }) == tls_error());
    CHECK(std::string(lastTlsError()).starts_with("no certificate ("));
    options.identities[0] = {"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n", identity("server").key};
    CHECK(errorOfMaking([&] { TlsContext::server(options); }) == tls_error());
    CHECK(std::string(lastTlsError()).ends_with(" (PEM in memory)"));
    options = serverOptions();
    options.protocols = {""};
    CHECK(errorOfMaking([&] { TlsContext::server(options); }) == invalid_option_value());
    CHECK(std::string(lastTlsError()) ==
          "TlsOptions: protocols is a name of 0 bytes; each name must have 1 to 255 bytes");
    options.protocols = {};
    options.ticketKey = "short";
    CHECK(errorOfMaking([&] { TlsContext::server(options); }) == invalid_option_value());
    CHECK(std::string(lastTlsError()) == "TlsServerOptions: ticketKey is 5 bytes long; it must have 80 bytes");
    options.ticketKey = {};
    options.minimum = TlsVersion::Tls13;
    options.maximum = TlsVersion::Tls12;
    Error error = errorOfMaking([&] { TlsContext::server(options); });
    CHECK(error == invalid_option_value());
    CHECK(error.what() == std::string(lastTlsError()));
    CHECK(std::string(lastTlsError()) == "TlsOptions: minimum is TLS 1.3; it must not be above `maximum`");
    TlsClientOptions client;
    client.handshakeTimeout = 0;
    CHECK(errorOfMaking([&] { TlsContext::client(client); }) == invalid_option_value());
    CHECK(std::string(lastTlsError()) == "TlsOptions: handshakeTimeout is 0; it must be more than 0");
}

TEST_CASE("tls context: a key that OpenSSL finds too weak is refused at once, not in each handshake") {
    TlsServerOptions options;
    options.identities = {{kWeakCertificate, kWeakKey}};
    CHECK(errorOfMaking([&] { TlsContext::server(options); }) == tls_error());
    CHECK(std::string(lastTlsError()) == "ee key too small (PEM in memory)");
    TlsClientOptions client;
    client.identity = options.identities[0];
    CHECK(errorOfMaking([&] { TlsContext::client(client); }) == tls_error());
}

TEST_CASE("tls context: certificates may be text as well") {
    onBothNetworks([]() -> Future<Void> {
        TlsClientOptions client;
        client.authorities = fileText(certificate("ca"));
        TlsServerOptions server;
        server.identities = {{fileText(certificate("server")), fileText(identity("server").key)}};
        Met met = co_await meet(client, server);
        CHECK(met.clientWhy == "");
        co_await sayHello(met);
    });
}

TEST_CASE("tls context: a client looks at the authority, the name and the time") {
    onBothNetworks([]() -> Future<Void> {
        TlsServerOptions server = serverOptions();
        server.identities = {identity("stranger")};
        Met stranger = co_await meet(clientOptions(), server);
        CHECK(stranger.ofClient == tls_certificate_untrusted());
        CHECK(
            stranger.clientWhy.starts_with("unable to get local issuer certificate (localhost): the certificate CN="));
        CHECK(stranger.ofServer == tls_error());
        CHECK(stranger.serverWhy.starts_with("the other side has refused: "));
        Met system = co_await meet(TlsClientOptions(), serverOptions());
        CHECK(system.ofClient == tls_certificate_untrusted());
        Met wrong = co_await meet(clientOptions(), serverOptions(), "example.com");
        CHECK(wrong.ofClient == tls_wrong_name());
        CHECK(wrong.clientWhy ==
              "hostname mismatch (example.com): the certificate CN=server,O=Millrace tests is for DNS:localhost, "
              "IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:example.org");
        CHECK(wrong.ofClient.what() == wrong.clientWhy);
        Met address = co_await meet(clientOptions(), serverOptions(), "127.0.0.1");
        CHECK(address.clientWhy == "");
        CHECK(address.server->serverName() == "");
        Met otherAddress = co_await meet(clientOptions(), serverOptions(), "127.0.0.2");
        CHECK(otherAddress.ofClient == tls_wrong_name());
        Met noName = co_await meet(clientOptions(), serverOptions(), "");
        CHECK(noName.ofClient == invalid_option_value());
        server.identities = {identity("expired")};
        Met expired = co_await meet(clientOptions(), server);
        CHECK(expired.ofClient == tls_certificate_expired());
        CHECK(expired.clientWhy.starts_with(
            "certificate has expired (localhost): the certificate CN=expired,O=Millrace tests is for "));
        TlsClientOptions early = clientOptions();
        early.validAt = 1'000'000'000;
        Met notYet = co_await meet(early, serverOptions());
        CHECK(notYet.ofClient == tls_certificate_expired());
        TlsClientOptions blind;
        blind.verify = false;
        Met any = co_await meet(blind, server, "");
        CHECK(any.clientWhy == "");
        CHECK(any.client->peerSubject() == "CN=expired,O=Millrace tests");
    });
}

TEST_CASE("tls context: a server that authenticates its clients") {
    onBothNetworks([]() -> Future<Void> {
        TlsServerOptions server = serverOptions();
        server.clientAuthorities = certificate("ca");
        TlsClientOptions client = clientOptions();
        client.identity = identity("client");
        Met known = co_await meet(client, server);
        CHECK(known.serverWhy == "");
        CHECK(known.server->peerSubject() == "CN=client,O=Millrace tests");
        Met nobody = co_await meet(clientOptions(), server);
        CHECK(nobody.ofServer == tls_error());
        CHECK(nobody.serverWhy.starts_with("peer did not return a certificate"));
        REQUIRE(nobody.client); // with TLS 1.3 its side of the handshake is done by then
        Error refused = co_await endOf(keep(nobody.client->read()));
        CHECK(refused == tls_error());
        CHECK(nobody.client->why().starts_with("the other side has refused: "));
        client.identity = identity("stranger");
        Met stranger = co_await meet(client, server);
        CHECK(stranger.ofServer == tls_certificate_untrusted());
        client.identity = identity("expired");
        Met expired = co_await meet(client, server);
        CHECK(expired.ofServer == tls_certificate_expired());
    });
}

TEST_CASE("tls context: the server's first protocol that the client has is spoken") {
    onBothNetworks([]() -> Future<Void> {
        TlsServerOptions server = serverOptions();
        server.protocols = {"h2", "http/1.1"};
        TlsClientOptions client = clientOptions();
        client.protocols = {"http/1.1", "h2"};
        Met both = co_await meet(client, server);
        CHECK(both.client->protocol() == "h2");
        CHECK(both.server->protocol() == "h2");
        client.protocols = {"http/1.1"};
        Met one = co_await meet(client, server);
        CHECK(one.client->protocol() == "http/1.1");
        client.protocols = {};
        Met none = co_await meet(client, server);
        CHECK(none.server->protocol() == "");
        client.protocols = {"gopher"};
        Met other = co_await meet(client, server);
        CHECK(other.ofServer == tls_protocol_error());
        CHECK(other.ofClient == tls_protocol_error());
    });
}

TEST_CASE("tls context: a server has a certificate for each name") {
    onBothNetworks([]() -> Future<Void> {
        TlsServerOptions server = serverOptions();
        server.identities.push_back(identity("other"));
        struct Case {
            char const* name;
            char const* subject;
        };
        for (Case each :
             {Case{"localhost", "CN=server,O=Millrace tests"}, Case{"example.org", "CN=server,O=Millrace tests"},
              Case{"other.example.org", "CN=other,O=Millrace tests"},
              Case{"any.wild.example.org", "CN=other,O=Millrace tests"}}) {
            Met met = co_await meet(clientOptions(), server, each.name);
            CHECK(met.clientWhy == "");
            CHECK(met.client->peerSubject() == each.subject);
            CHECK(met.server->serverName() == each.name);
        }
        Met unknown = co_await meet(clientOptions(), server, "nobody.example.org");
        CHECK(unknown.ofClient == tls_wrong_name());
    });
}

TEST_CASE("tls context: a common name is no name of a server, and a dot at the end is no part of one") {
    onBothNetworks([]() -> Future<Void> {
        TlsServerOptions server = serverOptions();
        server.identities = {identity("client")}; // has CN=client, and nothing else
        Met common = co_await meet(clientOptions(), server, "client");
        CHECK(common.ofClient == tls_wrong_name());
        CHECK(common.clientWhy ==
              "hostname mismatch (client): the certificate CN=client,O=Millrace tests is for no name");
        server.identities = {identity("server"), identity("client")};
        TlsClientOptions any = clientOptions();
        any.verify = false;
        Met chosen = co_await meet(any, server, "client");
        CHECK(chosen.client->peerSubject() == "CN=server,O=Millrace tests");
        Met dot = co_await meet(clientOptions(), serverOptions(), "example.org.");
        CHECK(dot.clientWhy == "");
        CHECK(dot.server->serverName() == "example.org");
    });
}

TEST_CASE("tls context: what is no name of a host is refused before the handshake") {
    onBothNetworks([]() -> Future<Void> {
        for (bool verifies : {true, false})
            for (std::string const& name :
                 {std::string(".example.org"), std::string("."), std::string("example.org.."), std::string("a..b"),
                  std::string("example org"), std::string("example.org\n"), std::string("example.org\0.a", 14),
                  std::string("\t")}) {
                TlsClientOptions client = clientOptions();
                client.verify = verifies;
                Met met = co_await meet(client, serverOptions(), name);
                CHECK(met.ofClient == invalid_option_value());
                CHECK(met.clientWhy.starts_with("a certificate cannot have this name: '"));
            }
    });
}

TEST_CASE("tls context: sessions are resumed if that is allowed") {
    onBothNetworks([]() -> Future<Void> {
        Reference<Listener> at = transport().listen(transport().localAddress());
        for (TlsVersion version : {TlsVersion::Tls12, TlsVersion::Tls13}) {
            TlsClientOptions options = clientOptions();
            options.maximum = version;
            Reference<TlsContext> client = TlsContext::client(options);
            TlsServerOptions serving = serverOptions();
            Reference<TlsContext> server = TlsContext::server(serving);
            Met first = co_await meet(client, server, "localhost", at);
            CHECK_FALSE(first.client->wasResumed());
            co_await sayHello(first);
            first.client->close();
            Met second = co_await meet(client, server, "localhost", at);
            CHECK(second.client->wasResumed());
            CHECK(second.server->wasResumed());
            CHECK(second.server->serverName() == "localhost");
            CHECK(second.client->peerSubject() == "CN=server,O=Millrace tests");
            co_await sayHello(second);
            Met otherClient = co_await meet(TlsContext::client(options), server, "localhost", at);
            CHECK_FALSE(otherClient.client->wasResumed());
            Met otherServer = co_await meet(client, TlsContext::server(serving), "localhost", at);
            CHECK_FALSE(otherServer.client->wasResumed());
            co_await sayHello(otherServer);
            serving.ticketKey = std::string(80, 'k');
            Met mine = co_await meet(client, TlsContext::server(serving), "localhost", at);
            co_await sayHello(mine);
            Met yours = co_await meet(client, TlsContext::server(serving), "localhost", at);
            CHECK(yours.client->wasResumed());
            co_await sayHello(yours);
            serving.tickets = 0;
            Met none = co_await meet(client, TlsContext::server(serving), "localhost", at);
            CHECK_FALSE(none.client->wasResumed());
        }
    });
}

namespace {

/// What a client of that version says first.
std::string firstWords(int version) {
    SSL_CTX* context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(context, version);
    SSL_CTX_set_max_proto_version(context, version);
    SSL_CTX_set_security_level(context, 0);
    SSL* ssl = SSL_new(context);
    BIO* written = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), written);
    SSL_set_connect_state(ssl);
    SSL_do_handshake(ssl);
    char* words = nullptr;
    long size = BIO_get_mem_data(written, &words);
    std::string text(words, static_cast<std::size_t>(size));
    SSL_free(ssl);
    SSL_CTX_free(context);
    return text;
}

} // namespace

TEST_CASE("tls context: what the options do not have is set on OpenSSL's own context") {
    onBothNetworks([]() -> Future<Void> {
        Reference<TlsContext> server = TlsContext::server(serverOptions());
        CHECK(SSL_CTX_set_ciphersuites(server->nativeHandle(), "TLS_CHACHA20_POLY1305_SHA256") == 1);
        Met met = co_await meet(TlsContext::client(clientOptions()), server);
        CHECK(met.client->cipher() == "TLS_CHACHA20_POLY1305_SHA256");
        CHECK((met.client->nativeDescriptor() == -1) == Loop::current().isSimulated());
    });
}

TEST_CASE("tls context: versions below 1.2 are refused, and 1.2 where 1.3 is required") {
    onBothNetworks([]() -> Future<Void> {
        TlsServerOptions modern = serverOptions();
        modern.minimum = TlsVersion::Tls13;
        for (auto const& [version, options] :
             {std::pair(TLS1_VERSION, serverOptions()), std::pair(TLS1_1_VERSION, serverOptions()),
              std::pair(TLS1_2_VERSION, modern)}) {
            std::string words = firstWords(version);
            REQUIRE(words.size() > 40);
            Pair pair = co_await makePair();
            co_await pair.client->write(StringRef(words));
            Error error = co_await endOf(tlsServer(pair.server, TlsContext::server(options)));
            CHECK(error == tls_protocol_error());
            CHECK(std::string(lastTlsError()).starts_with("unsupported protocol"));
            Bytes alert = co_await pair.client->readExactly(7);
            CHECK(alert[0] == 21);
            CHECK(alert[6] == 70); // protocol_version
        }
    });
}
