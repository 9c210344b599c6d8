#include "net/real/detached_connection.h"

#include "net/real/detail/real_connection.h"

#include <unistd.h>

namespace flow::net {

DetachedConnection::DetachedConnection(Reference<Connection> connection) {
    auto* real = dynamic_cast<RealConnection*>(connection.getPtr());
    if (!real)
        throw unsupported_operation().withSentence(
            "DetachedConnection: a connection with TLS, or of a simulation, cannot be moved");
    if (!real->isOpen())
        throw operation_obsolete();
    FLOW_ASSERT(!real->isReadWaitedFor() && !real->isDrainWaitedFor() && real->queue_.isEmpty(),
                "a connection is handed over while it is waited for, or with bytes that are not flushed");
    real->stopReceiving();
    if (real->behind_.isValid())
        throw real->behind_;
    peer_ = real->peer_;
    strategy_ = real->strategy_;
    received_.assign(real->received_.data(), real->received_.data() + real->received_.size());
    real->received_.clear();
    descriptor_ = real->release().release();
    real->close();
}

DetachedConnection::DetachedConnection(DetachedConnection&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), peer_(other.peer_), strategy_(other.strategy_),
      received_(std::move(other.received_)) {}

DetachedConnection::~DetachedConnection() {
    close();
}

void DetachedConnection::close() {
    if (descriptor_ >= 0)
        ::close(std::exchange(descriptor_, -1));
}

Reference<Connection> DetachedConnection::attach() {
    auto* network = dynamic_cast<RealNetwork*>(&transport());
    if (!network)
        throw unsupported_operation();
    FLOW_ASSERT(descriptor_ >= 0, "a DetachedConnection is attached twice");
    auto connection = makeReference<RealConnection>(*network, OpenDescriptor(std::exchange(descriptor_, -1)), peer_,
                                                    strategy_, Reference<FirstReads>());
    connection->received_.append(received_.data(), received_.size());
    return connection;
}

} // namespace flow::net
