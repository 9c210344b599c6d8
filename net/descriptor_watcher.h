#pragma once
// DescriptorWatcher: the part of a loop that reports events of FileDescriptors (net/file_descriptor.h), such as the
// poller of a RealLoop. In a simulation a test provides a stand-in, and decides when its descriptors are ready:
//
//     struct StandIn final : net::DescriptorWatcher {
//         net::PolledDescriptor* asked = nullptr;
//         int watchOnce(net::PolledDescriptor& descriptor, net::Wanted) override { return asked = &descriptor, 0; }
//         void remove(net::PolledDescriptor&) override { asked = nullptr; }
//     };
//     StandIn standIn;
//     Loop::current().provide<net::DescriptorWatcher>(&standIn);
//     Future<Void> reading = readFromLibrary(7);                    // waits for FileDescriptor(7).readable()
//     standIn.asked->onNews({.readable = true});                    // and goes on in a turn of its own
//
// It belongs to the loop's thread, and must outlive every FileDescriptor that has waited on its loop.

#include "net/poll/detail/polled_descriptor.h"

#include <cerrno>

namespace flow::net {

/// The events of a request.
struct Wanted {
    bool reading = false, writing = false;
    bool isAny() const { return reading || writing; }
    friend bool operator==(Wanted const&, Wanted const&) = default;
};

class DescriptorWatcher {
public:
    /// Asks for one call of descriptor.onNews(), as soon as one of the wanted events is true; it may be true already.
    /// The request replaces an earlier one that has not been answered. Returns 0, or the errno of the kernel's refusal:
    /// EPERM if the kernel cannot wait for such a file, because the file is always ready; EEXIST if another object of
    /// this loop waits for the file. Throws platform_error and std::bad_alloc.
    [[nodiscard]] virtual int watchOnce(PolledDescriptor& descriptor, Wanted wanted) = 0;
    /// Like watchOnce(), but onNews() is called each time when the loop asks the kernel and one of these events is
    /// true, until the next request. Returns ENOTSUP if the watcher has no such requests.
    [[nodiscard]] virtual int watch(PolledDescriptor&, Wanted) { return ENOTSUP; }
    /// Ends the request, if there is one, and leaves nothing of the descriptor in the kernel.
    virtual void remove(PolledDescriptor& descriptor) = 0;
    /// True if the last request was for this descriptor, and watchOnce() fails with ENOENT when another file has got
    /// the descriptor's number since then.
    virtual bool noticesReuse(PolledDescriptor const&) const { return true; }

protected:
    ~DescriptorWatcher() = default;
};

} // namespace flow::net
