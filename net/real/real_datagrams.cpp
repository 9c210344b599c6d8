#include "net/real/real_datagrams.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace flow::net {
namespace {

constexpr std::size_t kRoom = 65536; // for one datagram

/// What a call for many datagrams needs.
struct Batch {
    std::array<mmsghdr, RealDatagramSocket::kBatch> messages = {};
    std::array<iovec, RealDatagramSocket::kBatch> pieces;
    std::array<sockaddr_storage, RealDatagramSocket::kBatch> addresses;

    void set(std::size_t i, void* bytes, std::size_t size, unsigned addressSize) {
        pieces[i] = {bytes, size};
        msghdr& header = messages[i].msg_hdr;
        header = {};
        header.msg_iov = &pieces[i];
        header.msg_iovlen = 1;
        header.msg_name = &addresses[i];
        header.msg_namelen = addressSize;
    }
};

/// Where all sockets of a thread receive; pages that are not used take no memory.
std::uint8_t* roomForBatch() {
    static thread_local std::unique_ptr<std::uint8_t[]> room;
    if (!room)
        room = std::make_unique_for_overwrite<std::uint8_t[]>(RealDatagramSocket::kBatch * kRoom);
    return room.get();
}

} // namespace

RealDatagramSocket::RealDatagramSocket(RealNetwork& network, int descriptor, Address const& at, ReadStrategy strategy)
    : RealSocket(network, descriptor), Turn([](Turn& self) { static_cast<RealDatagramSocket&>(self).flush(); }),
      at_(at), strategy_(strategy) {}

bool RealDatagramSocket::fill() noexcept {
    if (!isOpen() || !(mayRead_ || strategy_ == ReadStrategy::Speculative))
        return false;
    try {
        std::uint8_t* room = roomForBatch();
        Batch batch;
        for (unsigned i = 0; i < kBatch; ++i)
            batch.set(i, room + i * kRoom, kRoom, sizeof(sockaddr_storage));
        int got = ::recvmmsg(descriptor(), batch.messages.data(), kBatch, MSG_DONTWAIT, nullptr);
        count(&SocketCounters::reads);
        if (got < 0) {
            if (errno == EINTR)
                return fill();
            if (errno == EAGAIN || errno == EWOULDBLOCK) {
                count(&SocketCounters::emptyReads);
                mayRead_ = false;
            }
            return false; // what an earlier datagram has met with is nobody's error; the next call finds the next one
        }
        mayRead_ = got == static_cast<int>(kBatch);
        for (int i = 0; i < got; ++i) {
            auto at = static_cast<std::size_t>(i);
            mmsghdr const& message = batch.messages[at];
            count(&SocketCounters::bytesRead, message.msg_len);
            auto from =
                Address::fromSystem(reinterpret_cast<sockaddr*>(&batch.addresses[at]), message.msg_hdr.msg_namelen);
            received_.push(
                Datagram{from.value_or(Address()), StringRef(room + at * kRoom, static_cast<int>(message.msg_len))});
        }
        return got > 0;
    } catch (...) { // no memory: they are lost, as datagrams may be
        return !received_.isEmpty();
    }
}

std::size_t RealDatagramSocket::give(std::span<Datagram> datagrams) {
    Batch batch;
    auto size = std::min<std::size_t>(datagrams.size(), kBatch);
    for (std::size_t i = 0; i < size; ++i) {
        Datagram& each = datagrams[i];
        unsigned addressSize = each.from.toSystem(batch.addresses[i]);
        batch.set(i, const_cast<std::uint8_t*>(each.bytes.begin()), static_cast<std::size_t>(each.bytes.size()),
                  addressSize);
    }
    int taken = ::sendmmsg(descriptor(), batch.messages.data(), static_cast<unsigned>(size), MSG_NOSIGNAL);
    count(&SocketCounters::writes);
    if (taken < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            count(&SocketCounters::blockedWrites);
            mayWrite_ = false;
            return 0;
        }
        return errno == EINTR ? 0 : 1; // the first cannot be sent: it is lost
    }
    for (int i = 0; i < taken; ++i)
        count(&SocketCounters::bytesWritten,
              static_cast<std::uint64_t>(datagrams[static_cast<std::size_t>(i)].bytes.size()));
    return static_cast<std::size_t>(taken);
}

void RealDatagramSocket::sendAll(std::span<Datagram> datagrams) {
    while (queue_.isEmpty() && mayWrite_ && !datagrams.empty())
        datagrams = datagrams.subspan(give(datagrams));
    for (Datagram& each : datagrams) {
        if (room().mark != 0)
            return; // as a machine drops what it has no room for
        noteWritten(static_cast<std::size_t>(each.bytes.size()));
        queue_.push(std::move(each));
    }
    if (!queue_.isEmpty())
        watch();
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
            ask(TaskPriority::WriteSocket);
    }
}

void RealDatagramSocket::close() {
    if (!isOpen())
        return;
    takeBack();
    closeDescriptor();
    fail(operation_obsolete());
}

void RealDatagramSocket::onNetworkEnd() noexcept {
    takeBack();
    error_ = operation_obsolete();
    forsakeWaiters();
    leaveNetwork();
}

} // namespace flow::net
