// OpenSSL works between two connections: the user reads and writes plain bytes at the TlsConnection, and the carrier
// transports encrypted records. The BIO (struct Carrier) reads from the carrier without waiting, and collects new
// records in records_. sendRecords() writes these records to the carrier.
//
// The handshake: finishHandshake() calls advance() and waits for the carrier, in turn, until the handshake is done or
// takes too long. Reading: fill() decrypts one record; without a whole record, waitForCarrier() wakes the readers
// later. Writing: send() encrypts immediately; noteQueue() counts bytes that have left the carrier's queue as sent.
//
// After an error, failWith() drops received bytes: otherwise the kernel would reset the connection before the other
// side has the alert. Then failWith() closes the carrier. noteCut() handles an end without close_notify.

#include "net/tls/detail/tls_connection.h"

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/detail/connection_events.h"
#include "net/tls/detail/certificate_text.h"

#include <algorithm>
#include <cstring>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace flow::net {
namespace {

constexpr std::size_t kRecord = 16 * 1024;
constexpr int kChunk = 64 * 1024;
/// The most bytes that failWith() reads and drops.
constexpr std::size_t kDropped = 256 * 1024;

/// True if a client may request this name. Names with a dot at the beginning are refused: they mean all subdomains.
bool isHostName(std::string_view name) {
    auto isBlank = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7F; };
    return !name.empty() && !name.starts_with('.') && !name.ends_with('.') &&
           name.find("..") == std::string_view::npos && std::none_of(name.begin(), name.end(), isBlank);
}

bool isIp(std::string const& name) {
    ASN1_OCTET_STRING* ip = a2i_IPADDRESS(name.c_str());
    ASN1_OCTET_STRING_free(ip);
    ERR_clear_error();
    return ip != nullptr;
}

} // namespace

/// The BIO: it reads from the carrier, and writes into records_. Its functions must not throw into OpenSSL.
struct TlsConnection::Carrier {
    static int read(BIO* bio, char* to, int size) {
        auto* self = static_cast<TlsConnection*>(BIO_get_data(bio));
        BIO_clear_retry_flags(bio);
        if (size <= 0)
            return 0;
        if (self->hasManyAnswers()) {
            BIO_set_retry_read(bio);
            return -1;
        }
        auto count = self->carrier_->tryReadSome(std::span(to, static_cast<std::size_t>(size)));
        if (count && *count != 0)
            return static_cast<int>(*count);
        Error failure = count ? self->carrier_->failure() : Error();
        self->carrierEnded_ = failure == end_of_stream();
        if (failure.isValid() && !self->carrierEnded_) {
            self->carrierError_ = failure;
            return -1;
        }
        // Asks for a retry even at the end of the carrier, because OpenSSL writes nothing more once it sees the end.
        BIO_set_retry_read(bio);
        return -1;
    }

    static int write(BIO* bio, char const* from, int size) {
        auto* self = static_cast<TlsConnection*>(BIO_get_data(bio));
        BIO_clear_retry_flags(bio);
        if (size <= 0)
            return 0;
        try {
            Bytes bytes = makeString(size);
            std::memcpy(mutateString(bytes), from, static_cast<std::size_t>(size));
            self->records_.push_back(std::move(bytes));
            if (self->isReading_)
                self->answerBytes_ += static_cast<std::size_t>(size);
            return size;
        } catch (...) {
            self->carrierError_ = currentError();
            return -1;
        }
    }

    static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH; }

    static BIO* make(TlsConnection& self) {
        static BIO_METHOD* const method = [] {
            BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "flow::net::Connection");
            if (!made)
                throw std::bad_alloc();
            BIO_meth_set_read(made, read);
            BIO_meth_set_write(made, write);
            BIO_meth_set_ctrl(made, control);
            return made;
        }();
        BIO* bio = BIO_new(method);
        if (!bio)
            throw std::bad_alloc();
        BIO_set_data(bio, &self);
        BIO_set_init(bio, 1);
        return bio;
    }
};

// -------------------------------------------------------------------------------------------------------------------
// The handshake

TlsConnection::TlsConnection(Reference<Connection> carrier, Reference<TlsContext> context)
    : carrier_(std::move(carrier)), context_(std::move(context)) {
    ssl_ = SSL_new(context_->context_);
    if (!ssl_)
        throw std::bad_alloc();
    try {
        BIO* bio = Carrier::make(*this);
        SSL_set_bio(ssl_, bio, bio);
    } catch (...) {
        SSL_free(ssl_);
        throw;
    }
    SSL_set_app_data(ssl_, this);
    peerName_ = carrier_->peerAddress().toString();
    context_->isServer() ? SSL_set_accept_state(ssl_) : SSL_set_connect_state(ssl_);
}

