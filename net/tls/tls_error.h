#pragma once
// The errors of TLS, and the sentence that says why.
//
//     try {
//         connection = co_await tlsConnect(server, "example.org", context);
//     } catch (Error& error) {
//         log("{}: {}", error.what(), lastTlsError());       // "certificate has expired (example.org)"
//     }
//
//     tls_certificate_expired     the other side's certificate is not valid yet, or not any more
//     tls_certificate_untrusted   no trusted authority has signed it
//     tls_wrong_name              it is for another name than the one that was asked for
//     tls_protocol_error          what comes is not TLS, or was changed on its way, or no version or cipher is common
//     tls_error                   anything else: the other side refuses, a file of a context makes no sense
//     connection_cut_off          the connection has ended, but the other side has not said that it would
//
// isConnectionError() is true of all of them.

#include "flow/base/error.h"

#include <string>

struct ssl_st;

namespace flow::net {

/// What the last TLS failure of this thread was, as a sentence without a full stop, at most 255 bytes; "" if there was
/// none. Like errno, it is to be read before something else can fail.
char const* lastTlsError() noexcept;

// For net/tls alone.

/// From here on lastTlsError() gives this text. Gives the error.
Error noteTlsError(Error error, std::string const& text) noexcept;
/// The Error for what OpenSSL has in its queue, which is empty afterwards. `ssl`: what failed; may be null.
Error takeTlsError(ssl_st* ssl, std::string const& about);

} // namespace flow::net
