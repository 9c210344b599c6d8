// Reading: a read from a terminal returns one line, even if the kernel has more lines. So only a read that fails with
// EAGAIN shows that there is no more input. The same holds for writes. After EAGAIN the poller reports news.
//
// With a BlockingCall, fill() starts a thread, and a later fill() takes what the thread has read. So a read that is
// cancelled leaves its bytes to the next one.

#include "net/real/detail/real_stream.h"

#include "flow/base/format.h"
#include "flow/file/detail/file_call.h"
#include "net/real/detail/without_sigpipe.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace flow::net {
namespace {

/// True if opening the file anew gives the same file. The controlling side of a pseudoterminal would be another one,
/// and a regular file would have another position.
bool canBeOpenedAnew(int descriptor) {
    struct stat info;
    if (::fstat(descriptor, &info) != 0)
        return false;
    unsigned number;
    return S_ISFIFO(info.st_mode) ||
           (S_ISCHR(info.st_mode) && ::isatty(descriptor) && ::ioctl(descriptor, TIOCGPTN, &number) != 0);
}

OpenDescriptor checked(int descriptor) {
    if (descriptor < 0)
        throw errorOfCall(errno);
    return OpenDescriptor(descriptor);
}

} // namespace

StreamFile::Opened StreamFile::open(int descriptor, int flags) {
    if (canBeOpenedAnew(descriptor)) {
        std::string path = format("/proc/self/fd/%d", descriptor);
        int opened = ::open(path.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (opened >= 0)
            return {OpenDescriptor(opened), OpenDescriptor(-1)};
    }
    OpenDescriptor file = checked(::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    return {std::move(file), checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))};
}

StreamFile::StreamFile(RealNetwork& network, Opened opened)
    : RealSocket(network, opened.events.get() < 0 ? std::move(opened.file)
                                                  : checked(::fcntl(opened.events.get(), F_DUPFD_CLOEXEC, 0))) {
    if (opened.events.get() >= 0)
        call_ = std::make_shared<BlockingCall>(std::move(opened.file), std::move(opened.events));
}

StreamInput::StreamInput(RealNetwork& network, int descriptor, RealStream& stream)
    : StreamFile(network, descriptor, O_RDONLY), stream_(stream) {}

int StreamInput::read(ByteBuffer& to, bool& isAtEnd) {
    if (call_) {
        if (call_->hasEnded()) {
            BlockingCall::Result result = call_->take();
            if (result.count != 0)
                to.append(call_->bytes.data(), result.count);
            isAtEnd = result.count == 0 && result.error == 0;
            return result.error;
        }
        if (!call_->isBusy())
            BlockingCall::begin(call_, false);
        return EAGAIN;
    }
    if (!mayTry_)
        return EAGAIN;
    std::span<std::uint8_t> room = block().roomFor(to);
    ssize_t got;
    do
        got = ::read(descriptor(), room.data(), room.size());
    while (got < 0 && errno == EINTR);
    count(&SocketCounters::reads);
    if (got < 0) {
        mayTry_ = errno != EAGAIN;
        return errno;
    }
    isAtEnd = got == 0;
    count(&SocketCounters::bytesRead, static_cast<std::uint64_t>(got));
    if (got > 0)
        block().received(to, room, static_cast<std::size_t>(got));
    return 0;
}

void StreamInput::onNews(News) noexcept {
    mayTry_ = true;
    stream_.readersMayTry();
}

bool StreamInput::isAwaited() const {
    return stream_.isReadWaitedFor();
}

void StreamInput::onNetworkEnd() noexcept {
    stream_.onNetworkEnd();
    leaveNetwork();
}

StreamOutput::StreamOutput(RealNetwork& network, int descriptor, RealStream& stream)
    : StreamFile(network, descriptor, O_WRONLY), Turn([](Turn& self) { static_cast<StreamOutput&>(self).flush(); }),
      stream_(&stream) {}

int StreamOutput::write() {
    if (call_)
        return writeByThread();
    if (!mayTry_)
        return EAGAIN;
    iovec pieces[SendQueue::kPiecesPerCall];
    std::size_t total = 0;
    int number = static_cast<int>(queue_.gather(pieces, total));
    ssize_t taken = withoutSigpipe([&] { return ::writev(descriptor(), pieces, number); });
    count(&SocketCounters::writes);
    if (taken < 0) {
        mayTry_ = errno != EAGAIN;
        return errno;
    }
    queue_.consume(static_cast<std::size_t>(taken));
    noteSent(static_cast<std::size_t>(taken));
    return 0;
}

