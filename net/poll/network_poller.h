#pragma once
// NetworkPoller: a poller that watches descriptors.
//
//     auto poller = makePoller();           // as FLOW_POLLER says
//     poller->add(descriptor);              // from here on each change calls descriptor.onNews()
//     poller->remove(descriptor);           // before the descriptor is closed
//
// A descriptor is watched for reading and writing, and each change is reported once (edge-triggered): after a report,
// read until a read is short, and write until a write is short. A descriptor of another library is not added:
// watchOnce() (net/descriptor_watcher.h) reports one event, by level.

#include "flow/loop/poller.h"
#include "net/descriptor_watcher.h"

#include <memory>

namespace flow::net {

class NetworkPoller : public Poller, public DescriptorWatcher {
public:
    /// Throws platform_error if the kernel has no room for `descriptor`.
    virtual void add(PolledDescriptor& descriptor) = 0;
    void remove(PolledDescriptor& descriptor) override = 0;
    /// Removes all descriptors, and calls their onPollerEnd().
    void removeAll() noexcept;
    /// Watches `after`, which has taken the file descriptor of `before`, instead of `before`, and reports earlier
    /// events again. If this throws platform_error, neither is watched.
    virtual void replace(PolledDescriptor& before, PolledDescriptor& after) = 0;

    virtual bool canReceiveAhead() { return false; }
    /// Starts, or restarts, receiving ahead of the reads, and passes the bytes to onReceived(). Do not call add() for
    /// this connected socket: it is watched from now on, but not for writing. Throws platform_error.
    virtual void receiveAhead(PolledDescriptor&) {}
    /// Stops receiving, or accepting. On return, all bytes or connections that the kernel has taken were passed to
    /// onReceived() or onAccepted().
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

/// True if this build has io_uring, and the kernel lets the program use it. The first call tries io_uring.
bool hasUring();

/// Makes the poller that the environment variable FLOW_POLLER names: epoll (the default: bench/docs/results.md has
/// figures) or uring. (listenMany() and bindMany() use io_uring if it works, because it makes them faster.)
std::unique_ptr<NetworkPoller> makePoller();

} // namespace flow::net