TlsConnection::~TlsConnection() {
    TlsConnection::close();
    if (!hasLoop())
        abandonWaiters();
    SSL_free(ssl_);
}

void TlsConnection::setServerName(std::string given) {
    std::string name(withoutLastDot(given));
    bool isTaken = given.empty() || isHostName(name);
    bool isAddress = isTaken && isIp(name);
    if (isTaken && !name.empty() && !isAddress)
        isTaken = SSL_set_tlsext_host_name(ssl_, name.c_str()) == 1;
    if (context_->verifies()) {
        X509_VERIFY_PARAM* wanted = SSL_get0_param(ssl_);
        X509_VERIFY_PARAM_set_hostflags(wanted, kNameFlags);
        isTaken = isTaken && !name.empty() &&
                  (isAddress ? X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str()) == 1
                             : X509_VERIFY_PARAM_set1_host(wanted, name.data(), name.size()) == 1);
    }
    ERR_clear_error();
    if (!isTaken)
        throw noteTlsError(invalid_option_value(), "a certificate cannot have this name: '" + given + "'");
    if (!name.empty())
        peerName_ = name;
    Address at = carrier_->peerAddress();
    sessionName_ = name + ":" + (at.isUnix() ? at.toString() : std::to_string(at.port()));
    if (SSL_SESSION* session = context_->takeSession(sessionName_)) {
        SSL_set_session(ssl_, session);
        SSL_SESSION_free(session);
    }
}

bool TlsConnection::advance() {
    ERR_clear_error();
    int result = SSL_do_handshake(ssl_);
    if (result == 1) {
        isOpen_ = true;
        traceConnection("TlsHandshake", carrier_->peerAddress());
        ticketsLeft_ = wasResumed() ? std::min<std::size_t>(context_->tickets_, 1) : context_->tickets_;
    } else {
        noteFailure(result);
    }
    sendRecords();
    if (error_.isValid())
        throw error_;
    return isOpen_;
}

Future<Reference<TlsConnection>> TlsConnection::finishHandshake(Reference<TlsConnection> connection) {
    Future<Void> deadline = delay(connection->context_->handshakeTimeout());
    while (!connection->advance()) {
        auto first = co_await race(connection->carrier_->readable(), deadline);
        if (first.index() == 1) {
            connection->failWith(connection_timed_out(), "the handshake took too long (" + connection->peerName_ + ")");
            throw connection->error_;
        }
    }
    co_return connection;
}

Future<Reference<TlsConnection>> tlsClient(Reference<Connection> carrier, Reference<TlsContext> context,
                                           std::string name, std::source_location caller) {
    FLOW_ASSERT_AT(caller, !context->isServer(), "tlsClient() with the context of a server");
    Reference<TlsConnection> connection(new TlsConnection(std::move(carrier), std::move(context)));
    connection->setServerName(name);
    co_return co_await TlsConnection::finishHandshake(std::move(connection));
}

Future<Reference<TlsConnection>> tlsServer(Reference<Connection> carrier, Reference<TlsContext> context,
                                           std::source_location caller) {
    FLOW_ASSERT_AT(caller, context->isServer(), "tlsServer() with the context of a client");
    Reference<TlsConnection> connection(new TlsConnection(std::move(carrier), std::move(context)));
    co_return co_await TlsConnection::finishHandshake(std::move(connection));
}

Future<Reference<TlsConnection>> tlsConnect(Address to, std::string name, Reference<TlsContext> context,
                                            ConnectOptions options) {
    Reference<Connection> carrier = co_await transport().connect(to, options);
    co_return co_await tlsClient(std::move(carrier), std::move(context), std::move(name));
}

// -------------------------------------------------------------------------------------------------------------------
// Reading and writing

void TlsConnection::noteFailure(int result) {
    if (error_.isValid())
        return;
    int kind = SSL_get_error(ssl_, result);
    if (carrierError_.isValid())
        return failWith(carrierError_, std::string());
    if (kind == SSL_ERROR_WANT_READ)
        return carrierEnded_ ? noteCut() : void();
    Error error = takeTlsError(ssl_, peerName_);
    std::string why = lastTlsError();
    sendRecords(); // sends the alert
    if (!error_.isValid())
        failWith(error, std::move(why));
}

