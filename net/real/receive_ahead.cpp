// The functions of RealConnection for ReadStrategy::Ahead.

#include "net/real/detail/real_connection.h"

namespace flow::net {

void RealConnection::receiveAhead() {
    if (isAhead_)
        return;
    poller().receiveAhead(*this);
    isAhead_ = true;
}

void RealConnection::stopReceiving() noexcept {
    if (!isAhead_ || !isOpen())
        return;
    poller().stopReceiving(*this);
    isAhead_ = false;
}

bool RealConnection::fillAhead() noexcept {
    if (!isOpen())
        return false;
    try {
        if (behind_.isValid())
            throw Error(behind_);
        if (isWatched()) // starts again, if the kernel has stopped receiving
            receiveAhead();
        return false;
    } catch (...) {
        failReading(currentError());
        return true;
    }
}

bool RealConnection::onReceived(std::span<std::uint8_t const> bytes, int error) noexcept {
    count(&SocketCounters::arrivals);
    if (behind_.isValid()) // after an error or lost bytes, later bytes are useless
        return false;
    count(&SocketCounters::bytesRead, bytes.size());
    bool isNextTo = received_.isBorrowed() && received_.data() + received_.size() == bytes.data();
    if (error != 0)
        behind_ = errorOfSystem(error);
    else if (bytes.empty())
        ended_ = true;
    else if (received_.isEmpty())
        received_.borrow(bytes.data(), bytes.size());
    else if (isNextTo)
        received_.borrow(received_.data(), received_.size() + bytes.size());
    else
        keep(bytes);
    readersMayTry();
    return isAhead_ = isAhead_ && !ended_ && !behind_.isValid() && received_.size() < kMostAhead;
}

bool RealConnection::copyReceived() noexcept {
    keep({});
    return isAhead_ = isAhead_ && !behind_.isValid() && received_.size() < kMostAhead;
}

/// Appends the bytes to received_, and makes received_ own all its bytes. If memory is missing, sets behind_.
void RealConnection::keep(std::span<std::uint8_t const> bytes) noexcept {
    try {
        received_.append(bytes.data(), bytes.size());
    } catch (...) {
        received_.clear();
        behind_ = currentError();
    }
}

} // namespace flow::net
