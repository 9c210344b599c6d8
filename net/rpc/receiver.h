#pragma once
// MessageReceiver: what a message is delivered to: a stream of requests, or whoever waits for a reply. EndpointTable:
// those of this process, by their tokens. Used by net/rpc alone.

#include "flow/base/uid.h"
#include "flow/core/future.h"
#include "flow/memory/object.h"
#include "net/rpc/frame.h"

#include <vector>

namespace flow::net {

class RpcPeer;

/// What a message is read or written within: the context of its ObjectReader or ObjectWriter.
struct MessageContext {
    RpcPeer* peer;          // where it comes from, or goes to
    std::uint64_t reply{0}; // where the reply to it goes
    Future<Void> pause{};   // set by the receiver: nothing more is read from there before that is ready
};

class MessageReceiver {
public:
    MessageReceiver(MessageReceiver const&) = delete;
    MessageReceiver& operator=(MessageReceiver const&) = delete;
    virtual ~MessageReceiver() = default;

    /// Reads the message, and lets whom it concerns go on in another turn. Throws an Error if the bytes are none.
    virtual void receive(ObjectReader& reader, MessageContext& context) = 0;
    /// Who alone may send to it; null: whoever has the token.
    virtual RpcPeer const* onlyFrom() const { return nullptr; }
    /// The address of something that stands for the type of its messages.
    virtual void const* typeKey() const { return nullptr; }

protected:
    MessageReceiver() = default;
};

class EndpointTable {
public:
    /// A new token of which the first half is random, so that nobody guesses it.
    UID add(MessageReceiver& receiver);
    /// The number of a place for a reply: of a token whose first half is 0.
    std::uint64_t addReply(MessageReceiver& receiver) { return put(receiver, 0); }
    /// False if the number is taken, negative, or above kLargestNumber.
    bool addWellKnown(MessageReceiver& receiver, int number);
    static constexpr int kLargestNumber = 100'000;
    /// The token is no endpoint from here on, and never again.
    void remove(UID token);
    void removeReply(std::uint64_t number) { remove(UID(0, number)); }

    /// Null if there is none.
    MessageReceiver* find(UID token) const {
        if (token.first() == kWellKnown) {
            std::uint64_t number = token.second();
            return number < wellKnown_.size() ? wellKnown_[number] : nullptr;
        }
        auto index = static_cast<std::uint32_t>(token.second());
        if (index >= slots_.size())
            return nullptr;
        Slot const& slot = slots_[index];
        return slot.generation == token.second() >> 32 && slot.first == token.first() ? slot.receiver : nullptr;
    }
    std::size_t size() const { return used_; }

private:
    struct Slot {
        MessageReceiver* receiver;
        std::uint64_t first;
        std::uint32_t generation;
        std::uint32_t nextFree;
    };
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    std::uint64_t put(MessageReceiver& receiver, std::uint64_t first);

    std::vector<Slot> slots_;
    std::uint32_t free_ = kNone;
    std::size_t used_ = 0;
    std::vector<MessageReceiver*> wellKnown_;
};

} // namespace flow::net
