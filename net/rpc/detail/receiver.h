#pragma once
// MessageReceiver: gets messages. It is a stream of requests, or the waiter for a reply. EndpointTable: finds the
// receivers of this process by their tokens. Only net/rpc uses this file.

#include "flow/base/uid.h"
#include "flow/core/future.h"
#include "flow/memory/object.h"
#include "net/rpc/detail/wire_format.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace flow::net {

class RpcPeer;

/// More data about a message: context() of the message's ObjectReader or ObjectWriter points to a MessageContext.
struct MessageContext {
    RpcPeer* peer;          // the other process
    std::uint64_t reply{0}; // the number of the reply's receiver in the other process; 0: no reply is expected
    Future<Void> pause{};   // set by a receiver without room; when `pause` is ready, the message is delivered again
};

class MessageReceiver {
public:
    MessageReceiver(MessageReceiver const&) = delete;
    MessageReceiver& operator=(MessageReceiver const&) = delete;
    virtual ~MessageReceiver() = default;

    /// Reads the message, and resumes the waiter in another turn. Throws an Error if the bytes have the wrong type.
    virtual void receive(ObjectReader& reader, MessageContext& context) = 0;
    /// Returns the only peer that may send to this receiver. Null means any peer that has the token.
    virtual RpcPeer const* onlyFrom() const { return nullptr; }
    /// Returns an address that identifies the type of the messages.
    virtual void const* typeKey() const { return nullptr; }

protected:
    MessageReceiver() = default;
};

namespace rpc {
/// Returns a sentence that says why `name` cannot be added: `other`, a different or equal name, has the same hash.
std::string whyTaken(std::string_view name, std::string_view other);
} // namespace rpc

class EndpointTable {
public:
    /// Adds a receiver. Returns its new token. The first half is random, so other processes cannot guess the token.
    UID add(MessageReceiver& receiver);
    /// Adds a receiver of a reply. Returns the second half of its token; the first half is 0.
    std::uint64_t addReply(MessageReceiver& receiver) { return put(receiver, 0); }
    /// Adds a receiver at a well-known number. Returns false if `number` is taken, negative, or above kLargestNumber.
    bool addWellKnown(MessageReceiver& receiver, int number);
    static constexpr int kLargestNumber = 100'000;
    /// Adds a receiver under `name`, and returns null. If a name has this hash already, only returns that name.
    std::string const* addNamed(MessageReceiver& receiver, std::uint64_t hash, std::string_view name);
    /// Removes the receiver that has this token, if any. Tokens that add() and addReply() made are not used again.
    void remove(UID token);
    void removeReply(std::uint64_t number) { remove(UID(0, number)); }

    /// Returns the receiver with this token; null if there is none.
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
    // The key is the hash of the name. nondeterminism: no code iterates over this map.
    std::unordered_map<std::uint64_t, Named> named_;
};

} // namespace flow::net
