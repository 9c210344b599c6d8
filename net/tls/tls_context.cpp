// The constructor of TlsContext makes an SSL_CTX and sets the options that clients and servers share: versions,
// protocols, memory, verification. client() adds authorities, the identity and a cache of sessions by the name of the
// server. server() adds the authorities for clients, the key of tickets, and the identities; chooseIdentity() picks the
// identity for the requested name. Certificates and keys are checked here: a wrong file fails here and not in each
// handshake.

#include "net/tls/tls_context.h"

#include "flow/base/format.h"
#include "net/tls/detail/tls_connection.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace flow::net {
namespace {

constexpr char kBegin[] = "-----BEGIN ";

template <auto Free>
struct Freer {
    template <class T>
    void operator()(T* object) const {
        Free(object);
    }
};
using X509Pointer = std::unique_ptr<X509, Freer<X509_free>>;
using BioPointer = std::unique_ptr<BIO, Freer<BIO_free_all>>;

int numberOf(TlsVersion version) {
    return version == TlsVersion::Tls13 ? TLS1_3_VERSION : TLS1_2_VERSION;
}

Error wrong(char const* options, char const* option, std::string const& value, char const* rule) {
    Error error = wrongOption(options, option, value, rule);
    return noteTlsError(error, error.what());
}

/// Returns the name of a PEM for error messages.
std::string nameOf(std::string const& pem) {
    return pem.find(kBegin) == std::string::npos ? pem : "PEM in memory";
}

std::string textOf(std::string const& pem) {
    if (pem.find(kBegin) != std::string::npos)
        return pem;
    std::string text;
    errno = 0;
    std::FILE* file = std::fopen(pem.c_str(), "rb");
    if (file) {
        char piece[4096];
        while (std::size_t count = std::fread(piece, 1, sizeof piece, file))
            text.append(piece, count);
    }
    int number = !file || std::ferror(file) ? errno : 0;
    if (file)
        std::fclose(file);
    if (number != 0)
        throw noteTlsError(number == ENOENT ? file_not_found() : file_not_readable(),
                           pem + ": " + std::strerror(number));
    return text;
}

BioPointer memoryOf(std::string const& text) {
    BIO* memory = BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
    if (!memory)
        throw std::bad_alloc();
    return BioPointer(memory);
}

/// Returns all certificates of a PEM. Throws if there is none.
std::vector<X509Pointer> certificatesOf(std::string const& pem) {
    std::string text = textOf(pem);
    BioPointer memory = memoryOf(text);
    std::vector<X509Pointer> all;
    ERR_clear_error();
    while (X509* next = PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr))
        all.emplace_back(next);
    bool isEnd = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    if (!isEnd)
        throw takeTlsError(nullptr, nameOf(pem));
    ERR_clear_error();
    if (all.empty())
        throw noteTlsError(tls_error(), "no certificate (" + nameOf(pem) + ")");
    return all;
}

/// Refuses a key with a password, because no user is there to enter it.
int noPassword(char*, int, int, void*) {
    return -1;
}

} // namespace

unsigned const kNameFlags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;

struct TlsContext::Identity {
    std::vector<X509Pointer> chain; // the certificate of this identity is the first
    EVP_PKEY* key = nullptr;

    explicit Identity(TlsIdentity const& given) : chain(certificatesOf(given.certificate)) {
        std::string text = textOf(given.key);
        BioPointer memory = memoryOf(text);
        ERR_clear_error();
        key = PEM_read_bio_PrivateKey(memory.get(), nullptr, noPassword, nullptr);
        OPENSSL_cleanse(text.data(), text.size());
        if (!key)
            throw takeTlsError(nullptr, nameOf(given.key));
        if (X509_check_private_key(chain[0].get(), key) != 1) {
            EVP_PKEY_free(key);
            ERR_clear_error();
            throw noteTlsError(tls_error(), "the key does not belong to the certificate (" + nameOf(given.key) + ", " +
                                                nameOf(given.certificate) + ")");
        }
    }
    Identity(Identity const&) = delete;
    Identity& operator=(Identity const&) = delete;
    ~Identity() { EVP_PKEY_free(key); }

