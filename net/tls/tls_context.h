#pragma once
// TlsContext: the certificates, trusted authorities and other settings of TLS clients or servers.
//
//     auto context = TlsContext::client();                                         // trusts the system's authorities
//     auto context = TlsContext::client({.authorities = "ca.pem"});                // trusts these instead
//     auto context = TlsContext::server({.identities = {{"server.pem", "server.key"}}});
//     auto mutual = TlsContext::server({.identities = {{"server.pem", "server.key"}}, .clientAuthorities = "ca.pem"});
//
// Certificates and keys are PEM: either the text itself, which contains "-----BEGIN ", or the name of a file that has
// the text. The files are read once, when the context is made, with blocking calls. If certificates have changed, make
// another context, and pass it to TlsListener::setContext(). Existing connections keep their context.
//
// Making a context throws file_not_found, file_not_readable, invalid_option_value, or tls_error; what() has the reason.
// A context belongs to one thread, so each loop needs its own.
//
// In a simulation. The bytes on the wire are random in each run, so World::digest() differs, and a fault that changes a
// byte may have another effect. But the order and the times of events, and the numbers of sent bytes, depend only on
// the seed if keys are RSA or Ed25519 (signatures of ECDSA differ in size), the server sends no tickets (they differ in
// size), and no certificate expires between two runs, or validAt is set.

#include "flow/base/non_copyable.h"
#include "flow/base/seconds.h"
#include "flow/memory/reference.h"
#include "net/tls/detail/tls_error.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct ssl_ctx_st;
struct ssl_session_st;

namespace flow::net {

struct TlsIdentity {
    std::string certificate; // PEM: the certificate, then the chain up to an authority
    std::string key;         // PEM
};

enum class TlsVersion : std::uint8_t { Tls12, Tls13 };

struct TlsOptions {
    TlsVersion minimum = TlsVersion::Tls12;
    TlsVersion maximum = TlsVersion::Tls13;
    /// The protocols for ALPN, the preferred one first: "h2", "http/1.1". Empty: no ALPN.
    std::vector<std::string> protocols = {};
    /// The seconds after which a handshake fails with connection_timed_out.
    Seconds handshakeTimeout = 10;
    /// The time at which certificates must be valid, in seconds since 1970. If absent, the time of the handshake.
    std::optional<std::int64_t> validAt = {};
};

struct TlsClientOptions : TlsOptions {
    /// The trusted authorities, as PEM. If empty, the authorities of the system are trusted.
    std::string authorities = {};
    /// The identity of this client, for servers that request a certificate.
    std::optional<TlsIdentity> identity = {};
    /// False: the server's certificate is not checked, so an attacker can pose as the server.
    bool verify = true;
};

struct TlsServerOptions : TlsOptions {
    /// The identities of the server, at least one. The client gets the first identity for the name that it requests
    /// (SNI), or identities[0] if no identity is for that name or no name is requested.
    std::vector<TlsIdentity> identities = {};
    /// The authorities for clients, as PEM. If not empty, each client must show a certificate signed by one of them.
    std::string clientAuthorities = {};
    /// The 80 secret bytes that encrypt the tickets with which clients resume sessions; empty: random bytes. Contexts
    /// with the same key accept each other's tickets, without checking the client's certificate again.
    std::string ticketKey = {};
    /// The number of tickets for a client, sent with the first written bytes. If 0, sessions are not resumed.
    std::size_t tickets = 2;
};

/// OpenSSL's flags to check a name against a certificate. The common name does not count (RFC 9525).
extern unsigned const kNameFlags;
/// Returns the name without a last dot: "example.org." means "example.org", and names in TLS have no last dot.
inline std::string_view withoutLastDot(std::string_view name) {
    return name.substr(0, name.size() - name.ends_with('.'));
}

class TlsContext : public ReferenceCounted<TlsContext>, NonCopyable {
public:
    static Reference<TlsContext> client(TlsClientOptions const& options = {});
    static Reference<TlsContext> server(TlsServerOptions const& options);
    ~TlsContext();

    bool isServer() const { return isServer_; }
    /// True if the other side must prove its identity.
    bool verifies() const { return verifies_; }
    double handshakeTimeout() const { return handshakeTimeout_; }
    /// Returns OpenSSL's SSL_CTX, for settings that the options do not have, such as SSL_CTX_set_ciphersuites(). Change
    /// it before the first connection uses the context. Do not replace its callbacks for certificates, server names,
    /// protocols and sessions: this class needs them.
    ssl_ctx_st* nativeHandle() { return context_; }

    /// The most servers for which a client keeps a session. A further server replaces another one.
    static constexpr std::size_t kSessions = 1000;

private:
    friend class TlsConnection;
    struct Identity;
    struct Callbacks;

    TlsContext(TlsOptions const& options, bool isServer, bool verifies);
    void trust(std::string const& pem);
    void setProtocols(std::vector<std::string> const& names);
    void identify(TlsIdentity const& identity);

    /// Returns a session to resume, which then belongs to the caller; null if there is none.
    ssl_session_st* takeSession(std::string const& server);
    /// Takes ownership of `session`, and keeps it for later connections to `server`.
    void keepSession(std::string const& server, ssl_session_st* session);

    ssl_ctx_st* context_ = nullptr;
    std::vector<std::unique_ptr<Identity>> identities_;
    std::string protocols_; // each protocol follows one byte with its length
    std::map<std::string, ssl_session_st*> sessions_;
    double handshakeTimeout_;
    std::size_t tickets_ = 0; // only at a server
    bool isServer_, verifies_;
};

} // namespace flow::net
