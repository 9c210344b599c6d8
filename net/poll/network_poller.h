#pragma once
// NetworkPoller: a poller that watches descriptors.
//
//     auto poller = makePoller();           // as FLOW_POLLER says
//     poller->add(descriptor);              // from here on descriptor.onNews() is called when something changes
//     poller->remove(descriptor);           // before the descriptor is closed
//
// A descriptor is watched for both reading and writing, and is reported once for each change (edge-triggered): after
// a report, read until a read is short, and write until a write is short.

#include "flow/loop/poller.h"
#include "net/poll/detail/polled_descriptor.h"

#include <memory>

namespace flow::net {

class NetworkPoller : public Poller {
public:
    /// Watches `descriptor` from here on. Throws platform_error if the kernel has no room for it.
    virtual void add(PolledDescriptor& descriptor) = 0;
    virtual void remove(PolledDescriptor& descriptor) = 0;
    /// Watches `after`, which now has the file descriptor of `before`, instead of `before`. Events that were reported
    /// to `before` are reported again. If this throws platform_error, neither `before` nor `after` is watched.
    virtual void replace(PolledDescriptor& before, PolledDescriptor& after) = 0;

    /// Returns true if receiveAhead() works.
    virtual bool canReceiveAhead() { return false; }
    /// Starts, or starts again, to receive bytes before a read asks for bytes, and passes them to onReceived(). Do not
    /// call add() for this connected socket: it is watched from now on, but not for writing. Throws platform_error.
    virtual void receiveAhead(PolledDescriptor&) {}
    /// Stops receiving. When the function returns, onReceived() has got all bytes that the kernel has taken.
    virtual void stopReceiving(PolledDescriptor&) noexcept {}
    /// Watches a descriptor of receiveAhead() for writing too. Throws platform_error.
    virtual void watchWriting(PolledDescriptor&) {}

    virtual char const* name() const = 0;

    bool isWaitedFor() override { return watched_.isAwaited(); }
    bool isUsed() const override { return watched_.size() != 0; }
    PollCounters const& counters() const { return counters_; }

protected:
    PolledDescriptorList watched_;
    PollCounters counters_;
};

/// Returns true if this build has io_uring, and the kernel lets the program use it. The first call tries io_uring.
bool hasUring();

/// Makes the poller that the environment variable FLOW_POLLER names: epoll or uring. The default is epoll, even if
/// io_uring works: bench/docs/results.md has figures. (listenMany() and bindMany() use io_uring if it works, because
/// io_uring makes these two functions faster.)
std::unique_ptr<NetworkPoller> makePoller();

} // namespace flow::net
