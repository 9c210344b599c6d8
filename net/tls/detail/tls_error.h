#pragma once
// The errors of TLS, and a sentence with the reason.
//
//     try {
//         connection = co_await tlsConnect(server, "example.org", context);
//     } catch (Error& error) {
//         log("{}: {}", error.name(), error.what());
//         // tls_wrong_name: hostname mismatch (example.org): the certificate CN=one is for DNS:one.example
//     }
//
//     tls_certificate_expired     the other side's certificate is not valid yet, or not any more
//     tls_certificate_untrusted   no trusted authority has signed the other side's certificate
//     tls_wrong_name              the other side's certificate is not for the requested name
//     tls_protocol_error          the bytes are not TLS, were corrupted, or the sides share no version or cipher
//     tls_error                   any other error: the other side refuses, or a file of a context is not valid
//     connection_cut_off          the connection has ended without close_notify of the other side
//
// isConnectionError() is true for all these errors. what() has the reason, the requested name, and the subject and the
// names of a certificate that was not accepted.

#include "flow/base/error.h"

#include <string>

struct ssl_st;

namespace flow::net {

/// Returns the last TLS failure of this thread, as a sentence without a full stop, at most 511 bytes; "" if there was
/// none. As with errno, read the text before another call can fail.
char const* lastTlsError() noexcept;

// Only net/tls uses these functions.

/// Sets the text of lastTlsError(), and returns `error` with this text as its sentence.
Error noteTlsError(Error error, std::string const& text) noexcept;
/// Returns the Error for OpenSSL's queue of errors, and empties the queue. `ssl` is the object that failed, or null.
Error takeTlsError(ssl_st* ssl, std::string const& about);

} // namespace flow::net
