#pragma once
// MessageReceiver: the receiver of messages: a stream of requests, or the waiter for a reply. EndpointTable: the
// receivers of this process, by token. Used by net/rpc alone.

#include "flow/base/uid.h"
#include "flow/core/future.h"
#include "flow/memory/object.h"
#include "net/rpc/wire_format.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace flow::net {

class RpcPeer;

/// The context of a message: of its ObjectReader or ObjectWriter.
struct MessageContext {
    RpcPeer* peer;          // the other process
    std::uint64_t reply{0}; // the place for the reply
    Future<Void> pause{};   // set by a receiver that has not taken the message: when this is ready, it gets it again
};

class MessageReceiver {
public:
    MessageReceiver(MessageReceiver const&) = delete;
    MessageReceiver& operator=(MessageReceiver const&) = delete;
    virtual ~MessageReceiver() = default;

    /// Reads the message, and resumes its waiter in another turn. Throws an Error if the bytes are no such message.
    virtual void receive(ObjectReader& reader, MessageContext& context) = 0;
    /// The only peer that may send to it; null: any peer with the token.
    virtual RpcPeer const* onlyFrom() const { return nullptr; }
    /// An address that identifies the type of its messages.
    virtual void const* typeKey() const { return nullptr; }

protected:
    MessageReceiver() = default;
};

namespace rpc {
/// The sentence for a name that cannot be added since another one, or it itself, has its hash.
std::string whyTaken(std::string_view name, std::string_view other);
} // namespace rpc

class EndpointTable {
public:
    /// A new token with a random first half, so that it cannot be guessed.
    UID add(MessageReceiver& receiver);
    /// The number of a place for a reply: of a token with a first half of 0.
    std::uint64_t addReply(MessageReceiver& receiver) { return put(receiver, 0); }
    /// False if the number is taken, negative, or above kLargestNumber.
    bool addWellKnown(MessageReceiver& receiver, int number);
    static constexpr int kLargestNumber = 100'000;
    /// Adds a receiver with that hash of its name. Returns the name that has the hash already, if there is one.
    std::string const* addNamed(MessageReceiver& receiver, std::uint64_t hash, std::string_view name);
    /// Removes the token for good.
    void remove(UID token);
    void removeReply(std::uint64_t number) { remove(UID(0, number)); }

    /// Null if there is none.
    MessageReceiver* find(UID token) const {
        if (token.first() == kWellKnown) {
            std::uint64_t number = token.second();
            return number < wellKnown_.size() ? wellKnown_[number] : nullptr;
        }
        if (token.first() == kNamed) {
            auto found = named_.find(token.second());
            return found == named_.end() ? nullptr : found->second.receiver;
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
    struct Named {
        std::string name;
        MessageReceiver* receiver;
    };
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    std::uint64_t put(MessageReceiver& receiver, std::uint64_t first);

    std::vector<Slot> slots_;
    std::uint32_t free_ = kNone;
    std::size_t used_ = 0;
    std::vector<MessageReceiver*> wellKnown_;
    // By the hash of the name. nondeterminism: it is never iterated over.
    std::unordered_map<std::uint64_t, Named> named_;
};

} // namespace flow::net
