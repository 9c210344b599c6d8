// fill() receives up to kBatch messages with one system call, into a buffer that all sockets of the thread share, and
// copies each datagram out of it. A message may be several datagrams of one size, which the kernel has joined (GRO).
// give() does the reverse: it joins datagrams of one size to one address, and the kernel splits them (GSO). If the
// kernel refuses to split, datagrams are sent one by one from then on.
//
// When the kernel takes no more, datagrams wait in queue_ up to the high water mark; further ones are dropped.

#include "net/real/detail/real_datagrams.h"

#include "flow/base/detail/sentence.h"
#include "flow/base/format.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netinet/in.h>
#include <netinet/udp.h>

namespace flow::net {
namespace {

constexpr std::size_t kRoom = 65536; // the bytes for one message

/// The arguments of recvmmsg() or sendmmsg().
struct Batch {
    static constexpr std::size_t kPieces = 128;

    std::array<mmsghdr, RealDatagramSocket::kBatch> messages = {};
    std::array<iovec, kPieces> pieces;
    std::array<sockaddr_storage, RealDatagramSocket::kBatch> addresses;
    struct alignas(cmsghdr) Control {
        char bytes[CMSG_SPACE(sizeof(int))];
    };
    std::array<Control, RealDatagramSocket::kBatch> controls;

    void set(std::size_t message, std::size_t first, std::size_t count, unsigned addressSize) {
        msghdr& header = messages[message].msg_hdr;
        header = {};
        header.msg_iov = &pieces[first];
        header.msg_iovlen = count;
        header.msg_name = &addresses[message];
        header.msg_namelen = addressSize;
    }
    /// Makes the kernel cut the message into datagrams of `size` bytes.
    void cutApart(std::size_t message, std::size_t size) {
        msghdr& header = messages[message].msg_hdr;
        header.msg_control = controls[message].bytes;
        header.msg_controllen = CMSG_SPACE(sizeof(std::uint16_t));
        cmsghdr* control = CMSG_FIRSTHDR(&header);
        control->cmsg_level = IPPROTO_UDP;
        control->cmsg_type = UDP_SEGMENT;
        control->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
        auto cut = static_cast<std::uint16_t>(size);
        std::memcpy(CMSG_DATA(control), &cut, sizeof cut);
    }
    void allowJoined(std::size_t message) {
        messages[message].msg_hdr.msg_control = controls[message].bytes;
        messages[message].msg_hdr.msg_controllen = sizeof controls[message].bytes;
    }
    /// Returns the size of each datagram in the message; the last one may be shorter.
    std::size_t sizeOfEach(std::size_t message) {
        msghdr& header = messages[message].msg_hdr;
        int size = 0;
        for (cmsghdr* each = CMSG_FIRSTHDR(&header); each; each = CMSG_NXTHDR(&header, each))
            if (each->cmsg_level == IPPROTO_UDP && each->cmsg_type == UDP_GRO)
                std::memcpy(&size, CMSG_DATA(each), sizeof size);
        return size > 0 ? static_cast<std::size_t>(size) : messages[message].msg_len;
    }
};

/// Returns the number of datagrams, from the first on, that the kernel can take as one message and split. They have the
/// same address and the same size; only the last may be shorter.
std::size_t alike(std::span<Datagram> datagrams, std::size_t most) {
    constexpr int kMostBytes = 65000;
    constexpr std::size_t kMostCuts = 64; // UDP_MAX_SEGMENTS
    int size = datagrams[0].bytes.size(), total = size;
    std::size_t count = 1;
    most = std::min({most, kMostCuts, datagrams.size()});
    while (size != 0 && count < most && !datagrams[0].from.isUnix()) {
        int next = datagrams[count].bytes.size();
        total += next;
        if (next == 0 || next > size || total > kMostBytes || datagrams[count].from != datagrams[0].from)
            break;
        ++count;
        if (next < size)
            break;
    }
    return count;
}

/// Returns the receive buffer that all sockets of a thread share. Its unused pages take no memory.
std::uint8_t* roomForBatch() {
    static thread_local std::unique_ptr<std::uint8_t[]> room;
    if (!room)
        room = std::make_unique_for_overwrite<std::uint8_t[]>(RealDatagramSocket::kBatch * kRoom);
    return room.get();
}

} // namespace

RealDatagramSocket::RealDatagramSocket(RealNetwork& network, OpenDescriptor opened, Address const& at,
                                       ReadStrategy strategy, SocketFile file)
    : RealSocket(network, std::move(opened)), Turn([](Turn& self) { static_cast<RealDatagramSocket&>(self).flush(); }),
      at_(at), file_(std::move(file)), strategy_(strategy) {}

bool RealDatagramSocket::fill() noexcept {
    if (!isOpen() || !(mayRead_ || strategy_ == ReadStrategy::Speculative))
        return false;
    try {
        std::uint8_t* room = roomForBatch();
        if (!std::exchange(mayBeJoined_, true)) {
            int on = 1; // a kernel without GRO, or a Unix socket, returns datagrams one by one
            ::setsockopt(descriptor(), IPPROTO_UDP, UDP_GRO, &on, sizeof on);
        }
        Batch batch;
        for (unsigned i = 0; i < kBatch; ++i) {
            batch.pieces[i] = {room + i * kRoom, kRoom};
            batch.set(i, i, 1, sizeof(sockaddr_storage));
            batch.allowJoined(i);
        }
        int got = ::recvmmsg(descriptor(), batch.messages.data(), kBatch, MSG_DONTWAIT, nullptr);
        count(&SocketCounters::reads);
        if (got < 0) {
            if (errno == EINTR)
                return fill();
            if (errno == EAGAIN || errno == EWOULDBLOCK) {
                count(&SocketCounters::emptyReads);
                mayRead_ = false;
            }
            return false; // an error of an earlier datagram is ignored; the next call gets the next datagram
        }
        mayRead_ = got == static_cast<int>(kBatch);
        for (int i = 0; i < got; ++i) {
            auto at = static_cast<std::size_t>(i);
            mmsghdr const& message = batch.messages[at];
            count(&SocketCounters::bytesRead, message.msg_len);
            Address from =
                Address::fromSystem(reinterpret_cast<sockaddr*>(&batch.addresses[at]), message.msg_hdr.msg_namelen)
                    .value_or(Address());
            std::size_t each = batch.sizeOfEach(at), done = 0;
            do {
                std::size_t size = std::min<std::size_t>(each, message.msg_len - done);
                received_.push(Datagram{from, StringRef(room + at * kRoom + done, static_cast<int>(size))});
                done += size;
            } while (done < message.msg_len);
        }
        return got > 0;
    } catch (...) { // no memory: the other datagrams are lost
        return !received_.isEmpty();
    }
}

std::size_t RealDatagramSocket::give(std::span<Datagram> datagrams) {
    Batch batch;
    std::array<std::size_t, kBatch + 1> starts = {}; // the index of each message's first datagram
    unsigned messages = 0;
    while (messages < kBatch && starts[messages] < std::min(datagrams.size(), Batch::kPieces)) {
        std::size_t first = starts[messages];
        std::size_t count = maySendJoined_ ? alike(datagrams.subspan(first), Batch::kPieces - first) : 1;
        for (std::size_t i = first; i < first + count; ++i)
            batch.pieces[i] = {const_cast<std::uint8_t*>(datagrams[i].bytes.begin()),
                               static_cast<std::size_t>(datagrams[i].bytes.size())};
        batch.set(messages, first, count, datagrams[first].from.toSystem(batch.addresses[messages]));
        if (count > 1)
            batch.cutApart(messages, batch.pieces[first].iov_len);
        starts[++messages] = first + count;
    }
    int taken = ::sendmmsg(descriptor(), batch.messages.data(), messages, MSG_NOSIGNAL);
    count(&SocketCounters::writes);
    if (taken < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            count(&SocketCounters::blockedWrites);
            mayWrite_ = false;
            return 0;
        }
        if (starts[1] > 1) { // the kernel or the device cannot split datagrams
            maySendJoined_ = false;
            return 0;
        }
        return errno == EINTR ? 0 : 1; // the first datagram cannot be sent, so it is lost
    }
    std::size_t gone = starts[static_cast<std::size_t>(taken)];
    for (Datagram const& each : datagrams.first(gone))
        count(&SocketCounters::bytesWritten, static_cast<std::uint64_t>(each.bytes.size()));
    return gone;
}