int StreamOutput::writeByThread() {
    if (call_->hasEnded()) {
        BlockingCall::Result result = call_->take();
        noteSent(result.count);
        if (result.error != 0)
            return result.error;
    }
    if (call_->isBusy() || queue_.isEmpty())
        return EAGAIN;
    call_->bytes.clear();
    while (!queue_.isEmpty() && call_->bytes.size() < BlockingCall::kBytes) {
        iovec pieces[SendQueue::kPiecesPerCall];
        std::size_t total = 0;
        std::uint32_t number = queue_.gather(pieces, total);
        for (iovec const& each : std::span(pieces, number)) {
            auto* begin = static_cast<std::uint8_t const*>(each.iov_base);
            call_->bytes.insert(call_->bytes.end(), begin, begin + each.iov_len);
        }
        queue_.consume(total);
    }
    BlockingCall::begin(call_, true);
    return EAGAIN;
}

void StreamOutput::flush() {
    try {
        int error = 0;
        while (isOpen() && error == 0 && (call_ || !queue_.isEmpty()))
            error = write();
        if (error != 0 && error != EAGAIN)
            return fail(stream_ ? stream_->errorOf("write", error) : Error());
        if (isBusy())
            return watch();
    } catch (...) { // no memory or no thread
        return fail(currentError());
    }
    if (isEnding_) {
        call_.reset();
        closeDescriptor();
    }
    if (!stream_)
        delete this;
}

void StreamOutput::noteSent(std::size_t bytes) {
    count(&SocketCounters::bytesWritten, bytes);
    if (stream_) {
        stream_->noteGone(bytes);
        return stream_->wakeDrains();
    }
    left_ -= bytes;
    leaving().remove(bytes);
}

void StreamOutput::fail(Error error) {
    queue_.clear();
    call_.reset();
    closeDescriptor();
    if (stream_)
        stream_->fail(error);
    else
        giveUp();
}

void StreamOutput::end() {
    isEnding_ = true;
    if (!isBusy())
        flush();
}

void StreamOutput::leave(std::size_t unsent) {
    stream_ = nullptr;
    if (!isBusy() || !hasNetwork()) {
        delete this;
        return;
    }
    left_ = unsent;
    leaving().add(left_);
    deadline_.askAt(Loop::current().now() + RealConnection::linger, TaskPriority::WriteSocket);
    flush();
}

void StreamOutput::giveUp() {
    leaving().remove(left_);
    delete this;
}

void StreamOutput::onNews(News) noexcept {
    mayTry_ = true;
    if (isBusy() || call_)
        ask(Loop::current().priorityOfNews(TaskPriority::WriteSocket));
}

void StreamOutput::onNetworkEnd() noexcept {
    takeBack();
    deadline_.takeBack();
    if (!stream_)
        return giveUp();
    stream_->onNetworkEnd();
    leaveNetwork();
}

RealStream::RealStream(RealNetwork& network, int descriptor, int directions, std::string name)
    : name_(std::move(name)) {
    if (directions & Reads)
        input_ = std::make_unique<StreamInput>(network, descriptor, *this);
    if (directions & Writes)
        output_ = new StreamOutput(network, descriptor, *this);
}

Error RealStream::errorOf(char const* call, int error) const {
    Error converted = FileCall{call, name_}.error(error, io_error());
    return error == EPIPE ? connection_reset().withSentence(converted.what()) : converted;
}

bool RealStream::fill(std::size_t) noexcept {
    if (!input_ || !input_->isOpen())
        return false;
    int error = 0;
    try {
        error = input_->read(received_, ended_);
        if (error == EAGAIN)
            return false;
        if (error != 0)
            cut_ = errorOf("read", error);
    } catch (...) {
        cut_ = currentError();
    }
    ended_ |= cut_.isValid();
    return true;
}

void RealStream::beforeReaderParks() {
    if (!input_)
        throw client_invalid_operation().withSentence(format("a read from %s, which is for writing", name_.c_str()));
    if (input_->isOpen())
        input_->waitForNews();
}

void RealStream::send(std::span<Bytes> pieces) {
    if (!output_)
        throw client_invalid_operation().withSentence(format("a write to %s, which is for reading", name_.c_str()));
    for (Bytes& each : pieces) {
        if (each.empty())
            continue;
        noteWritten(static_cast<std::size_t>(each.size()));
        output_->push(std::move(each));
    }
    output_->flush();
}

void RealStream::shutdownWrite() {
    if (!std::exchange(writeEnded_, true) && output_ && !isClosed_)
        output_->end();
}

void RealStream::dropInput() noexcept {
    if (input_ && input_->canBeForgotten())
        input_->forget(received_);
    received_.clear();
    input_.reset();
}

void RealStream::close() {
    if (std::exchange(isClosed_, true))
        return;
    dropInput();
    if (output_)
        std::exchange(output_, nullptr)->leave(queuedBytes());
    fail(operation_obsolete());
}

void RealStream::abort() {
    if (std::exchange(isClosed_, true))
        return;
    dropInput();
    if (output_)
        std::exchange(output_, nullptr)->drop();
    fail(operation_obsolete());
}

void RealStream::onNetworkEnd() noexcept {
    if (input_ && input_->canBeForgotten())
        input_->forget(received_);
    received_.clear();
    error_ = operation_obsolete();
    abandonWaiters();
}

} // namespace flow::net