/// Notes that the carrier has ended without close_notify. Received bytes can still be read, and writing goes on, since
/// the other side may have ended only its writing.
void TlsConnection::noteCut() {
    std::string why = "the other side has ended the connection without saying so";
    if (!isOpen_)
        return failWith(connection_cut_off(), std::move(why));
    why_ = std::move(why);
    cut_ = noteTlsError(connection_cut_off(), why_);
    ended_ = true;
}

void TlsConnection::failWith(Error error, std::string why) {
    why_ = why.empty() ? error.what() : std::move(why);
    error_ = noteTlsError(error, why_);
    traceConnection(isOpen_ ? "ConnectionEnded" : "TlsHandshakeFailed", carrier_->peerAddress(), error_, why_);
    received_.clear();
    readable_.cancel();
    drained_.cancel();
    wakeDrains();
    std::uint8_t nobodys[kRecord];
    TurnBudget::Saved atOnce(TurnBudget::kNoLimit);
    for (std::size_t dropped = 0; dropped < kDropped;) {
        std::size_t count = carrier_->tryReadSome(nobodys).value_or(0);
        if (count == 0)
            break;
        dropped += count;
    }
    carrier_->close();
}

std::size_t TlsConnection::decrypt(int (*read)(ssl_st*, void*, int), std::span<std::uint8_t> to) noexcept {
    ERR_clear_error();
    isReading_ = true;
    int count = read(ssl_, to.data(), static_cast<int>(std::min<std::size_t>(to.size(), kLargestRead)));
    try {
        if (count <= 0 && SSL_get_error(ssl_, count) == SSL_ERROR_ZERO_RETURN)
            ended_ = true;
        else if (count <= 0)
            noteFailure(count);
        sendRecords(); // for example the answer to a change of keys
        if (count <= 0 && isReadWaitedFor() && !ended_ && !error_.isValid() && !hasManyAnswers())
            waitForCarrier(); // only a part of a record has come
    } catch (...) {           // no memory
        failWith(currentError(), std::string());
    }
    isReading_ = false;
    return error_.isValid() ? 0 : static_cast<std::size_t>(std::max(count, 0));
}

bool TlsConnection::fill(std::size_t) noexcept {
    std::uint8_t record[kRecord];
    std::size_t count = decrypt(SSL_read, record);
    try {
        received_.append(record, count);
    } catch (...) { // no memory
        failWith(currentError(), std::string());
    }
    return count != 0 || ended_ || error_.isValid();
}

/// Decrypts at most one record.
std::size_t TlsConnection::fillInto(Buffers to, std::size_t, bool& isSomething) noexcept {
    std::size_t total = 0;
    for (std::span<std::uint8_t> each : to)
        if (!each.empty() && (total == 0 || SSL_pending(ssl_) > 0))
            total += decrypt(SSL_read, each);
    isSomething = total != 0 || ended_ || error_.isValid();
    return total;
}

/// Decrypts a record, if there is one. OpenSSL keeps the bytes for the next read.
bool TlsConnection::hasBytes(std::size_t) noexcept {
    std::uint8_t first;
    return SSL_pending(ssl_) > 0 || decrypt(SSL_peek, {&first, 1}) != 0 || ended_ || error_.isValid();
}

void TlsConnection::waitForCarrier() {
    if (!readable_.isWaiting())
        call(carrier_->readable(), readable_, [this](Error) { readersMayTry(); });
}

void TlsConnection::send(std::span<Bytes> pieces) {
    if (pieces.size() == 1)
        encrypt(pieces[0]);
    else
        encryptTogether(pieces);
    if (error_.isValid())
        readersMayTry();
}

void TlsConnection::encryptTogether(std::span<Bytes> pieces) {
    std::uint8_t together[kRecord];
    int filled = 0;
    auto encryptFilled = [&] { encrypt(StringRef(together, std::exchange(filled, 0))); };
    for (Bytes const& each : pieces) {
        if (filled + each.size() > static_cast<int>(kRecord))
            encryptFilled();
        if (each.size() >= static_cast<int>(kRecord)) {
            encrypt(each);
        } else if (!each.empty()) {
            std::memcpy(together + filled, each.begin(), static_cast<std::size_t>(each.size()));
            filled += each.size();
        }
    }
    encryptFilled();
}

