// Reading: fill() and fillInto() call the kernel only if bytes are likely (mayTryToRead): the poller has reported bytes
// (mayRead_), or the strategy tries without a report. A short read clears mayRead_. readSome() receives into the
// caller's memory only if bytes are sure to be there (hasBytes: a report of epoll, or FIONREAD), because a ready
// operation must have a result. When bytes have filled a small buffer (overflows_), the next small buffer is filled
// from the loop's block, which receives more bytes with one call.
//
// Writing: send() puts the bytes into queue_; flush() gives them to the kernel until the kernel takes no more. Then
// mayWrite_ is false until the poller reports room. A socket is registered with the poller only at the first wait.
//
// The end: shutdownWrite() ends the stream after the bytes of queue_. close() with unread bytes resets the connection.
// With unsent bytes, close() passes socket and queue to a Lingering, which sends for at most kLinger seconds, and then
// deletes itself. An error closes the descriptor immediately. ReadStrategy::Ahead is in receive_ahead.cpp.

#include "net/real/detail/real_connection.h"

#include "net/detail/connection_events.h"
#include "net/real/detail/without_sigpipe.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

namespace flow::net {
namespace {

constexpr std::uint32_t kPiecesPerCall = SendQueue::kPiecesPerCall;

/// A closed socket that still has bytes to send. Destroys itself.
class Lingering final : public RealSocket, Turn, public FastAllocated<Lingering> {
public:
    Lingering(RealNetwork& network, SendQueue& queue, std::size_t bytes, OpenDescriptor opened)
        : RealSocket(network, std::move(opened)), Turn([](Turn& self) { static_cast<Lingering&>(self).goOn(); }),
          deadline_([](Turn& self) { static_cast<Deadline&>(self).owner->giveUp(); }, *this), left_(bytes) {
        queue.moveTo(queue_);
        deadline_.askAt(Loop::current().now() + RealConnection::linger, TaskPriority::WriteSocket);
        leaving().add(left_);
    }

    /// Sends as many bytes as the kernel takes. May destroy this object.
    void start() {
        try {
            watch();
            goOn();
        } catch (Error&) {
            giveUp();
        }
    }

private:
    ~Lingering() { leaving().remove(left_); }

    struct Deadline : Turn {
        Deadline(void (*run)(Turn&), Lingering& o) : Turn(run), owner(&o) {}
        Lingering* owner;
    };

    void onNews(News news) noexcept override {
        if (news.writable)
            ask(Loop::current().priorityOfNews(TaskPriority::WriteSocket));
    }
    bool isAwaited() const override { return true; }
    void onNetworkEnd() noexcept override { giveUp(); }
    void goOn() {
        SendQueue::Sent sent = queue_.sendTo(descriptor());
        left_ -= sent.bytes;
        leaving().remove(sent.bytes);
        count(&SocketCounters::writes, static_cast<std::uint64_t>(sent.calls));
        count(&SocketCounters::bytesWritten, sent.bytes);
        if (sent.error != 0 || queue_.isEmpty())
            delete this;
    }
    /// Resets the connection: after a normal end the other side would believe that it has all bytes.
    void giveUp() {
        resetConnection();
        delete this;
    }

