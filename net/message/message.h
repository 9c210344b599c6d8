#pragma once
// Message: one or more parts of bytes.
//
//     Message order("order");                          // one part
//     order.add("17").add(body);                       // three
//     order.parts();                                   // 3
//     order[1];                                        // "17"
//     for (std::string_view part : order) ...
//
//     Message request = co_await router.receive();
//     request.routingId();                             // the name of the peer that has sent it
//     Message answer = Message::to("ann");             // for a ROUTER: goes to the peer "ann"
//     answer.add("42");
//
// In ZeroMQ, the first part of a ROUTER's message is the routing id. Here the id is no part: see routingId().
//
// Memory. Received messages share a receive buffer. Each message keeps the whole buffer alive. The buffer has 64 KiB.
// For messages above 8 KiB, it has up to eight times their size, rounded up to a power of two. It exceeds 512 KiB only
// if a single message needs more. To keep a message for long, keep the copy from own(). Copies of a Message share
// memory; add() copies shared memory first. A message belongs to the thread of its socket's loop.

#include "flow/memory/reference.h"
#include "net/message/detail/slab.h"
#include "net/message/detail/zmtp.h"

#include <string>
#include <string_view>

namespace flow::net {

class Peer;

/// The source or destination of a ROUTER's messages: a peer, or only a routing id.
struct Route : ReferenceCounted<Route> {
    explicit Route(std::string_view name) : id(name) {}
    std::string id;
    Peer* peer = nullptr; // null: disconnected, or not looked up yet
};

class Message {
public:
    static constexpr std::size_t kLargest = std::size_t{1} << 30; // bytes

    /// Makes a message without parts, which cannot be sent.
    Message() = default;
    explicit Message(std::string_view part) { add(part); }
    /// Makes a message to the peer with `routingId`, still without parts.
    static Message to(std::string_view routingId);

    /// Adds a copy of `part`. If it throws value_too_large or std::bad_alloc, the message is unchanged.
    Message& add(std::string_view part) &;
    Message&& add(std::string_view part) && { return std::move(add(part)); }
    std::size_t parts() const { return parts_; }
    bool isEmpty() const { return parts_ == 0; }
    /// Returns the part at `index`, which must exist. Takes O(index) time.
    std::string_view operator[](std::size_t index) const;
    /// Returns the number of bytes of all parts. Not named size(), because operator[] and begin() count parts.
    std::size_t bytes() const;
    /// Returns the routing id of the sender or receiver; "" if the socket is no ROUTER.
    std::string_view routingId() const { return route_ ? std::string_view(route_->id) : std::string_view(); }
    /// Returns a copy that shares no memory.
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

    // Only net/message uses these functions.

    /// Makes a message of the frames at `wire` in the slab.
    Message(SlabRef slab, char const* wire, std::uint32_t bytes, std::uint32_t parts)
        : slab_(std::move(slab)), wire_(wire), bytes_(bytes), parts_(parts) {}
    std::string_view wire() const { return {wire_, bytes_}; }
    SlabRef const& slab() const { return slab_; }
    Reference<Route> const& route() const { return route_; }
    void setRoute(Reference<Route> route) { route_ = std::move(route); }
    /// Returns the first `parts` parts, each with the "more" flag. behind() returns the others.
    Message front(std::size_t parts) const;
    Message behind(std::size_t parts) const;
    /// Copies the `parts` parts in `frames`, and then the parts of `rest`, into a new message.
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
