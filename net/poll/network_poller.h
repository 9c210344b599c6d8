#pragma once
// NetworkPoller: a poller that watches descriptors.
//
//     auto poller = makePoller();           // as FLOW_POLLER says
//     poller->add(descriptor);              // from here on its onNews() is called when something changes
//     poller->remove(descriptor);           // before the descriptor is closed
//
// A descriptor is watched for reading and writing at once, and is reported once for each change (edge-triggered): after
// a report, read until a read is short, and write until a write is short.

#include "flow/loop/poller.h"
#include "net/poll/polled_descriptor.h"

#include <memory>

namespace flow::net {

class NetworkPoller : public Poller {
public:
    /// Throws platform_error if the kernel has no room for it.
    virtual void add(PolledDescriptor& descriptor) = 0;
    virtual void remove(PolledDescriptor& descriptor) = 0;
    /// Replaces `before`; `after` now has its descriptor. Events that were reported to `before` are reported again.
    /// Throws platform_error; then neither is watched.
    virtual void replace(PolledDescriptor& before, PolledDescriptor& after) = 0;

    /// True if receiveAhead() works.
    virtual bool canReceiveAhead() { return false; }
    /// From now on, or again, bytes are received before a read asks for them, and go to onReceived(). The descriptor is
    /// a connected socket that was not added, and is watched now, but not for writing. Throws platform_error.
    virtual void receiveAhead(PolledDescriptor&) {}
    /// Stops that. When this returns, all bytes that the kernel has taken have been reported.
    virtual void stopReceiving(PolledDescriptor&) noexcept {}
    /// Reports also when this one can be written. Throws platform_error.
    virtual void watchWriting(PolledDescriptor&) {}

    virtual char const* name() const = 0;

    bool isWaitedFor() override { return watched_.isAwaited(); }
    bool isUsed() const override { return watched_.size() != 0; }
    PollCounters const& counters() const { return counters_; }

protected:
    PolledDescriptorList watched_;
    PollCounters counters_;
};

/// True if this build has io_uring, and the kernel lets the program use it. It tries, once.
bool hasUring();

/// The poller that the environment variable FLOW_POLLER names: epoll or uring. Without it, epoll, also where there is
/// io_uring: bench/docs/results.md has figures. (listenMany() and bindMany() use io_uring where it works, since there
/// it is faster.)
std::unique_ptr<NetworkPoller> makePoller();

} // namespace flow::net