    bool isFor(std::string_view name) const {
        return !name.empty() && !name.starts_with('.') && // ".name" would match all subdomains
               X509_check_host(chain[0].get(), name.data(), name.size(), kNameFlags, nullptr) == 1;
    }
    bool putInto(SSL* ssl) const {
        if (SSL_use_certificate(ssl, chain[0].get()) != 1 || SSL_use_PrivateKey(ssl, key) != 1)
            return false;
        SSL_clear_chain_certs(ssl);
        for (std::size_t i = 1; i < chain.size(); ++i)
            if (SSL_add1_chain_cert(ssl, chain[i].get()) != 1)
                return false;
        return true;
    }
};

struct TlsContext::Callbacks {
    static int chooseIdentity(SSL* ssl, void* self) {
        auto const& all = static_cast<TlsContext*>(self)->identities_;
        Identity const* chosen = all[0].get();
        if (char const* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name)) {
            for (auto const& each : all)
                if (each->isFor(withoutLastDot(name))) {
                    chosen = each.get();
                    break;
                }
        }
        return chosen->putInto(ssl);
    }

    static int chooseProtocol(SSL*, unsigned char const** chosen, unsigned char* size, unsigned char const* offered,
                              unsigned int offeredSize, void* self) {
        std::string const& own = static_cast<TlsContext*>(self)->protocols_;
        int result = SSL_select_next_proto(const_cast<unsigned char**>(chosen), size,
                                           reinterpret_cast<unsigned char const*>(own.data()),
                                           static_cast<unsigned int>(own.size()), offered, offeredSize);
        return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
    }

    /// Accepts the requested name: then the session, and a session that resumes it, keep the name.
    static int takeName(SSL*, int*, void*) { return SSL_TLSEXT_ERR_OK; }

    static int newSession(SSL* ssl, SSL_SESSION* session) {
        auto* connection = static_cast<TlsConnection*>(SSL_get_app_data(ssl));
        try {
            connection->context_->keepSession(connection->sessionName_, session);
            return 1; // OpenSSL passes the ownership to us
        } catch (std::bad_alloc&) {
            return 0;
        }
    }
};

TlsContext::TlsContext(TlsOptions const& options, bool isServer, bool verifies)
    : handshakeTimeout_(options.handshakeTimeout), isServer_(isServer), verifies_(verifies) {
    // These checks are first: if they threw later, context_ would leak.
    if (options.minimum > options.maximum)
        throw wrong("TlsOptions", "minimum", "TLS 1.3", "it must not be above `maximum`");
    if (!(options.handshakeTimeout > 0))
        throw wrong("TlsOptions", "handshakeTimeout", format("%g", double(options.handshakeTimeout)),
                    "it must be more than 0");
    setProtocols(options.protocols);
    context_ = SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method());
    if (!context_)
        throw std::bad_alloc();
    SSL_CTX_set_min_proto_version(context_, numberOf(options.minimum));
    SSL_CTX_set_max_proto_version(context_, numberOf(options.maximum));
    SSL_CTX_set_options(context_, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    // With this mode an idle connection holds no buffers.
    SSL_CTX_set_mode(context_, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(context_, 1);
    int verify = !verifies ? SSL_VERIFY_NONE : SSL_VERIFY_PEER | (isServer ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0);
    SSL_CTX_set_verify(context_, verify, nullptr);
    if (options.validAt)
        X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(context_), static_cast<time_t>(*options.validAt));
}

TlsContext::~TlsContext() {
    for (auto const& [server, session] : sessions_)
        SSL_SESSION_free(session);
    SSL_CTX_free(context_);
}

Reference<TlsContext> TlsContext::client(TlsClientOptions const& options) {
    Reference<TlsContext> made(new TlsContext(options, false, options.verify));
    SSL_CTX* context = made->context_;
    if (!options.authorities.empty())
        made->trust(options.authorities);
    else if (options.verify && SSL_CTX_set_default_verify_paths(context) != 1)
        throw takeTlsError(nullptr, "the system's authorities");
    if (options.identity) {
        made->identify(*options.identity);
        SSL_CTX_set_cert_cb(context, Callbacks::chooseIdentity, made.getPtr());
    }
    if (!made->protocols_.empty())
        SSL_CTX_set_alpn_protos(context, reinterpret_cast<unsigned char const*>(made->protocols_.data()),
                                static_cast<unsigned int>(made->protocols_.size()));
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, Callbacks::newSession);
    return made;
}

