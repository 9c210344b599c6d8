#pragma once
// MessageReceiver: a stream of requests, or a waiter for a reply. EndpointTable: the receivers of this process, by
// token. Only net/rpc uses this file.

#include "flow/base/uid.h"
#include "flow/core/future.h"
#include "flow/memory/object.h"
#include "flow/trace/span_context.h"
#include "net/rpc/detail/wire_format.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace flow::net {

class RpcPeer;

/// The context() of a message's ObjectReader or ObjectWriter.
struct MessageContext {
    RpcPeer* peer;                     // the other process
    std::uint64_t reply{0};            // the number for the reply; 0: no reply is expected
    trace::SpanContext const* trace{}; // the request's span in the other process; null: it has none
    Future<Void> pause{}; // set by a receiver without room: the message is delivered again when `pause` is ready
};

class MessageReceiver {
public:
    MessageReceiver(MessageReceiver const&) = delete;
    MessageReceiver& operator=(MessageReceiver const&) = delete;
    virtual ~MessageReceiver() = default;

    /// Reads the message, and resumes the waiter in a later turn. Throws an Error if the bytes have the wrong type.
    virtual void receive(ObjectReader& reader, MessageContext& context) = 0;
    /// Returns the only peer that may send to this receiver; null: any peer that knows the token.
    virtual RpcPeer const* onlyFrom() const { return nullptr; }
    /// Returns a pointer that identifies the type of the messages, or null if it is not known.
    virtual void const* typeKey() const { return nullptr; }

protected:
    MessageReceiver() = default;
};

namespace rpc {
/// Returns an error text: `name` cannot be added, because `other` has the same name or hash and was added before.
std::string whyTaken(std::string_view name, std::string_view other);
} // namespace rpc

class EndpointTable {
public:
    /// Adds a receiver, and returns its token. The first half is random, so that other processes cannot guess it.
    UID add(MessageReceiver& receiver);
    /// Adds a waiter for a reply, and returns the second half of its token; the first half is 0.
    std::uint64_t addReply(MessageReceiver& receiver) { return put(receiver, 0); }
    /// Returns false if `number` is taken, negative, or above kLargestNumber.
    bool addWellKnown(MessageReceiver& receiver, int number);
    static constexpr int kLargestNumber = 100'000;
    /// Adds a receiver, and returns null. If the hash is taken, adds nothing and returns the name that has the hash.
    std::string const* addNamed(MessageReceiver& receiver, std::uint64_t hash, std::string_view name);
    /// Removes the receiver with this token, if any. Tokens of add() and addReply() are not used again.
    void remove(UID token);
    void removeReply(std::uint64_t number) { remove(UID(0, number)); }

    /// Returns null if no receiver has this token.
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
    // The keys are the hashes of the names. nondeterminism: no code iterates over this map.
    std::unordered_map<std::uint64_t, Named> named_;
};

} // namespace flow::net
