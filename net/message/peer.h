#pragma once
// Peer: one connection of a MessageSocket, and what waits to be sent on it. Used by message_socket.cpp alone.

#include "flow/wait/source.h"
#include "net/message/message_socket.h"
#include "net/message/topic_set.h"

#include <deque>
#include <optional>

namespace flow::net {

/// Bytes of a connection that have come and are not parsed yet.
class Input {
public:
    explicit Input(Reference<Connection> connection) : connection_(std::move(connection)) {}

    std::string_view view() const { return {reinterpret_cast<char const*>(rest_.begin()), std::size_t(rest_.size())}; }
    /// The first bytes are not needed any more.
    void consume(std::size_t bytes) { rest_ = rest_.substr(static_cast<int>(bytes)); }
    /// Ready when at least so many bytes are there. Throws end_of_stream, connection_cut_off, or as a read does.
    Future<Void> fill(std::size_t bytes);
    /// What was parsed out of view(), as a value of its own: small parts are copied, so that they keep no block.
    Bytes own(std::string_view part) const;

private:
    static constexpr std::size_t kChunk = 64 << 10;
    static constexpr std::size_t kCopied = 512; // bytes of a part that is copied

    Reference<Connection> connection_;
    Bytes chunk_; // that `rest_` is part of
    StringRef rest_;
};

class Peer : public ReferenceCounted<Peer> {
public:
    /// When there is something to write.
    struct HasOutput {
        using Result = Void;
        Peer* peer;
        bool isReady() const { return !peer->commands.empty() || !peer->out.empty(); }
        void park(WaiterNode& waiter) { peer->output.park(waiter, *this); }
        Void take() const { return Void(); }
    };

    bool isOpen() const { return connection && isShaken; }
    void push(Message message, bool conflate) {
        if (conflate)
            out.clear();
        out.push_back(std::move(message));
        output.wakeInTurn(TaskPriority::WriteSocket);
    }
    void command(std::string_view name, std::string_view data) {
        zmtp::appendCommand(commands, name, data);
        output.wakeInTurn(TaskPriority::WriteSocket);
    }

    Reference<Connection> connection; // null: not connected
    bool isShaken = false;            // the handshake is over
    bool isAccepted = false;          // it has connected to us
    int minorVersion = 0;
    std::string id;
    std::string commands; // go before messages
    std::deque<Message> out;
    bool isWriting = false; // what has been taken from `out` is not with the machine yet
    TopicSet topics;        // PUB: what it has subscribed to
    double lastHeard = 0;
    zmtp::Fault fault = zmtp::Fault::None; // why it is given up
    Source<HasOutput> output;
};

} // namespace flow::net
