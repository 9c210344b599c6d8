#include "net/tls/detail/tls_error.h"

#include "net/connection.h"
#include "net/tls/detail/certificate_text.h"
#include "net/tls/tls_context.h"

#include <doctest/doctest.h>

#include <memory>
#include <openssl/x509v3.h>
#include <string>
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
    CHECK(std::string(lastTlsError()) == "/" + std::string(510, 'x'));
}

TEST_CASE("tls error: long names of a certificate are cut") {
    std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
    std::string const unit(40, 'u');
    std::string subject, names;
    for (int i = 0; i < 10; ++i) {
        X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "OU", MBSTRING_ASC,
                                   reinterpret_cast<unsigned char const*>(unit.c_str()), -1, -1, 0);
        subject += (i ? ",OU=" : "OU=") + unit;
        names += (i ? ", DNS:" : "DNS:") + std::string(30, 'n') + ".example";
    }
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
    REQUIRE(extension);
    X509_add_ext(certificate.get(), extension, -1);
    X509_EXTENSION_free(extension);
    CHECK(describeCertificate(certificate.get()) ==
          "the certificate " + subject.substr(0, 150) + "... is for " + names.substr(0, 150) + "...");
}
