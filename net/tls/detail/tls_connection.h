#pragma once
// TlsConnection: an encrypted Connection to an authenticated peer. It owns another Connection, real or simulated: the
// carrier, which transports the encrypted bytes.
//
//     auto context = TlsContext::client();
//     Reference<TlsConnection> connection = co_await tlsConnect(address, "example.org", context);
//     co_await connection->write("GET / HTTP/1.0\r\n\r\n"_sr);
//     Bytes answer = co_await connection->read();
//
//     Reference<TlsConnection> client = co_await tlsServer(co_await listener->accept(), context);   // see TlsListener
//
// All rules of net/connection.h hold here too. In addition:
//
// The end. shutdownWrite(), close() and the destruction of the last Reference send close_notify. If the other side ends
// without close_notify, an attacker may have cut the connection. Then reads fail with connection_cut_off after all
// received bytes, and writing can go on.
//
// Session tickets. A server of this library sends tickets with the first bytes that it writes; other servers send them
// earlier. If a client closes before it has read the tickets, these unread bytes reset the connection, and the client's
// last bytes may be lost. So a client should read to the end first. Late tickets have a cost: a client of another
// library without TCP_NODELAY sends its first bytes only when its handshake is acknowledged, after some 40 ms on Linux.
//
// Errors are those of net/tls/detail/tls_error.h. After an error the connection is closed; see why().
//
// Reading. OpenSSL reads from the carrier and makes no system calls. A record has at most 16 KiB, and is decrypted when
// it is read. Unread bytes stay in the carrier, so its backpressure works.
//
// Writing. write() encrypts immediately. queuedBytes() and the water marks count the encrypted unsent bytes.

#include "flow/core/future.h"
#include "net/tls/tls_context.h"
#include "net/transport.h"

#include <string>
#include <vector>

struct bio_st;

namespace flow::net {

class TlsConnection;

/// Does the client's side of a handshake over an existing connection. The server's certificate must have `name` as a
/// subjectAltName. `name` may be the text of an IP address, and may be empty only if the context does not verify; a dot
/// at the end of `name` is ignored. Fails with invalid_option_value if no certificate can have the name, and with the
/// errors of tls_error.h; what() returns the reason. Cancel-safe: the connection is closed.
Future<Reference<TlsConnection>> tlsClient(Reference<Connection> carrier, Reference<TlsContext> context,
                                           std::string name,
                                           std::source_location caller = std::source_location::current());
/// Does the server's side of a handshake over an existing connection.
Future<Reference<TlsConnection>> tlsServer(Reference<Connection> carrier, Reference<TlsContext> context,
                                           std::source_location caller = std::source_location::current());
/// Connects, and then calls tlsClient().
Future<Reference<TlsConnection>> tlsConnect(Address to, std::string name, Reference<TlsContext> context,
                                            ConnectOptions options = {});

class TlsConnection final : public Connection {
public:
    ~TlsConnection() override;

    static TlsConnection* of(Connection& connection) { return dynamic_cast<TlsConnection*>(&connection); }

    /// Returns the version of the protocol, such as "TLSv1.3".
    std::string version() const;
    std::string cipher() const;
    /// Returns the negotiated protocol (ALPN); "" if there is none.
    std::string protocol() const;
    /// Returns the name that the client has requested (SNI); "" if there is none.
    std::string serverName() const;
    /// Returns the subject of the other side's certificate, as in "CN=example.org,O=Example"; "" if there is none.
    std::string peerSubject() const;
    bool wasResumed() const;
    /// Returns the reason of the failure, as a sentence without a full stop; "" if the connection has not failed.
    std::string const& why() const { return why_; }

    Drain flushed() override;
    void shutdownWrite() override;
    void close() override;
    void abort() override;
    Address localAddress() const override { return carrier_->localAddress(); }
    Address peerAddress() const override { return carrier_->peerAddress(); }
    SocketCounters counters() const override { return carrier_->counters(); }
    std::optional<PeerCredentials> peerCredentials() const override { return carrier_->peerCredentials(); }
    int nativeDescriptor() const override { return carrier_->nativeDescriptor(); }

private:
    friend class TlsContext;
    struct Carrier; // the functions that OpenSSL calls
    friend Future<Reference<TlsConnection>> tlsClient(Reference<Connection>, Reference<TlsContext>, std::string,
                                                      std::source_location);
    friend Future<Reference<TlsConnection>> tlsServer(Reference<Connection>, Reference<TlsContext>,
                                                      std::source_location);

    TlsConnection(Reference<Connection> carrier, Reference<TlsContext> context);
    void setServerName(std::string given);
    /// Continues the handshake as far as possible. Returns true if the handshake is done. Throws the handshake's error.
    bool advance();
    static Future<Reference<TlsConnection>> finishHandshake(Reference<TlsConnection> connection);
    /// Handles a failed call of OpenSSL: does nothing if OpenSSL only needs more bytes, otherwise sets the error.
    void noteFailure(int result);
    void noteCut();
    /// Sets error_ and closes the carrier. Wakes no readers, because a reader may be the caller.
    void failWith(Error error, std::string why);

    /// Calls `read`, which is SSL_read or SSL_peek. Returns 0 if there is nothing now, or if ended_ or error_ was set.
    std::size_t decrypt(int (*read)(ssl_st*, void*, int), std::span<std::uint8_t> to) noexcept;
    bool fill(std::size_t wanted) noexcept override;
    std::size_t fillInto(Buffers to, std::size_t size, bool& isSomething) noexcept override;
    bool hasBytes(std::size_t size) noexcept override;
    bool mayFill() noexcept override { return hasBytes(1); }
    void beforeReaderParks() override {
        if (!hasManyAnswers())
            waitForCarrier();
    }
    void waitForCarrier();
    void send(std::span<Bytes> pieces) override;
    void encrypt(StringRef bytes);
    void encryptTogether(std::span<Bytes> pieces); // small pieces share a record
    void sendRecords();
    void noteQueue();
    /// True if many answers (records that OpenSSL makes while it reads) are not sent yet. Then nothing more is read.
    bool hasManyAnswers() const { return answerBytes_ > kMostAnswers; }
    void endWriting();

    Reference<Connection> carrier_;
    Reference<TlsContext> context_;
    ssl_st* ssl_ = nullptr;
    std::vector<Bytes> records_; // records of OpenSSL that are not yet passed to the carrier
    std::string sessionName_;    // the server name under which the context keeps a client's session
    std::string peerName_;       // the name of the other side in error messages
    std::string why_;
    static constexpr std::size_t kMostAnswers = kHighWater;
    std::size_t answerBytes_ = 0; // bytes of answers in the queue
    std::size_t answersEnd_ = 0;  // bytes of the queue up to the end of the last answer
    bool isReading_ = false;      // true inside decrypt()
    Error carrierError_;          // an error of the carrier inside a call of OpenSSL
    HandlerSlot readable_, drained_;
    std::size_t ticketsLeft_ = 0; // the tickets that a server sends with the next write
    bool carrierEnded_ = false;
    bool isOpen_ = false; // the handshake is done
    bool isClosed_ = false;
};

} // namespace flow::net
