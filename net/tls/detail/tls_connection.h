#pragma once
// TlsConnection: an encrypted Connection to an authenticated peer. It owns another Connection, real or simulated, which
// carries its bytes.
//
//     auto context = TlsContext::client();
//     Reference<TlsConnection> connection = co_await tlsConnect(address, "example.org", context);
//     co_await connection->write("GET / HTTP/1.0\r\n\r\n"_sr);
//     Bytes answer = co_await connection->read();
//
//     Reference<TlsConnection> client = co_await tlsServer(co_await listener->accept(), context);   // see TlsListener
//
// All that net/connection.h says holds, and besides:
//
// The end. shutdownWrite(), close() and the destruction of the last Reference send close_notify. If the other side ends
// without close_notify, an attacker may have cut the connection: after all received bytes, reads fail with
// connection_cut_off; writing goes on.
//
// A server sends its tickets with the first bytes that it writes. Other servers send them at once. If a client closes
// before the tickets come, they reset the connection, as any unread bytes do, and the last bytes of the client may be
// lost: it should read to the end first. Late tickets have a cost: a client of another library without TCP_NODELAY
// sends its first bytes only when its part of the handshake is acknowledged, which takes some 40 ms on Linux.
//
// Errors are those of net/tls/detail/tls_error.h. After an error the connection is closed, and why() describes it.
//
// Reading. OpenSSL gets its bytes from the carrier and makes no system calls. A record has at most 16 KiB, and is
// decrypted when it is read: unread bytes stay in the carrier, so its backpressure works.
//
// Writing. write() encrypts at once. queuedBytes() and the water marks count encrypted bytes, here and in the carrier.

#include "flow/core/future.h"
#include "net/tls/tls_context.h"
#include "net/transport.h"

#include <string>
#include <vector>

struct bio_st;

namespace flow::net {

class TlsConnection;

/// The client's side of a handshake over an existing connection. `name`: the name that the server's certificate must
/// have as a subjectAltName; the text of an IP address counts as one, and a dot at the end is left out. Only a context
/// that does not verify accepts an empty one. Fails with invalid_option_value if a certificate cannot have the name,
/// and with the errors of tls_error.h; lastTlsError() says why. Cancel-safe: the connection is closed.
Future<Reference<TlsConnection>> tlsClient(Reference<Connection> carrier, Reference<TlsContext> context,
                                           std::string name,
                                           std::source_location caller = std::source_location::current());
/// The server's side.
Future<Reference<TlsConnection>> tlsServer(Reference<Connection> carrier, Reference<TlsContext> context,
                                           std::source_location caller = std::source_location::current());
/// Connects, and then does as tlsClient().
Future<Reference<TlsConnection>> tlsConnect(Address to, std::string name, Reference<TlsContext> context,
                                            ConnectOptions options = {});

class TlsConnection final : public Connection {
public:
    ~TlsConnection() override;

    /// The TlsConnection that this is; null if it is another kind.
    static TlsConnection* of(Connection& connection) { return dynamic_cast<TlsConnection*>(&connection); }

    /// "TLSv1.3"
    std::string version() const;
    std::string cipher() const;
    /// The negotiated protocol (ALPN); "" if there is none.
    std::string protocol() const;
    /// The name that the client has requested (SNI); "" if none.
    std::string serverName() const;
    /// The subject of the other side's certificate, as in "CN=example.org,O=Example"; "" if it has shown none.
    std::string peerSubject() const;
    /// True if an earlier session was resumed.
    bool wasResumed() const;
    /// The reason of the failure, as a sentence without a full stop; "" if it has not failed.
    std::string const& why() const { return why_; }

    Drain flushed() override;
    void shutdownWrite() override;
    void close() override;
    void abort() override;
    Address localAddress() const override { return carrier_->localAddress(); }
    Address peerAddress() const override { return carrier_->peerAddress(); }
    SocketCounters counters() const override { return carrier_->counters(); }

private:
    friend class TlsContext;
    struct Carrier; // the functions that OpenSSL calls
    friend Future<Reference<TlsConnection>> tlsClient(Reference<Connection>, Reference<TlsContext>, std::string,
                                                      std::source_location);
    friend Future<Reference<TlsConnection>> tlsServer(Reference<Connection>, Reference<TlsContext>,
                                                      std::source_location);

    TlsConnection(Reference<Connection> carrier, Reference<TlsContext> context);
    void setServerName(std::string given);
    /// Continues the handshake as far as possible. Returns whether it is done; throws its error.
    bool advance();
    static Future<Reference<TlsConnection>> finishHandshake(Reference<TlsConnection> connection);
    /// Handles the result of a call of OpenSSL: does nothing if it waits for more bytes, else sets the error.
    void noteFailure(int result);
    void noteCut();
    /// Sets error_ and closes the carrier. Readers are not woken: a reader may have found it.
    void failWith(Error error, std::string why);

    /// Calls SSL_read or SSL_peek. 0: there is nothing now, or this has set ended_ or error_.
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
    void encryptTogether(std::span<Bytes> pieces); // small ones share a record
    void sendRecords();
    void noteQueue();
    /// True if many answers of OpenSSL wait, for a side that asks and does not read: nothing is read from it then.
    bool hasManyAnswers() const { return answerBytes_ > kMostAnswers; }
    void endWriting();

    Reference<Connection> carrier_;
    Reference<TlsContext> context_;
    ssl_st* ssl_ = nullptr;
    std::vector<Bytes> records_; // made by OpenSSL and not yet passed to the carrier
    std::string sessionName_;    // under which the context keeps a client's session
    std::string peerName_;       // for messages
    std::string why_;
    static constexpr std::size_t kMostAnswers = kHighWater;
    std::size_t answerBytes_ = 0; // of the records that OpenSSL has made while it read, and that are queued
    std::size_t answersEnd_ = 0;  // bytes of the queue up to the end of the last of them
    bool isReading_ = false;      // in decrypt()
    Error carrierError_;          // inside a call of OpenSSL
    HandlerSlot readable_, drained_;
    std::size_t ticketsLeft_ = 0; // that a server gives with the next write
    bool carrierEnded_ = false;
    bool isOpen_ = false; // the handshake is done
    bool isClosed_ = false;
};

} // namespace flow::net
