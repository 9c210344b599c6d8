#pragma once
// Input: the unread bytes of a connection, and the parser of messages in them.
//
//     switch (input.find(limits)) {                        // a whole message in front?
//     case Found::Message: Message message = input.take(); break;
//     case Found::Command: handle(input.command()); break; // it is taken out
//     case Found::Nothing: input.read(connection); break;
//     case Found::Fault:   close(input.fault()); break;
//     }
//
// Messages are not copied: they share the memory of the received bytes. After rest(), an Input without bytes has no
// memory, and an Input with a part of a small message has a small slab. Each frame is checked against the limits when
// its header has arrived.

#include "net/connection.h"
#include "net/message/message.h"

namespace flow::net {

class Input {
public:
    enum class Found : std::uint8_t { Nothing, Message, Command, Fault };

    /// Finds the next message or command, behind the last one that find() has found.
    Found find(zmtp::Limits const& limits);
    /// The fast path of find(): finds the next message only if it has one part of at most 255 bytes.
    FLOW_INLINE bool findShort(zmtp::Limits const& limits) {
        if ((parts_ | gap_) != 0 || end_ - scan_ < 2 || bytes()[scan_] != 0)
            return false;
        std::size_t size = static_cast<unsigned char>(bytes()[scan_ + 1]);
        if (end_ - scan_ - 2 < size || size > limits.messageBytes)
            return false;
        scan_ += static_cast<std::uint32_t>(size) + 2;
        ++messages_;
        lastParts_ = 1;
        return true;
    }
    /// Returns the number of messages that were found and not yet taken.
    std::uint32_t messages() const { return messages_; }
    /// Takes the first message that was found.
    FLOW_INLINE Message take() {
        std::uint32_t at = begin_, behind = scan_ - gap_, parts = lastParts_;
        if (--messages_ == 0 && parts_ == 0) {
            begin_ = scan_;
            gap_ = 0;
        } else {
            begin_ = behind = skip(parts);
        }
        return Message(slab_, bytes() + at, behind - at, parts);
    }
    /// Returns the first message that was found, without removing it.
    Message first() const {
        std::uint32_t parts = 0, behind = skip(parts);
        return Message(slab_, bytes() + begin_, behind - begin_, parts);
    }
    /// Returns the first part of the first found message. firstHasMore() is true if the message has more parts.
    std::string_view firstPart() const { return *Message::Iterator(bytes() + begin_); }
    bool firstHasMore() const { return (bytes()[begin_] & 1) != 0; }
    /// Returns the command that find() has found, valid until the next call of find(). fault() returns the found fault.
    zmtp::Frame const& command() const { return frame_; }
    zmtp::Fault fault() const { return fault_; }

    enum class Read : std::uint8_t { Some, Nothing, End };
    /// Receives available bytes. Throws std::bad_alloc.
    Read read(Connection& connection);
    /// Frees most of the slab if there are only a few unread bytes. Call this function when reading stops for a time.
    void rest();
    std::size_t size() const { return end_ - begin_ - gap_; }

    // Only the handshake uses view() and consume().

    std::string_view view() const { return {bytes() + begin_, end_ - begin_}; }
    void consume(std::size_t count) { scan_ = begin_ = begin_ + static_cast<std::uint32_t>(count); }

private:
    static constexpr std::size_t kLargestSlab = 512 * 1024; // only a frame that needs more gets a larger slab

    char* bytes() const { return slab_ ? slab_->bytes() : nullptr; }
    /// Returns the end of the first message, and sets `parts` to the number of its parts.
    std::uint32_t skip(std::uint32_t& parts) const;
    /// Moves the bytes behind the gap to the beginning of the gap.
    void closeGap();
    void makeRoom();
    void moveTo(SlabRef slab);

    SlabRef slab_;
    std::uint32_t begin_ = 0; // the first found message; the other found messages and parts follow without a gap
    std::uint32_t scan_ = 0;  // the beginning of the first frame that find() has not parsed
    std::uint32_t gap_ = 0;   // the bytes of removed commands, directly before scan_
    std::uint32_t end_ = 0;
    std::uint32_t messages_ = 0;
    std::uint32_t lastParts_ = 0; // the parts of the last found message
    std::uint32_t parts_ = 0;     // the parts so far of the message that is not complete
    std::uint32_t need_ = 2;      // find() can go on when there are so many bytes from scan_ on
    std::size_t bodyBytes_ = 0;   // the bytes in the parts that parts_ counts
    zmtp::Frame frame_;
    zmtp::Fault fault_ = zmtp::Fault::None;
    std::string commandBody_;
};

} // namespace flow::net
