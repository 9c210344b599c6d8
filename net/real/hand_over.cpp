// A listener or a connection is sent as a record of 512 bytes, together with its descriptor. The kernel takes a record
// as a whole, and a receive ends after bytes that came with a descriptor. So no call keeps a part of a record for the
// next call. Unread bytes are in a file in memory; its descriptor is the second one of the record. The file is sealed:
// the receiver can check that it is no file on which a read would wait.

#include "net/real/hand_over.h"

#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "net/real/adopt.h"
#include "net/real/detail/real_connection.h"
#include "net/real/detail/real_listener.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace flow::net {

/// The other process may run another version of the program: a change of the format changes the mark.
struct HandedOver::Record {
    char mark[8];
    std::uint8_t isListener, strategy;
    std::uint16_t peerSize, nameSize;
    std::uint8_t peer[sizeof(sockaddr_storage)]; // of a connection
    char name[370];

    static constexpr char kMark[] = "millrac1";
};

namespace {

constexpr off_t kMostUnreadBytes = 256 << 20;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

/// Returns the channel as a RealConnection. Throws if it cannot carry descriptors.
RealConnection& checkedChannel(Reference<Connection> const& channel, std::string_view function) {
    auto* real = dynamic_cast<RealConnection*>(channel.getPtr());
    if (!real || (real->isOpen() && optionOf(real->descriptor(), SO_DOMAIN) != AF_UNIX))
        throw client_invalid_operation().withSentence(
            std::string(function) + ": the channel is no connection of this machine at a Unix socket");
    return *real;
}

/// Returns a sealed file in memory with the bytes; no file if there are no bytes.
OpenDescriptor fileOf(std::vector<std::uint8_t> const& bytes) {
    if (bytes.empty())
        return OpenDescriptor(-1);
    if (bytes.size() > static_cast<std::size_t>(kMostUnreadBytes))
        throw value_too_large().withSentence("sendConnection(): more than 256 MiB of the connection are unread");
    OpenDescriptor file(::memfd_create("unread", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    for (std::size_t at = 0; at < bytes.size();) {
        ssize_t written = ::write(file.get(), bytes.data() + at, bytes.size() - at);
        if (written < 0)
            throw errorOfCall(errno);
        at += static_cast<std::size_t>(written);
    }
    if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0)
        throw errorOfCall(errno);
    return file;
}

/// Reads a file that fileOf() has made. Returns false if `file` is no such file.
bool readFile(int file, std::vector<std::uint8_t>& bytes) {
    struct stat info;
    int seals = ::fcntl(file, F_GET_SEALS);
    if (seals < 0 || (seals & kSeals) != kSeals || ::fstat(file, &info) != 0 || info.st_size > kMostUnreadBytes)
        return false;
    bytes.resize(static_cast<std::size_t>(info.st_size));
    for (std::size_t at = 0; at < bytes.size();) {
        ssize_t count = ::pread(file, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
        if (count <= 0)
            return false;
        at += static_cast<std::size_t>(count);
    }
    return true;
}

} // namespace

bool RealConnection::trySendWith(std::span<std::uint8_t const> bytes, std::span<int const> descriptors) {
    if (error_.isValid())
        throw error_;
    if (!queue_.isEmpty() || !mayWrite_)
        return false;
    iovec part = {const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
    ssize_t taken;
    do {
        taken = ::sendmsg(descriptor(), &message, MSG_NOSIGNAL);
        count(&SocketCounters::writes);
    } while (taken < 0 && errno == EINTR);
    if (taken < 0 && errno == ETOOMANYREFS)
        throw platform_error().withSentence("too many descriptors are sent and not received yet");
    std::size_t sent = sentNow(taken, bytes.size());
    if (error_.isValid())
        throw error_;
    return sent != 0;
}

std::size_t RealConnection::receiveWith(std::span<std::uint8_t> to, std::vector<OpenDescriptor>& descriptors) {
    descriptors.reserve(2);
    iovec part = {to.data(), to.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t size;
    do {
        size = ::recvmsg(descriptor(), &message, MSG_CMSG_CLOEXEC);
        count(&SocketCounters::reads);
    } while (size < 0 && errno == EINTR);
    isSure_ = false;
    if (size < 0) {
        failReading(errorOfSystem(errno));
        throw error_;
    }
    ended_ = size == 0;
    count(&SocketCounters::bytesRead, static_cast<std::uint64_t>(size));
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    if (!rights || rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS)
        return static_cast<std::size_t>(size);
    for (std::size_t at = CMSG_LEN(0); at < rights->cmsg_len; at += sizeof(int)) {
        int descriptor;
        std::memcpy(&descriptor, reinterpret_cast<char*>(rights) + at, sizeof descriptor);
        descriptors.emplace_back(descriptor);
    }
    return static_cast<std::size_t>(size);
}

void RealConnection::refuse(Error error) {
    closeDescriptor();
    fail(error);
}

/// Makes the record of `connection`; null: of a listener.
HandedOver::Record HandedOver::record(DetachedConnection const* connection, std::string const& name,
                                      std::source_location caller) {
    static_assert(sizeof(Record) == 512);
    FLOW_ASSERT_AT(caller, !connection || connection->descriptor_ >= 0, "sendConnection(): there is no connection");
    if (name.size() > sizeof Record::name)
        throw client_invalid_operation().withSentence(format("%s: the name has %zu bytes; it must have at most %zu",
                                                             connection ? "sendConnection()" : "sendListener()",
                                                             name.size(), sizeof Record::name));
    Record record = {};
    std::memcpy(record.mark, Record::kMark, sizeof record.mark);
    record.nameSize = static_cast<std::uint16_t>(name.size());
    name.copy(record.name, name.size());
    record.isListener = !connection;
    if (!connection)
        return record;
    record.strategy = static_cast<std::uint8_t>(connection->strategy_);
    sockaddr_storage peer = {};
    record.peerSize = static_cast<std::uint16_t>(connection->peer_.toSystem(peer));
    std::memcpy(record.peer, &peer, sizeof peer);
    return record;
}

Future<Void> HandedOver::send(Reference<Connection> channel, Record record, Reference<Listener> listener,
                              DetachedConnection* connection) {
    auto* to = static_cast<RealConnection*>(channel.getPtr());
    auto* shared = static_cast<RealListener*>(listener.getPtr());
    OpenDescriptor unread = fileOf(connection ? connection->received_ : std::vector<std::uint8_t>());
    std::span<std::uint8_t const> bytes(reinterpret_cast<std::uint8_t const*>(&record), sizeof record);
    for (;;) {
        if (shared && !shared->isOpen())
            throw operation_obsolete();
        int descriptors[] = {shared ? shared->descriptor() : connection->descriptor_, unread.get()};
        if (to->trySendWith(bytes, {descriptors, unread.get() < 0 ? 1u : 2u}))
            break;
        co_await to->writable();
    }
    if (shared)
        shared->leaveFile();
    else
        connection->close();
}

Future<Void> sendListener(Reference<Connection> channel, Reference<Listener> listener, std::string name) {
    checkedChannel(channel, "sendListener()");
    if (!dynamic_cast<RealListener*>(listener.getPtr()))
        throw unsupported_operation().withSentence(
            "sendListener(): a listener with TLS, or of a simulation, cannot be sent");
    return HandedOver::send(channel, HandedOver::record(nullptr, name, {}), listener, nullptr);
}

Future<Void> sendConnection(Reference<Connection> channel, DetachedConnection& connection, std::string name,
                            std::source_location caller) {
    checkedChannel(channel, "sendConnection()");
    return HandedOver::send(channel, HandedOver::record(&connection, name, caller), {}, &connection);
}

ReceiveHandedOver receiveHandedOver(Reference<Connection> const& channel) {
    if (checkedChannel(channel, "receiveHandedOver()").receivesAhead())
        throw client_invalid_operation().withSentence(
            "receiveHandedOver(): the channel has ReadStrategy::Ahead; it must have another one");
    return {{channel.getPtr(), nullptr, 1, 0, ReadRequest::Kind::Message}};
}

HandedOver ReceiveHandedOver::take() {
    auto& channel = static_cast<RealConnection&>(*connection);
    if (channel.failure().isValid())
        throw channel.failure();
    HandedOver::Record record = {};
    std::vector<OpenDescriptor> descriptors; // closes them if something is wrong
    std::size_t size = 0;
    if (channel.bufferedBytes() == 0) {
        size = channel.receiveWith({reinterpret_cast<std::uint8_t*>(&record), sizeof record}, descriptors);
        if (size == 0)
            throw channel.failure();
    }
    auto refuse = [&channel](char const* sentence) {
        Error error = serialization_failed().withSentence(std::string("receiveHandedOver(): ") + sentence);
        channel.refuse(error);
        throw error;
    };
    if (size != sizeof record || std::memcmp(record.mark, HandedOver::Record::kMark, sizeof record.mark) != 0)
        refuse("the bytes are no listener and no connection");
    if (descriptors.empty())
        refuse("no descriptor has come: this process, or a read of other bytes, could not take it");
    int descriptor = descriptors[0].get();
    if (record.isListener > 1 || optionOf(descriptor, SO_TYPE) != SOCK_STREAM ||
        optionOf(descriptor, SO_ACCEPTCONN) != record.isListener)
        refuse("the descriptor is no socket of the kind that was announced");
    std::vector<std::uint8_t> unread;
    if (record.strategy > static_cast<std::uint8_t>(ReadStrategy::Ahead) || record.peerSize > sizeof record.peer ||
        record.nameSize > sizeof record.name || (descriptors.size() > 1 && !readFile(descriptors[1].get(), unread)))
        refuse("the message is damaged");
    sockaddr_storage peer;
    std::memcpy(&peer, record.peer, sizeof peer);
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    Address from = Address::fromSystem(reinterpret_cast<sockaddr*>(&peer), record.peerSize).value_or(Address());
    return {std::string(record.name, record.nameSize), record.isListener != 0,
            DetachedConnection(descriptors[0].release(), from, static_cast<ReadStrategy>(record.strategy),
                               std::move(unread))};
}

Reference<Listener> HandedOver::listener(ListenOptions const& options) {
    if (!isListener_)
        throw client_invalid_operation().withSentence("HandedOver::listener(): it is a connection");
    FLOW_ASSERT(socket_.descriptor_ >= 0, "HandedOver::listener() is called twice");
    Reference<Listener> listener = adoptListener(socket_.descriptor_, options);
    socket_.descriptor_ = -1;
    return listener;
}

DetachedConnection HandedOver::connection() {
    if (isListener_)
        throw client_invalid_operation().withSentence("HandedOver::connection(): it is a listener");
    FLOW_ASSERT(socket_.descriptor_ >= 0, "HandedOver::connection() is called twice");
    return std::move(socket_);
}

} // namespace flow::net