    SendQueue queue_;
    Deadline deadline_;
    std::size_t left_; // bytes
};

} // namespace

std::uint32_t SendQueue::gather(iovec* pieces, std::size_t& total) {
    std::uint32_t count = 0;
    total = 0;
    for (; count < std::min(kPiecesPerCall, pieces_.size()); ++count) {
        Bytes const& each = pieces_.at(count);
        int gone = count == 0 ? first_ : 0;
        pieces[count] = {const_cast<std::uint8_t*>(each.begin()) + gone, std::size_t(each.size() - gone)};
        total += pieces[count].iov_len;
    }
    return count;
}

void SendQueue::consume(std::size_t bytes) {
    while (!isEmpty()) {
        auto left = static_cast<std::size_t>(pieces_.front().size() - first_);
        if (bytes < left)
            break;
        bytes -= left;
        first_ = 0;
        pieces_.pop();
    }
    first_ += static_cast<int>(bytes);
}

SendQueue::Sent SendQueue::sendTo(int descriptor) {
    Sent sent;
    while (!isEmpty()) {
        iovec pieces[kPiecesPerCall];
        std::size_t total = 0;
        msghdr message = {};
        message.msg_iov = pieces;
        message.msg_iovlen = gather(pieces, total);
        ssize_t taken = ::sendmsg(descriptor, &message, MSG_NOSIGNAL);
        ++sent.calls;
        if (taken < 0) {
            if (errno == EINTR)
                continue;
            sent.isBlocked = errno == EAGAIN || errno == EWOULDBLOCK;
            sent.error = sent.isBlocked ? 0 : errno;
            return sent;
        }
        consume(static_cast<std::size_t>(taken));
        sent.bytes += static_cast<std::size_t>(taken);
        if (static_cast<std::size_t>(taken) < total) {
            sent.isBlocked = true;
            return sent;
        }
    }
    return sent;
}

void SendQueue::moveTo(SendQueue& other) {
    while (!isEmpty())
        other.push(pieces_.pop());
    other.first_ = std::exchange(first_, 0);
}

RealConnection::RealConnection(RealNetwork& network, OpenDescriptor opened, Address const& peer, ReadStrategy strategy,
                               Reference<FirstReads> firstReads)
    : RealSocket(network, std::move(opened)), Turn([](Turn& self) { static_cast<RealConnection&>(self).flush(); }),
      peer_(peer), firstReads_(std::move(firstReads)), strategy_(strategy) {
    if (strategy_ != ReadStrategy::Ahead)
        return;
    if (poller().canReceiveAhead())
        firstReads_.clear();
    else
        strategy_ = ReadStrategy::Adaptive;
}

Reference<Connection> RealConnection::ofConnected(RealSocket& before, Address const& peer, ReadStrategy strategy) {
    auto connection =
        makeReference<RealConnection>(before.network(), OpenDescriptor(-1), peer, strategy, Reference<FirstReads>());
    if (connection->strategy_ == ReadStrategy::Ahead)
        connection->descriptor_ = before.release().release(); // the poller watches sockets of Ahead in another way
    else
        before.moveTo(*connection);
    traceConnection("Connected", peer);
    return connection;
}

RealConnection::~RealConnection() {
    RealConnection::close();
    if (hasNetwork())
        block().forget(received_);
}

bool RealConnection::mayTryToRead() {
    if (mayRead_ || strategy_ == ReadStrategy::Speculative)
        return true;
    if (strategy_ == ReadStrategy::Adaptive && firstReads_ && !isWatched()) {
        if (firstReads_->areWorthIt() || firstReads_->isTrial())
            return true;
        firstReads_.clear();
    }
    return false;
}

std::optional<std::size_t> RealConnection::receive(Buffers to) noexcept {
    iovec vectors[kPiecesPerCall];
    std::size_t pieces = 0, room = 0;
    for (std::span<std::uint8_t> each : to) {
        if (pieces == kPiecesPerCall)
            break;
        if (each.empty())
            continue;
        vectors[pieces++] = {each.data(), each.size()};
        room += each.size();
    }
    isSure_ = false;
    for (;;) {
        ssize_t count = pieces == 1 ? ::recv(descriptor(), vectors[0].iov_base, room, 0)
                                    : ::readv(descriptor(), vectors, static_cast<int>(pieces));
        this->count(&SocketCounters::reads);
        if (firstReads_ && !isWatched()) {
            firstReads_->note(count >= 0);
            firstReads_.clear();
        }
        if (count > 0) {
            this->count(&SocketCounters::bytesRead, static_cast<std::uint64_t>(count));
            mayRead_ = static_cast<std::size_t>(count) == room || noMore_;
            return static_cast<std::size_t>(count);
        }
        if (count == 0) {
            ended_ = true;
            return 0;
        }
        if (errno == EINTR)
            continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            this->count(&SocketCounters::emptyReads);
            mayRead_ = false;
            return {};
        }
        failReading(errorOfSystem(errno));
        return 0;
    }
}