Reference<TlsContext> TlsContext::server(TlsServerOptions const& options) {
    if (options.identities.empty())
        throw wrong("TlsServerOptions", "identities", "empty", "a server needs a certificate");
    Reference<TlsContext> made(new TlsContext(options, true, !options.clientAuthorities.empty()));
    SSL_CTX* context = made->context_;
    for (TlsIdentity const& each : options.identities)
        made->identify(each);
    SSL_CTX_set_cert_cb(context, Callbacks::chooseIdentity, made.getPtr());
    SSL_CTX_set_tlsext_servername_callback(context, Callbacks::takeName);
    if (!options.clientAuthorities.empty())
        made->trust(options.clientAuthorities);
    if (!made->protocols_.empty())
        SSL_CTX_set_alpn_select_cb(context, Callbacks::chooseProtocol, made.getPtr());
    // Clients keep their sessions in tickets, so this side needs no memory for sessions.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    made->tickets_ = options.tickets;
    SSL_CTX_set_num_tickets(context, 0); // tickets of TLS 1.3 are sent later, with the first bytes
    if (options.tickets == 0)
        SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    constexpr unsigned char kWhose[] = "millrace";
    SSL_CTX_set_session_id_context(context, kWhose, sizeof kWhose - 1);
    if (!options.ticketKey.empty()) {
        std::string key = options.ticketKey;
        bool isSet = SSL_CTX_set_tlsext_ticket_keys(context, key.data(), key.size()) == 1;
        OPENSSL_cleanse(key.data(), key.size());
        ERR_clear_error();
        if (!isSet)
            throw wrong("TlsServerOptions", "ticketKey", format("%zu bytes long", key.size()), "it must have 80 bytes");
    }
    return made;
}

void TlsContext::identify(TlsIdentity const& identity) {
    auto own = std::make_unique<Identity>(identity);
    // OpenSSL refuses weak keys only when they are used. Without this trial each handshake would fail.
    std::unique_ptr<SSL, Freer<SSL_free>> trial(SSL_new(context_));
    if (!trial)
        throw std::bad_alloc();
    if (!own->putInto(trial.get()))
        throw takeTlsError(nullptr, nameOf(identity.certificate));
    identities_.push_back(std::move(own));
}

void TlsContext::trust(std::string const& pem) {
    for (X509Pointer const& each : certificatesOf(pem)) {
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context_), each.get());
        if (isServer_)
            SSL_CTX_add_client_CA(context_, each.get());
    }
}

void TlsContext::setProtocols(std::vector<std::string> const& names) {
    for (std::string const& each : names) {
        if (each.empty() || each.size() > 255)
            throw wrong("TlsOptions", "protocols", format("a name of %zu bytes", each.size()),
                        "each name must have 1 to 255 bytes");
        protocols_ += static_cast<char>(each.size());
        protocols_ += each;
    }
}

ssl_session_st* TlsContext::takeSession(std::string const& server) {
    auto found = sessions_.find(server);
    if (found == sessions_.end())
        return nullptr;
    SSL_SESSION* session = found->second;
    if (SSL_SESSION_get_protocol_version(session) < TLS1_3_VERSION) {
        SSL_SESSION_up_ref(session);
        return session;
    }
    sessions_.erase(found); // a ticket that is used twice shows that both connections are of one client
    return session;
}

void TlsContext::keepSession(std::string const& server, ssl_session_st* session) {
    if (sessions_.size() >= kSessions && !sessions_.contains(server)) {
        SSL_SESSION_free(sessions_.begin()->second);
        sessions_.erase(sessions_.begin());
    }
    ssl_session_st*& place = sessions_[server];
    if (place)
        SSL_SESSION_free(place);
    place = session;
}

} // namespace flow::net
