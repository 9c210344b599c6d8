#pragma once
// Output: the send queue of a connection. Small messages are copied into a slab; large messages are shared.
//
//     output.append(frames, message);             // copies a small message, shares a large one
//     if (!output.flush(connection)) ...          // the kernel takes no more: flush again after connection.writable()
//
// The high-water marks count this queue. The kernel's buffers are not counted.

#include "flow/core/ring_queue.h"
#include "net/connection.h"
#include "net/message/message.h"

#include <cstring>

namespace flow::net {

class Output {
public:
    static constexpr std::size_t kBatch = 64 * 1024; // with this number of bytes the owner flushes
    static constexpr std::size_t kLarge = 32 * 1024; // messages of at least this size are not copied

    bool isEmpty() const { return bytes_ == 0; }
    std::size_t bytes() const { return bytes_; }
    std::size_t messages() const { return messages_; }

    /// Appends a message of one part. Throws std::bad_alloc.
    FLOW_INLINE void append(std::string_view part) {
        if (part.size() < 256 && capacity_ - used_ >= part.size() + 2) [[likely]] {
            char* to = slab_->bytes() + used_;
            to[0] = 0;
            to[1] = static_cast<char>(part.size());
            std::memcpy(to + 2, part.data(), part.size());
            return note(part.size() + 2, 1);
        }
        appendSlow(part);
    }
    /// Appends `frames` and then `message`. Shares a large message if `frames` is empty.
    void append(std::string_view frames, Message const& message);
    /// Appends frames that do not count as a message: commands, and subscriptions of ZMTP 3.0.
    void appendUncounted(std::string_view frames) {
        std::memcpy(room(frames.size()), frames.data(), frames.size());
        note(frames.size(), 0);
    }
    void appendCounted(std::string_view frames) {
        std::memcpy(room(frames.size()), frames.data(), frames.size());
        note(frames.size(), 1);
    }

    /// Sends as many bytes as the kernel takes. Returns true if all bytes were sent.
    bool flush(Connection& connection);
    /// Takes the messages that `ended`, the output of an ended connection, has not completely sent. Drops its commands.
    void takeOver(Output& ended);
    void clear();

private:
    /// A range of whole messages and commands.
    struct Piece {
        SlabRef slab;
        char const* data;
        std::uint32_t size;
        std::uint32_t sent;
        std::uint32_t messages;
    };
    static constexpr std::size_t kSmallest = 1024;

    void appendSlow(std::string_view part);
    /// Returns room for `bytes` bytes at the end of the slab.
    char* room(std::size_t bytes);
    void note(std::size_t bytes, std::uint32_t messages) {
        used_ += static_cast<std::uint32_t>(bytes);
        bytes_ += bytes;
        messages_ += messages;
        inSlab_ += messages;
    }
    /// Moves the slab's contents to ahead_.
    void seal();
    void gone(std::size_t bytes);
    void takeOver(Piece const& piece);

    RingQueue<Piece> ahead_; // sent before the slab
    SlabRef slab_;
    std::uint32_t sent_ = 0, used_ = 0, capacity_ = 0; // bytes in the slab
    std::uint32_t inSlab_ = 0;                         // messages in the slab
    std::uint32_t hint_ = kSmallest;                   // the capacity of the next slab
    std::size_t bytes_ = 0;
    std::size_t messages_ = 0;
};

} // namespace flow::net
