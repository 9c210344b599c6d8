#include "net/testing/connection_pair.h"

#include <algorithm>
#include <utility>

namespace flow::net {
namespace {

class MemoryConnection final : public Connection {
public:
    explicit MemoryConnection(std::uint16_t port) : port_(port) {}
    ~MemoryConnection() override {
        MemoryConnection::close();
        failWaiters();
    }
    static void join(MemoryConnection& one, MemoryConnection& other) {
        one.peer_ = &other;
        other.peer_ = &one;
    }

    Drain flushed() override { return {this, 0, Error()}; }
    void shutdownWrite() override {
        if (!std::exchange(writeEnded_, true) && peer_)
            peer_->noteEndOfPeer();
    }
    void close() override { leave(!arrived_.isEmpty() || !received_.isEmpty()); }
    void abort() override { leave(true); }
    Address localAddress() const override { return Address(0x7F000001, port_); }
    Address peerAddress() const override { return Address(0x7F000001, static_cast<std::uint16_t>(3 - port_)); }

private:
    bool fill(std::size_t wanted) noexcept override {
        std::size_t count = std::min(wanted, arrived_.size());
        if (count == 0) {
            ended_ = hasEnd_;
            return ended_;
        }
        received_.append(arrived_.data(), count);
        arrived_.consume(count);
        if (peer_) {
            peer_->noteGone(count);
            peer_->wakeDrains();
        }
        return true;
    }
    void send(std::span<Bytes> pieces) override {
        if (!peer_)
            return fail(connection_reset()); // as TCP does after a close() of the other side
        for (Bytes const& each : pieces) {
            peer_->arrived_.append(each);
            noteWritten(static_cast<std::size_t>(each.size()));
        }
        peer_->readersMayTry();
    }
    void noteEndOfPeer() {
        hasEnd_ = true;
        readersMayTry();
    }
    void leave(bool isReset) {
        if (MemoryConnection* peer = std::exchange(peer_, nullptr)) {
            peer->peer_ = nullptr;
            if (isReset)
                peer->fail(connection_reset());
            else
                peer->noteEndOfPeer();
        }
        fail(operation_obsolete());
    }

    std::uint16_t port_;
    MemoryConnection* peer_ = nullptr; // null when one side has closed
    ByteBuffer arrived_;               // written bytes that fill() has not taken
    bool hasEnd_ = false;              // no bytes follow arrived_
};

} // namespace

ConnectionPair connectionPair() {
    auto first = makeReference<MemoryConnection>(std::uint16_t(1));
    auto second = makeReference<MemoryConnection>(std::uint16_t(2));
    MemoryConnection::join(*first, *second);
    return {first, second};
}

} // namespace flow::net