bool RealConnection::fill(std::size_t wanted) noexcept {
    if (strategy_ == ReadStrategy::Ahead)
        return fillAhead();
    if (!isOpen() || !mayTryToRead())
        return false;
    try {
        std::span<std::uint8_t> room = block().roomFor(received_);
        std::optional<std::size_t> count = receive({&room, 1});
        if (count.value_or(0) != 0) {
            overflows_ = *count >= wanted;
            block().received(received_, room, *count);
        }
        return count.has_value();
    } catch (...) { // no memory
        failReading(currentError());
        return true;
    }
}

bool RealConnection::hasBytes(std::size_t size) noexcept {
    if (!isOpen() || strategy_ == ReadStrategy::Ahead)
        return false;
    if (size == 0) { // for a message: the end counts too
        char first;
        ssize_t count = mayRead_ ? ::recv(descriptor(), &first, 1, MSG_PEEK) : -1;
        mayRead_ &= count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
        return mayRead_;
    }
    if (size < SharedBlock::kBytes)
        return isSure_ && !overflows_;
    int count = 0;
    if (!isSure_ && mayRead_) // bytes are likely, but not sure: ask the kernel
        isSure_ = ::ioctl(descriptor(), FIONREAD, &count) == 0 && count > 0;
    return isSure_;
}

std::size_t RealConnection::fillInto(Buffers to, std::size_t size, bool& isSomething) noexcept {
    if (strategy_ == ReadStrategy::Ahead) {
        isSomething = fillAhead();
        return 0;
    }
    if (!isOpen() || !mayTryToRead())
        return 0;
    std::optional<std::size_t> count = receive(to);
    isSomething = count.has_value();
    overflows_ = count.value_or(0) == size;
    return count.value_or(0);
}

/// The calling read returns the error itself, so this function wakes only writers.
void RealConnection::failReading(Error error) noexcept {
    error_ = error;
    noteEnd(error);
    received_.clear();
    wakeDrains();
    closeDescriptor();
}

void RealConnection::watchWriting() {
    if (strategy_ != ReadStrategy::Ahead)
        return watch();
    if (!isWatched())
        receiveAhead();
    poller().watchWriting(*this);
}

void RealConnection::send(std::span<Bytes> pieces) {
    for (Bytes& each : pieces) {
        if (each.empty())
            continue;
        noteWritten(static_cast<std::size_t>(each.size()));
        queue_.push(std::move(each));
    }
    if (mayWrite_)
        flush();
}

void RealConnection::flush() {
    if (!isOpen() || queue_.isEmpty())
        return;
    SendQueue::Sent sent = queue_.sendTo(descriptor());
    count(&SocketCounters::writes, static_cast<std::uint64_t>(sent.calls));
    count(&SocketCounters::bytesWritten, sent.bytes);
    noteGone(sent.bytes);
    mayWrite_ = !sent.isBlocked;
    Error error = sent.error != 0 ? errorOfSystem(sent.error) : Error();
    if (sent.isBlocked) {
        count(&SocketCounters::blockedWrites);
        try {
            watchWriting();
        } catch (Error& failed) {
            error = failed;
        }
    }
    if (error.isValid()) {
        closeDescriptor();
        return fail(error);
    }
    if (queue_.isEmpty() && writeEnded_)
        ::shutdown(descriptor(), SHUT_WR);
    wakeDrains();
}

std::size_t RealConnection::tryWrite(std::span<StringRef const> pieces) noexcept {
    if (!isOpen() || !queue_.isEmpty() || !mayWrite_)
        return 0;
    iovec vectors[kPiecesPerCall];
    std::size_t total = 0, count = std::min<std::size_t>(kPiecesPerCall, pieces.size());
    for (std::size_t i = 0; i < count; ++i) {
        vectors[i] = {const_cast<std::uint8_t*>(pieces[i].begin()), static_cast<std::size_t>(pieces[i].size())};
        total += vectors[i].iov_len;
    }
    msghdr message = {};
    message.msg_iov = vectors;
    message.msg_iovlen = count;
    ssize_t taken;
    do {
        taken = ::sendmsg(descriptor(), &message, MSG_NOSIGNAL);
        this->count(&SocketCounters::writes);
    } while (taken < 0 && errno == EINTR);
    return sentNow(taken, total);
}