void TlsConnection::encrypt(StringRef bytes) {
    for (int done = 0; done < bytes.size() && !error_.isValid();) {
        int size = std::min(bytes.size() - done, kChunk);
        for (; ticketsLeft_ > 0; --ticketsLeft_) // tickets of TLS 1.3 are sent before the bytes
            SSL_new_session_ticket(ssl_);
        ERR_clear_error();
        int result = SSL_write(ssl_, bytes.begin() + done, size);
        if (result != size)
            return noteFailure(result);
        sendRecords();
        done += size;
    }
}

void TlsConnection::sendRecords() {
    if (writeEnded_ || error_.isValid()) // nothing may follow the end
        records_.clear();
    if (records_.empty())
        return;
    std::size_t bytes = 0;
    for (Bytes const& each : records_)
        bytes += static_cast<std::size_t>(each.size());
    Drain sent = carrier_->write(records_);
    records_.clear();
    if (sent.error.isValid())
        return failWith(sent.error, std::string());
    noteWritten(bytes);
    if (isReading_)
        answersEnd_ = queuedBytes();
    noteQueue();
}

void TlsConnection::noteQueue() {
    std::size_t queued = carrier_->queuedBytes();
    if (queued < queuedBytes()) {
        std::size_t gone = queuedBytes() - queued;
        noteGone(gone);
        wakeDrains();
        answersEnd_ -= std::min(gone, answersEnd_);
    }
    bool hadMany = hasManyAnswers();
    answerBytes_ = std::min(answerBytes_, answersEnd_);
    if (hadMany && !hasManyAnswers())
        readersMayTry();
    if (queuedBytes() == 0 || drained_.isWaiting())
        return;
    call(carrier_->drainedTo(queuedBytes() > lowWaterMark() ? lowWaterMark() : 0), drained_, [this](Error error) {
        if (!error.isValid())
            return noteQueue();
        failWith(error, std::string());
        readersMayTry();
    });
}

Drain TlsConnection::flushed() {
    return error_.isValid() ? failed(error_) : carrier_->flushed();
}

// -------------------------------------------------------------------------------------------------------------------
// The end

void TlsConnection::endWriting() {
    ERR_clear_error();
    SSL_shutdown(ssl_);
    ERR_clear_error();
    sendRecords();
    writeEnded_ = true;
}

void TlsConnection::shutdownWrite() {
    if (writeEnded_ || error_.isValid())
        return;
    endWriting();
    if (!error_.isValid())
        carrier_->shutdownWrite();
}

void TlsConnection::close() {
    if (std::exchange(isClosed_, true))
        return;
    if (error_.isValid())
        return;
    if (isOpen_ && received_.isEmpty() && !ended_) {
        TurnBudget::Saved atOnce(TurnBudget::kNoLimit);
        fill(kRecord); // unread records without data, such as tickets, must not make the kernel reset the connection
    }
    readable_.cancel();
    if (!isOpen_ || !received_.isEmpty()) {
        carrier_->abort();
    } else {
        if (!writeEnded_)
            endWriting();
        carrier_->close();
    }
    drained_.cancel();
    error_ = Error(); // an error of the calls above is not an error of the connection
    fail(operation_obsolete());
}

void TlsConnection::abort() {
    if (std::exchange(isClosed_, true))
        return;
    readable_.cancel();
    drained_.cancel();
    carrier_->abort();
    fail(operation_obsolete());
}

std::string TlsConnection::version() const {
    return SSL_get_version(ssl_);
}

std::string TlsConnection::cipher() const {
    return SSL_get_cipher_name(ssl_);
}

std::string TlsConnection::protocol() const {
    unsigned char const* name = nullptr;
    unsigned int size = 0;
    SSL_get0_alpn_selected(ssl_, &name, &size);
    return size == 0 ? std::string() : std::string(reinterpret_cast<char const*>(name), size);
}

std::string TlsConnection::serverName() const {
    char const* name = SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name);
    return std::string(withoutLastDot(name ? name : ""));
}

std::string TlsConnection::peerSubject() const {
    X509* certificate = SSL_get0_peer_certificate(ssl_);
    return certificate ? textOfName(X509_get_subject_name(certificate)) : std::string();
}

bool TlsConnection::wasResumed() const {
    return SSL_session_reused(ssl_) == 1;
}

} // namespace flow::net
