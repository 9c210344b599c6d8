#pragma once
// Message: one or more parts of bytes, as they stand on the wire.
//
//     Message order("order");                          // one part
//     order.add("17").add(body);                       // three
//     order.parts();                                   // 3
//     order[1];                                        // "17"
//     for (std::string_view part : order) ...
//
//     Message request = co_await router.receive();
//     request.routingId();                             // of the peer that has sent it
//     Message answer = Message::to("ann");             // for a ROUTER: goes to the peer with this routing id
//     answer.add("42");
//
// Where ZeroMQ's ROUTER puts the routing id in front as a part, it is routingId() here, and not among the parts.
//
// Memory. A message that was received shares the memory into which its socket receives, up to 64 KiB with others, and
// keeps all of it as long as it or a copy lives. So what is kept for long is kept as own(), which has memory of its
// own. A copy shares; add() to one that shares copies first. Belongs to the thread of its socket's loop.

#include "flow/memory/reference.h"
#include "net/message/slab.h"
#include "net/message/zmtp.h"

#include <string>
#include <string_view>

namespace flow::net {

class Peer;

/// Where messages of a ROUTER come from and go to: a peer, or only a name.
struct Route : ReferenceCounted<Route> {
    explicit Route(std::string_view name) : id(name) {}
    std::string id;
    Peer* peer = nullptr; // null: gone, or not looked for yet
};

class Message {
public:
    static constexpr std::size_t kLargest = std::size_t{1} << 30; // bytes

    /// Without parts, which cannot be sent.
    Message() = default;
    explicit Message(std::string_view part) { add(part); }
    /// Without parts, to the peer with this routing id.
    static Message to(std::string_view routingId);

    /// One more part, a copy of these bytes. Throws value_too_large and std::bad_alloc; then nothing has changed.
    Message& add(std::string_view part) &;
    Message&& add(std::string_view part) && { return std::move(add(part)); }
    std::size_t parts() const { return parts_; }
    bool isEmpty() const { return parts_ == 0; }
    /// There must be so many. Takes time in proportion to the index.
    std::string_view operator[](std::size_t index) const;
    /// Bytes of all parts.
    std::size_t size() const;
    /// Of the peer that it was received from, or that it goes to; empty for all but ROUTERs.
    std::string_view routingId() const { return route_ ? std::string_view(route_->id) : std::string_view(); }
    /// The same with memory that no other message shares.
    Message own() const;

    class Iterator {
    public:
        using value_type = std::string_view;
        using difference_type = std::ptrdiff_t;
        explicit Iterator(char const* at) : at_(at) {}
        std::string_view operator*() const { return body(); }
        Iterator& operator++() {
            std::string_view part = body();
            at_ = part.data() + part.size();
            return *this;
        }
        friend bool operator==(Iterator a, Iterator b) { return a.at_ == b.at_; }

    private:
        std::string_view body() const {
            bool isLong = (*at_ & 2) != 0;
            std::size_t size = isLong ? zmtp::readBigEndian({at_ + 1, 8})
                                      : static_cast<std::size_t>(static_cast<unsigned char>(at_[1]));
            return {at_ + (isLong ? 9 : 2), size};
        }
        char const* at_;
    };
    Iterator begin() const { return Iterator(wire_); }
    Iterator end() const { return Iterator(wire_ + bytes_); }

    // Used by net/message.

    /// Frames that lie in a slab.
    Message(SlabRef slab, char const* wire, std::uint32_t bytes, std::uint32_t parts)
        : slab_(std::move(slab)), wire_(wire), bytes_(bytes), parts_(parts) {}
    /// The frames one after the other.
    std::string_view wire() const { return {wire_, bytes_}; }
    SlabRef const& slab() const { return slab_; }
    Reference<Route> const& route() const { return route_; }
    void setRoute(Reference<Route> route) { route_ = std::move(route); }
    /// The first parts, of which each says that more follow, and the others.
    Message front(std::size_t parts) const;
    Message behind(std::size_t parts) const;
    /// Such frames in front of a message, in memory of their own.
    static Message join(std::string_view frames, std::size_t parts, Message const& rest);

private:
    char const* frame(std::size_t index) const;

    SlabRef slab_;
    Reference<Route> route_;
    char const* wire_ = nullptr;
    std::uint32_t bytes_ = 0;
    std::uint32_t parts_ = 0;
};

} // namespace flow::net
