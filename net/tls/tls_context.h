#pragma once
// TlsContext: the shared settings of the TLS connections of a client or of a server: certificates, and trusted
// authorities.
//
//     auto context = TlsContext::client();                                         // trusts the system's authorities
//     auto context = TlsContext::client({.authorities = "ca.pem"});                // trusts these instead
//     auto context = TlsContext::server({.identities = {{"server.pem", "server.key"}}});
//     auto mutual = TlsContext::server({.identities = {{"server.pem", "server.key"}}, .clientAuthorities = "ca.pem"});
//
// Certificates and keys are PEM: either the text itself, which contains "-----BEGIN ", or the name of a file that has
// it. The files are read once, here, with blocking calls. To take certificates that have changed, make another context
// and use it for what comes next: TlsListener::setContext(). Connections keep theirs.
//
// Making one throws file_not_found, file_not_readable, invalid_option_value, or tls_error; lastTlsError() says why.
// Belongs to one thread: each loop has its own.
//
// In a simulation. The bytes on the wire are random in each run, so World::digest() differs, and a fault that changes
// one of them may have another effect. The order of events, their times and the sizes of what is sent depend on the
// seed alone, provided that keys are RSA or Ed25519 (signatures of ECDSA differ in size), that the server gives no
// tickets (so do these), and that no certificate expires between two runs, or validAt is set.

#include "flow/base/non_copyable.h"
#include "flow/memory/reference.h"
#include "net/tls/tls_error.h"

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

/// The own identity.
struct TlsIdentity {
    std::string certificate; // PEM; followed by the chain up to an authority, in order
    std::string key;         // PEM
};

enum class TlsVersion : std::uint8_t { Tls12, Tls13 };

struct TlsOptions {
    TlsVersion minimum = TlsVersion::Tls12;
    TlsVersion maximum = TlsVersion::Tls13;
    /// The protocols for ALPN, the preferred one first: "h2", "http/1.1". Empty: no ALPN.
    std::vector<std::string> protocols = {};
    /// Seconds after which a handshake fails with connection_timed_out.
    double handshakeTimeout = 10;
    /// The time at which certificates must be valid, in seconds since 1970; nothing: the time of the handshake.
    std::optional<std::int64_t> validAt = {};
};

struct TlsClientOptions : TlsOptions {
    /// PEM of the authorities that are trusted; empty: those of the system.
    std::string authorities = {};
    /// The identity for a server that requests one.
    std::optional<TlsIdentity> identity = {};
    /// False: takes any certificate, for any name. Then the other side may be anybody.
    bool verify = true;
};

struct TlsServerOptions : TlsOptions {
    /// At least one. A client that requests a name (SNI) gets the first with a certificate for it, others get the first
    /// of all.
    std::vector<TlsIdentity> identities = {};
    /// PEM. Not empty: each client must show a certificate that one of these has signed.
    std::string clientAuthorities = {};
    /// 80 secret bytes that encrypt the tickets with which clients resume sessions. Contexts that have the same accept
    /// each other's tickets, without a look at the client's certificate. Empty: random ones, of this context alone.
    std::string ticketKey = {};
    /// The number of tickets for a client, sent with the first written bytes; 0: sessions are not resumed.
    std::size_t tickets = 2;
};

/// The flags for the comparison of names with those of a certificate: its common name does not count (RFC 9525).
extern unsigned const kNameFlags;
/// "example.org." is the same name as "example.org"; TLS knows only the latter.
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

    /// The number of servers for which a client keeps a session; beyond it some are removed.
    static constexpr std::size_t kSessions = 1000;

private:
    friend class TlsConnection;
    struct Identity;
    struct Callbacks;

    TlsContext(TlsOptions const& options, bool isServer, bool verifies);
    void trust(std::string const& pem);
    void setProtocols(std::vector<std::string> const& names);
    void identify(TlsIdentity const& identity);

    /// A session to resume, which then belongs to the caller; null if there is none.
    ssl_session_st* takeSession(std::string const& server);
    /// Takes the session.
    void keepSession(std::string const& server, ssl_session_st* session);

    ssl_ctx_st* context_ = nullptr;
    std::vector<std::unique_ptr<Identity>> identities_;
    std::string protocols_; // each with its length before it
    std::map<std::string, ssl_session_st*> sessions_;
    double handshakeTimeout_;
    std::size_t tickets_ = 0; // of a server
    bool isServer_, verifies_;
};

} // namespace flow::net
