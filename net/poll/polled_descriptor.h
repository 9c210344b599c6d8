#pragma once
// PolledDescriptor: something of the kernel's that a poller watches: a socket, a pipe.

#include "flow/base/intrusive_list.h"
#include "net/counters.h"

#include <cstdint>

namespace flow::net {

/// What a poller has to say about a descriptor. A failure comes as both: reading and writing find out what it is.
struct News {
    bool readable = false;
    bool writable = false;
    bool ended = false; // the other side has ended its writing, or all is over: reading comes to an end
};

/// Watched from add() on. The poller calls onNews() from inside its wait: it only notes and asks for a turn.
class PolledDescriptor {
public:
    explicit PolledDescriptor(int descriptor) : descriptor_(descriptor) {}
    PolledDescriptor(PolledDescriptor const&) = delete;
    PolledDescriptor& operator=(PolledDescriptor const&) = delete;

    int descriptor() const { return descriptor_; }
    /// By its poller: what names it to the kernel.
    std::uint64_t token = 0;
    bool isWatched() const { return place_.isLinked(); }

    virtual void onNews(News news) noexcept = 0;
    /// Whether somebody waits for its news, so that the loop must not end.
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

/// Those that a poller watches.
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
    /// Whether one of them is awaited. That one comes first, so that the next question is answered at once.
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