void RealDatagramSocket::sendAll(std::span<Datagram> datagrams) {
    while (queue_.isEmpty() && mayWrite_ && !datagrams.empty())
        datagrams = datagrams.subspan(give(datagrams));
    for (Datagram& each : datagrams) {
        if (room().mark != 0)
            return; // drops the rest, as a kernel without room does
        noteWritten(static_cast<std::size_t>(each.bytes.size()));
        queue_.push(std::move(each));
    }
    if (!queue_.isEmpty())
        watch();
}

void RealDatagramSocket::changeGroup(Address const& group, unsigned interface, bool joins) {
    group_req request = {};
    request.gr_interface = interface;
    group.toSystem(request.gr_group);
    int level = group.isV4() ? IPPROTO_IP : IPPROTO_IPV6;
    int error = !isOpen() ? EBADF : group.isUnix() ? EINVAL : 0;
    // Without this option a socket also gets the datagrams to groups of other sockets of this machine.
    int off = 0;
    if (error == 0 && joins)
        ::setsockopt(descriptor(), level, group.isV4() ? IP_MULTICAST_ALL : IPV6_MULTICAST_ALL, &off, sizeof off);
    if (error == 0 &&
        ::setsockopt(descriptor(), level, joins ? MCAST_JOIN_GROUP : MCAST_LEAVE_GROUP, &request, sizeof request) != 0)
        error = errno;
    if (error == 0)
        return;
    std::string what = (joins ? "join " : "leave ") + group.toString() + format(" by interface %u", interface);
    throw withPieces(error == ENOBUFS || error == ENOMEM ? platform_error() : client_invalid_operation(),
                     {what, ": ", systemText(error)});
}

void RealDatagramSocket::flush() {
    while (isOpen() && mayWrite_ && !queue_.isEmpty()) {
        Datagram& first = queue_.front();
        auto size = static_cast<std::size_t>(first.bytes.size());
        if (give({&first, 1}) == 0)
            continue;
        queue_.pop();
        noteGone(size);
    }
    wakeDrains();
}

void RealDatagramSocket::onNews(News news) noexcept {
    count(&SocketCounters::news);
    if (news.readable) {
        mayRead_ = true;
        receiversMayTry();
    }
    if (news.writable) {
        mayWrite_ = true;
        if (!queue_.isEmpty())
            ask(Loop::current().priorityOfNews(TaskPriority::WriteSocket));
    }
}

void RealDatagramSocket::close() {
    if (!isOpen())
        return;
    takeBack();
    file_.remove();
    closeDescriptor();
    fail(operation_obsolete());
}

void RealDatagramSocket::onNetworkEnd() noexcept {
    takeBack();
    error_ = operation_obsolete();
    file_.remove();
    abandonWaiters();
    leaveNetwork();
}

} // namespace flow::net
