#pragma once
// PolledDescriptor: a file descriptor that a poller watches: a socket, a pipe.

#include "flow/base/intrusive_list.h"
#include "net/counters.h"

#include <cstdint>
#include <span>

namespace flow::net {

/// An event of a descriptor. A failure is reported as both: reading and writing return the error.
struct News {
    bool readable = false;
    bool writable = false;
    bool ended = false; // the other side has ended its writing, or the connection has ended: reading will reach the end
    bool isSure = false; // the next read finds bytes, the end or an error
};

/// Watched from add() on. The poller calls onNews() inside its wait, so onNews() only records the event and requests a
/// turn.
class PolledDescriptor {
public:
    explicit PolledDescriptor(int descriptor) : descriptor_(descriptor) {}
    PolledDescriptor(PolledDescriptor const&) = delete;
    PolledDescriptor& operator=(PolledDescriptor const&) = delete;

    int descriptor() const { return descriptor_; }
    /// Set by its poller: its id in the kernel.
    std::uint64_t token = 0;
    bool isWatched() const { return place_.isLinked(); }

    virtual void onNews(News news) noexcept = 0;
    /// True if it listens. Then a poller that can accept calls onAccepted(); any other reports it as readable.
    virtual bool listens() const { return false; }
    /// A connection, non-blocking, that it owns from now on. Called like onNews(). False: to stop accepting;
    /// connections accepted meanwhile still come, and later ones make it readable.
    virtual bool onAccepted(int) noexcept { return false; }

    // After NetworkPoller::receiveAhead(). False: to stop receiving; bytes that the kernel has taken by then still
    // come.

    /// Received bytes, which stay where they are until copyReceived(); none: the end, or that error (errno) of the
    /// connection. Called like onNews().
    virtual bool onReceived(std::span<std::uint8_t const>, [[maybe_unused]] int error) noexcept { return false; }
    /// True while it still uses memory of onReceived().
    virtual bool usesReceived() const { return false; }
    /// Copies the unread bytes: from here on it must not use that memory.
    virtual bool copyReceived() noexcept { return false; }

    /// True if an operation waits for its events, so that the loop must not end.
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

/// The descriptors that a poller watches.
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
    /// Calls call(descriptor) for each.
    template <class Call>
    void forEach(Call&& call) {
        for (auto* link = list_.next; link != &list_;) {
            PolledDescriptor& each = *static_cast<PolledDescriptor::Place*>(link)->owner;
            link = link->next;
            call(each);
        }
    }
    /// True if one of them is awaited. Moves that one to the front, so that the next call is fast.
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
