// UringPoller, the part for connections that are received ahead.
//
// The request of a connection lasts until it is cancelled, the connection has ended, or no buffer is left. Without a
// buffer, the next wait() takes buffers back, and then makes the request again. So a connection that receives much
// delays other connections, but they still make progress.

#include "flow/base/error.h"
#include "net/poll/detail/uring_poller.h"

#include <algorithm>
#include <cerrno>
#include <liburing.h>
#include <utility>

namespace flow::net {

bool UringPoller::canReceiveAhead() {
    if (buffers_ || !UringBuffers::areSupported())
        return buffers_ != nullptr;
    try {
        prepare();
        buffers_ = std::make_unique<UringBuffers>(*ring_);
        return true;
    } catch (Error&) { // the kernel supports the buffers, but has no memory for them
        return false;
    }
}

void UringPoller::receiveAhead(PolledDescriptor& descriptor) {
    if (!descriptor.isWatched()) {
        Slot& slot = freeSlot(descriptor);
        slot.isAhead = true;
        request(descriptor.descriptor(), descriptor.token | kReceives);
        slot.wantsBytes = slot.isReceiving = true;
        return occupy(slot, descriptor);
    }
    prepare();
    Slot& slot = *slotOf(descriptor.token);
    if (!slot.isReceiving) // otherwise the request is active, or is made again when it ends
        request(descriptor.descriptor(), descriptor.token | kReceives);
    slot.wantsBytes = slot.isReceiving = true;
}

void UringPoller::watchWriting(PolledDescriptor& descriptor) {
    prepare();
    Slot& slot = *slotOf(descriptor.token);
    if (!slot.isAhead || slot.isPolled)
        return;
    request(descriptor.descriptor(), descriptor.token);
    slot.isPolled = true;
}

/// Cancels the request, and takes its last event. Usually the kernel runs a request only in calls of this thread, so
/// the event is there after the call that cancels; otherwise this function waits for it.
void UringPoller::stopReceiving(PolledDescriptor& descriptor) noexcept {
    Slot* slot = descriptor.isWatched() ? slotOf(descriptor.token) : nullptr;
    if (slot && descriptor.listens() && !events_.needsDescriptor())
        return stopAccepting(*slot);
    if (!slot || !slot->isReceiving)
        return;
    slot->wantsBytes = false;
    if (std::erase(unreceived_, descriptor.token) != 0 || events_.needsDescriptor()) { // no request of this process
        slot->isReceiving = false;
        return;
    }
    cancel(descriptor.token | kReceives);
    takeAll();
    while (slot->isReceiving) {
        io_uring_cqe* any;
        ::io_uring_wait_cqe(ring_.get(), &any);
        takeAll();
    }
}

void UringPoller::noteReceived(UringNews const& news) noexcept {
    bool hasBuffer = UringBuffers::isIn(news);
    std::span<std::uint8_t const> bytes = hasBuffer ? buffers_->take(news) : std::span<std::uint8_t const>();
    Slot* slot = slotOf(news.id);
    bool isLast = !(news.flags & IORING_CQE_F_MORE);
    bool isNews = news.result != -ENOBUFS && news.result != -ECANCELED;
    if (!slot || !slot->descriptor) { // the descriptor was removed
        if (hasBuffer)
            buffers_->giveBack(UringBuffers::numberOf(news));
        return;
    }
    slot->isReceiving = !isLast;
    if (isNews) {
        PolledDescriptor& descriptor = *slot->descriptor;
        if (!descriptor.onReceived(bytes, -std::min(news.result, 0)))
            stop(*slot);
        if (hasBuffer)
            lend(descriptor, UringBuffers::numberOf(news));
    }
    if (isLast && slot->wantsBytes) {
        slot->isReceiving = true;
        unreceived_.push_back(slot->descriptor->token);
    }
}

/// Cancels the request before its buffers return to the kernel, which would fill them again for this connection.
void UringPoller::stop(Slot& slot) noexcept {
    if (std::exchange(slot.wantsBytes, false) && slot.isReceiving)
        cancel(slot.descriptor->token | kReceives);
}

void UringPoller::lend(PolledDescriptor& descriptor, unsigned buffer) noexcept {
    if (!descriptor.usesReceived())
        return buffers_->giveBack(buffer);
    try {
        lent_.push(Lent{descriptor.token, buffer});
    } catch (...) { // no memory for the Lent
        if (!descriptor.copyReceived())
            stop(*slotOf(descriptor.token));
        buffers_->giveBack(buffer);
    }
}

void UringPoller::takeBuffersBack(bool all) noexcept {
    while (!lent_.isEmpty()) {
        Lent first = lent_.front();
        Slot* slot = slotOf(first.token);
        if (slot && slot->descriptor && slot->descriptor->usesReceived()) {
            if (!all)
                return;
            if (!slot->descriptor->copyReceived())
                stop(*slot);
        }
        lent_.pop();
        buffers_->giveBack(first.buffer);
    }
}

void UringPoller::receiveAgain() noexcept {
    for (std::uint64_t token : unreceived_) {
        Slot* slot = slotOf(token);
        if (!slot || !slot->descriptor) // the descriptor was removed
            continue;
        slot->isReceiving = slot->wantsBytes;
        if (!slot->isReceiving)
            continue;
        try {
            request(slot->descriptor->descriptor(), token | kReceives);
        } catch (Error&) { // the ring takes no more requests
            slot->wantsBytes = slot->isReceiving = false;
            slot->descriptor->onReceived({}, ENOBUFS);
        }
    }
    unreceived_.clear();
}

} // namespace flow::net
