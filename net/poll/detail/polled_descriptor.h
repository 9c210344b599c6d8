#pragma once
// PolledDescriptor: a file descriptor that a poller watches, for example of a socket or a pipe.

#include "flow/base/intrusive_list.h"
#include "net/counters.h"

#include <cstdint>
#include <span>

namespace flow::net {

/// An event of a descriptor. A failure is reported as readable and writable: reading and writing then return the error.
struct News {
    bool readable = false;
    bool writable = false;
    bool ended = false; // the other side has ended its writing, or the connection has ended: reading will reach the end
    bool isSure = false; // the next read finds bytes, the end or an error
};

/// A descriptor that a poller watches after add(). The poller calls onNews() inside its wait, so onNews() must only
/// record the event and request a turn.
class PolledDescriptor {
public:
    explicit PolledDescriptor(int descriptor) : descriptor_(descriptor) {}
    PolledDescriptor(PolledDescriptor const&) = delete;
    PolledDescriptor& operator=(PolledDescriptor const&) = delete;

    int descriptor() const { return descriptor_; }
    /// The id of this descriptor for the kernel. Set by the poller.
    std::uint64_t token = 0;
    bool isWatched() const { return place_.isLinked(); }

    virtual void onNews(News news) noexcept = 0;
    /// True if the descriptor listens. Then some pollers accept, and call onAccepted() instead of onNews().
    virtual bool listens() const { return false; }
    /// Takes ownership of the non-blocking descriptor of a new connection. Called like onNews(). Returns false to stop
    /// accepting: connections that are accepted already still come, later ones make this descriptor readable.
    virtual bool onAccepted(int) noexcept { return false; }

    // The poller calls these functions after NetworkPoller::receiveAhead(). onReceived() and copyReceived() return
    // false to stop receiving; bytes that the kernel has already taken still come.

    /// Takes received bytes, which stay in the poller's memory until copyReceived(). If there are no bytes, the
    /// connection has ended, or has failed with `error` (errno). Called like onNews().
    virtual bool onReceived(std::span<std::uint8_t const>, [[maybe_unused]] int error) noexcept { return false; }
    /// True while the connection still uses bytes in the poller's memory.
    virtual bool usesReceived() const { return false; }
    /// Copies the unread bytes. After that the connection must not use the poller's memory.
    virtual bool copyReceived() noexcept { return false; }

    /// Called when the poller ends: it has removed this descriptor, and will report nothing more.
    virtual void onPollerEnd() noexcept {}
    /// True if an operation waits for events of the descriptor. Then the loop must not end.
    virtual bool isAwaited() const = 0;

protected:
    ~PolledDescriptor() = default;
    int descriptor_; // -1: closed

private:
    friend class PolledDescriptorList;
    struct Place : ListLink {
        PolledDescriptor* owner;
    } place_{{nullptr, nullptr}, this};
};

class PolledDescriptorList {
public:
    PolledDescriptorList() { list_.reset(); }

    void add(PolledDescriptor& descriptor) {
        pushFront(list_, descriptor.place_);
        ++size_;
    }
    void remove(PolledDescriptor& descriptor) {
        descriptor.place_.unlink();
        --size_;
    }
    std::size_t size() const { return size_; }
    template <class Call>
    void forEach(Call&& call) {
        for (auto* link = list_.next; link != &list_;) {
            PolledDescriptor& each = *static_cast<PolledDescriptor::Place*>(link)->owner;
            link = link->next;
            call(each);
        }
    }
    /// True if a descriptor is awaited. Moves this descriptor to the front, so that the next call is fast.
    bool isAwaited() {
        for (auto* link = list_.next; link != &list_; link = link->next)
            if (static_cast<PolledDescriptor::Place*>(link)->owner->isAwaited()) {
                link->unlink();
                pushFront(list_, *link);
                return true;
            }
        return false;
    }

private:
    ListLink list_;
    std::size_t size_ = 0;
};

} // namespace flow::net
