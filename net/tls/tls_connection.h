#pragma once
// TlsConnection: a Connection with encrypted bytes, after the other side has shown its identity. Around any other
// Connection, real or simulated, which it owns.
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
// The end. shutdownWrite(), close() and the last Reference say that the end is meant (close_notify). If the other side
// ends without saying so, somebody may have cut the connection: reads that find this end fail with connection_cut_off,
// behind all that has come; writing goes on.
//
// A server sends its tickets with the first bytes that it writes. Servers of others send them at once: a client that
// closes before they have come resets the connection when they do, as with any unread bytes, and what it has written
// last may be lost. It should read to the end first. The price: a client of others that has not set TCP_NODELAY sends
// its first bytes only when the kernel has acknowledged its part of the handshake, which takes some 40 ms on Linux.
//
// Errors are those of net/tls/tls_error.h. After one the connection is closed, and why() says what it was.
//
// Reading. OpenSSL gets the bytes that the carrier has received and calls the machine for nothing. A record is at most
// 16 KiB, and decrypted when somebody reads: what is not read stays with the carrier, as its backpressure wants.
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

/// The client's side of a handshake over a connection that is there already. `name`: of the server, as its certificate
/// must have it; the text of an IP address counts as one. Only a context that does not verify takes an empty one: else
/// invalid_option_value. Fails with what tls_error.h has; lastTlsError() says why. Cancel-safe: the connection is given
/// up.
Future<Reference<TlsConnection>> tlsClient(Reference<Connection> carrier, Reference<TlsContext> context,
                                           std::string name);
/// The server's side.
Future<Reference<TlsConnection>> tlsServer(Reference<Connection> carrier, Reference<TlsContext> context);
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
    /// What both have agreed to speak (ALPN); "" if they have not.
    std::string protocol() const;
    /// The name that the client has asked for (SNI); "" if none.
    std::string serverName() const;
    /// The subject of the other side's certificate, as in "CN=example.org,O=Example"; "" if it has shown none.
    std::string peerSubject() const;
    /// Whether the handshake was short because both remembered an earlier one.
    bool wasResumed() const;
    /// Why it has failed, as a sentence without a full stop; "" if it has not.
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
    struct Carrier; // what OpenSSL calls
    friend Future<Reference<TlsConnection>> tlsClient(Reference<Connection>, Reference<TlsContext>, std::string);
    friend Future<Reference<TlsConnection>> tlsServer(Reference<Connection>, Reference<TlsContext>);

    TlsConnection(Reference<Connection> carrier, Reference<TlsContext> context);
    void setServerName(std::string const& name);
    /// Goes on with the handshake as far as it can. Whether it is done; throws its error.
    bool advance();
    static Future<Reference<TlsConnection>> finishHandshake(Reference<TlsConnection> connection);
    /// What a call of OpenSSL has come to: nothing if it waits for more bytes, else the connection has an error.
    void noteFailure(int result);
    void noteCut();
    /// Sets error_ and closes the carrier. Readers are not woken: a reader may have found it.
    void failWith(Error error, std::string why);

    bool fill(std::size_t wanted) noexcept override;
    void beforeReaderParks() override { waitForCarrier(); }
    void waitForCarrier();
    void send(std::span<Bytes> pieces) override;
    void encrypt(StringRef bytes);
    void encryptTogether(std::span<Bytes> pieces); // small ones share a record
    void sendRecords();
    void noteQueue();
    void endWriting();

    Reference<Connection> carrier_;
    Reference<TlsContext> context_;
    ssl_st* ssl_ = nullptr;
    std::vector<Bytes> records_; // that OpenSSL has made and the carrier has not got
    std::string sessionName_;    // under which the context keeps a client's session
    std::string peerName_;       // for messages
    std::string why_;
    Error carrierError_; // inside a call of OpenSSL
    HandlerSlot readable_, drained_;
    std::size_t ticketsLeft_ = 0; // that a server gives with the next write
    bool carrierEnded_ = false;
    bool isOpen_ = false; // the handshake is done
    bool isClosed_ = false;
};

} // namespace flow::net
