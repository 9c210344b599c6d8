// isReadyFor() fills received_ until a read has enough bytes. Then sizeFor() returns the number of bytes that the read
// takes, or throws. Only the oldest waiting read (readers_.isNext()) may fill received_. ended_ and cut_ record the
// end, and error_ records an error. Bytes before the end are still read; an error discards all bytes.
//
// A turn has a budget of reads and bytes (TurnBudget). When it is spent, a read that needs more bytes stays parked, and
// isPutOff_ is set. A later turn wakes the read, which then fills received_.

#include "net/connection.h"

#include "flow/base/detail/sentence.h"
#include "net/detail/connection_events.h"

#include <algorithm>
#include <cstring>

namespace flow::net {
namespace {

[[gnu::cold]] Error tooLarge(std::uint32_t limit) {
    return value_too_large().withSentence(format("the text that ends the read is not within %u bytes", limit));
}

} // namespace

Error Drainable::named(std::string_view call, Error error) const noexcept {
    if (error == end_of_stream() || error == operation_obsolete() || error == client_invalid_operation())
        return error;
    try {
        std::string peer = peerText();
        bool isNamed = std::string_view(error.what()).find(peer) != std::string_view::npos; // true without a peer
        return isNamed ? error : withPieces(error, {call, " ", peer, ": ", error.what()});
    } catch (std::bad_alloc const&) {
        return error;
    }
}

bool isConnectionError(Error const& error) {
    switch (error.code()) {
    case error_code_connection_failed:
    case error_code_connection_refused:
    case error_code_connection_timed_out:
    case error_code_host_unreachable:
    case error_code_connection_reset:
    case error_code_connection_cut_off:
    case error_code_tls_error:
    case error_code_tls_protocol_error:
    case error_code_tls_certificate_expired:
    case error_code_tls_certificate_untrusted:
    case error_code_tls_wrong_name:
        return true;
    default:
        return false;
    }
}

bool ReadRequest::isReady() {
    return connection->isReadyFor(*this);
}

bool ReadRequest::mayOvertake(ReadRequest& older) const {
    return kind == Kind::Until && older.kind == Kind::Until && !connection->hasFor(older);
}

void ReadRequest::park(WaiterNode& waiter) {
    connection->beforeReaderParks();
    connection->readers_.park(waiter, *this);
    if (connection->isPutOff_)
        connection->readers_.wakeInTurn(TaskPriority::DefaultDelay);
}

void ReadRequest::describe(Description& out) const {
    std::string count = kind == Kind::Exactly ? format("%u bytes", size) : "bytes";
    out.text = count + (kind == Kind::Until ? " up to a text from " : " from ") + connection->peerText();
}

Bytes Read::take() {
    return connection->takeBytes(connection->sizeFor(*this));
}

Bytes ReadUntil::take() {
    return connection->takeBytes(connection->sizeFor(*this));
}

std::size_t ReadInto::take() {
    return Connection::withBuffers(place, size, count, [this](std::span<std::span<std::uint8_t> const> to) {
        if (connection->isDirectFor(*this)) {
            bool isSomething = false;
            if (std::size_t received = connection->receiveInto(to, size, isSomething))
                return received;
            if (!isSomething) // another process with a copy of the descriptor has read the bytes
                connection->fail(connection_failed().withSentence("the bytes that the system reported are not there"));
        }
        std::size_t bytes = connection->sizeFor(*this);
        return bytes == 0 ? 0 : connection->takeInto(to, bytes);
    });
}

Connection::~Connection() {
    cancelHandlers();
    failWaiters();
}

ReadUntil Connection::readUntil(StringRef end, std::uint32_t limit, std::source_location caller) {
    FLOW_ASSERT_AT(caller, !end.empty() && end.size() <= 65535, "readUntil(): the text has 1 to 65535 bytes");
    return {{this, end.begin(), std::min(limit, kLargestRead), static_cast<std::uint16_t>(end.size()),
             ReadRequest::Kind::Until}};
}

ReadInto Connection::into(ReadBuffer to, ReadRequest::Kind kind, std::source_location caller) {
    FLOW_ASSERT_AT(caller, to.size_ != 0, "a read into no memory");
    FLOW_ASSERT_AT(caller, to.several_ <= 65535, "a read into more than 65535 buffers");
    auto size = static_cast<std::uint32_t>(std::min<std::size_t>(to.size_, kLargestRead));
    FLOW_ASSERT_AT(caller, kind == ReadRequest::Kind::Some || size == to.size_,
                   "a read of more than kLargestRead bytes");
    return {{this, to.place_, size, static_cast<std::uint16_t>(to.several_), kind}};
}

Bytes Connection::takeBytes(std::size_t count) {
    if (count == 0)
        return Bytes();
    Bytes bytes = makeString(static_cast<int>(count));
    std::memcpy(mutateString(bytes), received_.data(), count);
    consume(count);
    return bytes;
}

std::size_t Connection::takeInto(Buffers to, std::size_t atMost) {
    std::size_t taken = 0;
    for (std::span<std::uint8_t> each : to) {
        std::size_t count = std::min(atMost - taken, each.size());
        if (count == 0)
            continue; // memcpy() must not get the address of an empty buffer, which may be null
        std::memcpy(each.data(), received_.data() + taken, count);
        taken += count;
    }
    consume(taken);
    return taken;
}

std::size_t Connection::receiveInto(Buffers to, std::size_t size, bool& isSomething) noexcept {
    std::size_t count = fillInto(to, size, isSomething);
    TurnBudget::useBytes(count);
    return count;
}

std::optional<std::size_t> Connection::tryReadSome(ReadBuffer to) noexcept {
    FLOW_ASSERT(to.size_ != 0, "a read into no memory");
    if (error_.isValid())
        return 0;
    if (!TurnBudget::takeOne())
        return {};
    return withBuffers(to.place_, to.size_, to.several_, [&](Buffers buffers) -> std::optional<std::size_t> {
        if (received_.isEmpty() && !ended_) {
            bool isSomething = false;
            if (std::size_t count = receiveInto(buffers, to.size_, isSomething))
                return count;
            if (!isSomething)
                return {};
        }
        return received_.isEmpty() ? 0 : takeInto(buffers, received_.size());
    });
}

std::size_t Connection::tryWrite(std::span<StringRef const> pieces) noexcept {
    if (error_.isValid() || !room().isReady())
        return 0;
    std::size_t total = 0;
    try {
        for (StringRef each : pieces)
            total += static_cast<std::size_t>(each.size());
        Bytes all = makeString(static_cast<int>(total));
        std::uint8_t* to = mutateString(all);
        for (StringRef each : pieces)
            to = each.copyTo(to);
        send(std::span<Bytes>(&all, 1));
    } catch (...) {
        fail(currentError());
    }
    return error_.isValid() ? 0 : total;
}

Drain Connection::write(std::span<Bytes> pieces, std::source_location caller) {
    FLOW_ASSERT_AT(caller, !writeEnded_ || error_.isValid(), "Connection::write() after shutdownWrite()");
    if (error_.isValid())
        return failed(error_);
    for (Bytes const& each : pieces)
        TurnBudget::useBytes(static_cast<std::size_t>(each.size()));
    send(pieces);
    return error_.isValid() ? failed(error_) : room();
}

/// True if the received bytes are enough for the request, or if more bytes cannot change the result of the request.
bool Connection::hasFor(ReadRequest& request) {
    switch (request.kind) {
    case ReadRequest::Kind::Ready:
    case ReadRequest::Kind::Message:
    case ReadRequest::Kind::Some:
        return !received_.isEmpty() || request.size == 0;
    case ReadRequest::Kind::Exactly:
        return received_.size() >= request.size;
    case ReadRequest::Kind::Until: {
        StringRef text = request.text();
        std::uint64_t& searched = static_cast<ReadUntil&>(request).searched;
        std::size_t from = searched > taken_ ? static_cast<std::size_t>(searched - taken_) : 0;
        if (received_.find(text, from) != received_.size() || received_.size() >= request.size)
            return true;
        std::size_t overlap = request.count - 1u;
        searched = taken_ + (received_.size() > overlap ? received_.size() - overlap : 0);
        return false;
    }
    }
    __builtin_unreachable();
}

bool Connection::isReadyFor(ReadRequest& request) {
    if (!readers_.isNext(request))
        return error_.isValid();
    if (request.kind >= ReadRequest::Kind::Ready)
        return error_.isValid() || hasFor(request) || ended_ ||
               (request.kind == ReadRequest::Kind::Ready ? mayFill() : hasBytes(0));
    isPutOff_ = false;
    for (;;) {
        if (error_.isValid() || hasFor(request) || ended_)
            return true;
        std::size_t before = received_.size();
        if (TurnBudget::isSpent()) { // a later turn receives
            isPutOff_ = true;
            readers_.wakeInTurn(TaskPriority::DefaultDelay);
            return false;
        }
        if (isDirectFor(request) && hasBytes(request.size))
            return true;
        if (!fill(request.kind == ReadRequest::Kind::Exactly ? request.size - before : request.size))
            return error_.isValid() || ended_;
        if (request.kind != ReadRequest::Kind::Some)
            TurnBudget::useBytes(received_.size() - std::min(before, received_.size()));
    }
}

std::size_t Connection::sizeFor(ReadRequest const& request) {
    if (error_.isValid())
        throw named("read from", error_);
    std::size_t have = received_.size();
    if (request.kind == ReadRequest::Kind::Some && have == 0 && cut_.isValid())
        throw named("read from", cut_);
    if (request.kind == ReadRequest::Kind::Some)
        return std::min<std::size_t>(have, request.size);
    std::size_t count = request.size;
    if (request.kind == ReadRequest::Kind::Until) {
        std::size_t at = received_.find(request.text(), 0);
        bool isFound = at != have;
        if (isFound ? at + request.count > request.size : have >= request.size)
            throw named("read from", tooLarge(request.size));
        count = isFound ? at + request.count : have + 1;
    }
    if (count > have)
        throw named("read from", cut_.isValid() ? cut_ : have != 0 ? connection_cut_off() : end_of_stream());
    return count;
}

void Connection::fail(Error error) {
    if (error_.isValid())
        return;
    error_ = error;
    noteEnd(error);
    received_.clear();
    readersMayTry();
    wakeDrains();
}

void Connection::noteEnd(Error error) noexcept {
    if (areConnectionsTraced()) [[unlikely]]
        traceConnection("ConnectionEnded", peerAddress(), error);
}

void Connection::failWaiters() noexcept {
    Error error = error_.isValid() ? error_ : operation_obsolete();
    if (readers_.isWaitedFor())
        readers_.failAll(error);
    if (drains_.isWaitedFor())
        drains_.failAll(error);
}

} // namespace flow::net
