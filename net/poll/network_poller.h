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
    /// to `before` are reported again. If it throws platform_error, neither is watched.
    virtual void replace(PolledDescriptor& before, PolledDescriptor& after) = 0;

    /// Returns true if receiveAhead() works.
    virtual bool canReceiveAhead() { return false; }
    /// Starts, or starts again, to receive bytes before a read asks for them; they go to onReceived(). The descriptor
    /// is a connected socket that was not added. It is watched from now on, but not for writing. Throws platform_error.
    virtual void receiveAhead(PolledDescriptor&) {}
    /// Stops what receiveAhead() started. When this returns, all bytes that the kernel has taken have been reported.
    virtual void stopReceiving(PolledDescriptor&) noexcept {}
    /// Also reports when the descriptor, which is received ahead, can be written. Throws platform_error.
    virtual void watchWriting(PolledDescriptor&) {}

    virtual char const* name() const = 0;

    bool isWaitedFor() override { return watched_.isAwaited(); }
    bool isUsed() const override { return watched_.size() != 0; }
    PollCounters const& counters() const { return counters_; }

protected:
    PolledDescriptorList watched_;
    PollCounters counters_;
};

/// Returns true if this build has io_uring, and the kernel lets the program use it. The first call tries it out.
bool hasUring();

/// Makes the poller that the environment variable FLOW_POLLER names: epoll or uring. The default is epoll, also where
/// io_uring works: bench/docs/results.md has figures. (listenMany() and bindMany() use io_uring where it works, since
/// there it is faster.)
std::unique_ptr<NetworkPoller> makePoller();

} // namespace flow::net