std::optional<std::size_t> RealConnection::trySendFile(StringRef before, int file, std::uint64_t offset,
                                                       std::size_t size) noexcept {
    if (!isOpen() || !queue_.isEmpty() || !mayWrite_)
        return 0;
    std::size_t sent = 0;
    if (!before.empty()) {
        auto total = static_cast<std::size_t>(before.size());
        ssize_t taken;
        do // MSG_MORE: in one packet with bytes of the file
            taken = ::send(descriptor(), before.begin(), total, MSG_NOSIGNAL | MSG_MORE);
        while (taken < 0 && errno == EINTR);
        count(&SocketCounters::writes);
        sent = sentNow(taken, total);
        if (sent != total)
            return sent;
    }
    auto at = static_cast<off_t>(offset);
    // sendfile() has no MSG_NOSIGNAL.
    ssize_t taken = withoutSigpipe([&] { return ::sendfile(descriptor(), file, &at, size); });
    count(&SocketCounters::writes);
    if (taken == 0 || (taken < 0 && (errno == EINVAL || errno == ENOSYS))) // the end, or no file for sendfile()
        return sent != 0 ? std::optional(sent) : std::nullopt;
    // A short count may come from the file: only an error means a full socket, after which the poller reports room.
    return sent + sentNow(taken, taken > 0 ? static_cast<std::size_t>(taken) : size);
}

std::size_t RealConnection::sentNow(ssize_t result, std::size_t total) noexcept {
    bool isBlocked = result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    Error error = result < 0 && !isBlocked ? errorOfSystem(errno) : Error();
    auto sent = static_cast<std::size_t>(std::max<ssize_t>(result, 0));
    count(&SocketCounters::bytesWritten, sent);
    if (sent < total && !error.isValid()) {
        mayWrite_ = false;
        count(&SocketCounters::blockedWrites);
        try {
            watchWriting();
        } catch (Error& failed) {
            error = failed;
        }
    }
    if (error.isValid()) {
        closeDescriptor();
        fail(error);
        return 0;
    }
    return sent;
}

Drain RealConnection::writable() {
    if (mayWrite_ && queue_.isEmpty())
        return room();
    if (queue_.isEmpty() && !std::exchange(holdsByte_, true))
        noteWritten(1);
    return empty();
}

void RealConnection::onNews(News news) noexcept {
    count(&SocketCounters::news);
    noMore_ |= news.ended;
    if (news.readable) {
        mayRead_ = true;
        isSure_ = news.isSure;
        readersMayTry();
    }
    if (news.writable) {
        mayWrite_ = true;
        if (!queue_.isEmpty()) {
            ask(Loop::current().priorityOfNews(TaskPriority::WriteSocket));
        } else if (std::exchange(holdsByte_, false)) {
            noteGone(1);
            wakeDrains();
        }
    }
}

void RealConnection::shutdownWrite() {
    if (std::exchange(writeEnded_, true) || !isOpen())
        return;
    if (queue_.isEmpty())
        ::shutdown(descriptor(), SHUT_WR);
}

void RealConnection::close() {
    if (std::exchange(isClosed_, true))
        return;
    takeBack();
    stopReceiving(); // first: afterwards received_ has all unread bytes
    if (isOpen()) {
        if (!received_.isEmpty()) {
            resetConnection();
        } else if (!queue_.isEmpty()) {
            RealNetwork& home = network();
            auto* lingering = new Lingering(home, queue_, queuedBytes(), release());
            lingering->start();
        } else {
            closeDescriptor();
        }
    }
    fail(operation_obsolete());
}

void RealConnection::abort() {
    if (std::exchange(isClosed_, true))
        return;
    takeBack();
    resetConnection();
    fail(operation_obsolete());
}

std::optional<PeerCredentials> RealConnection::peerCredentials() const {
    ucred peer;
    socklen_t size = sizeof peer;
    if (!isOpen() || ::getsockopt(descriptor(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid == 0)
        return {};
    return PeerCredentials{peer.pid, peer.uid, peer.gid};
}

void RealConnection::onNetworkEnd() noexcept {
    takeBack();
    if (hasNetwork())
        block().forget(received_);
    received_.clear();
    error_ = operation_obsolete();
    isClosed_ = true;
    abandonWaiters();
    if (!queue_.isEmpty())
        resetConnection(); // as Lingering::giveUp() does
    leaveNetwork();
}

} // namespace flow::net
