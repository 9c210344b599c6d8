#include "net/tls/detail/tls_error.h"

#include "net/tls/detail/certificate_text.h"

#include <cstdio>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

namespace flow::net {
namespace {

thread_local char lastText[512];

Error errorOfVerification(long result) {
    switch (result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return tls_certificate_expired();
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return tls_wrong_name();
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    case X509_V_ERR_CERT_UNTRUSTED:
        return tls_certificate_untrusted();
    default:
        return tls_error();
    }
}

/// Returns the certificate that was not accepted, as ": the certificate CN=server is for DNS:one.example".
std::string refusedCertificate(SSL const* ssl) {
    STACK_OF(X509)* chain = SSL_get0_verified_chain(ssl); // as far as OpenSSL has built it
    if (!chain || sk_X509_num(chain) == 0)
        return {};
    return ": " + describeCertificate(sk_X509_value(chain, 0));
}

/// True for an alert that the other side has sent: OpenSSL's reason is then above SSL_AD_REASON_OFFSET.
bool isAlert(int reason) {
    return reason > SSL_AD_REASON_OFFSET;
}

Error errorOfReason(int reason) {
    switch (reason) {
    case SSL_AD_REASON_OFFSET + SSL_AD_PROTOCOL_VERSION:
    case SSL_AD_REASON_OFFSET + SSL_AD_HANDSHAKE_FAILURE:
    case SSL_AD_REASON_OFFSET + SSL_AD_UNEXPECTED_MESSAGE:
    case SSL_AD_REASON_OFFSET + SSL_AD_BAD_RECORD_MAC:
    case SSL_AD_REASON_OFFSET + SSL_AD_RECORD_OVERFLOW:
    case SSL_AD_REASON_OFFSET + SSL_AD_DECODE_ERROR:
    case SSL_AD_REASON_OFFSET + SSL_AD_NO_APPLICATION_PROTOCOL:
        return tls_protocol_error();
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
        return tls_error();
    default:
        // Other reasons are errors that OpenSSL itself finds in received bytes.
        return isAlert(reason) ? tls_error() : tls_protocol_error();
    }
}

} // namespace

char const* lastTlsError() noexcept {
    return lastText;
}

Error noteTlsError(Error error, std::string const& text) noexcept {
    std::snprintf(lastText, sizeof lastText, "%s", text.c_str());
    return error.withSentence(text);
}

Error takeTlsError(ssl_st* ssl, std::string const& about) {
    unsigned long code = ssl ? ERR_peek_last_error() : ERR_peek_error();
    int reason = ERR_GET_REASON(code);
    bool isOfSsl = ERR_GET_LIB(code) == ERR_LIB_SSL;
    ERR_clear_error();
    std::string behind = about.empty() ? std::string() : " (" + about + ")";
    if (ssl && isOfSsl && reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        long result = SSL_get_verify_result(ssl);
        std::string why = X509_verify_cert_error_string(result) + behind + refusedCertificate(ssl);
        return noteTlsError(errorOfVerification(result), why);
    }
    char const* words = ERR_reason_error_string(code);
    std::string text = words ? words : "unknown failure";
    if (ssl && isOfSsl && isAlert(reason))
        text = "the other side has refused: " + text;
    return noteTlsError(ssl && isOfSsl ? errorOfReason(reason) : tls_error(), text + behind);
}

} // namespace flow::net
