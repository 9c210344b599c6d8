#pragma once
// Input: the received bytes of a connection, and the parser of the messages in them.
//
//     switch (input.find(limits)) {                        // a whole message?
//     case Found::Message: Message message = input.take(); break;
//     case Found::Command: handle(input.command()); break; // already removed
//     case Found::Nothing: input.read(connection); break;
//     case Found::Fault:   close(input.fault()); break;
//     }
//
// Messages are not copied: they share the memory of the received bytes. After rest(), an Input with few bytes has
// little memory, and an empty one has none. Each frame is checked against the limits when its header has arrived.

#include "net/connection.h"
#include "net/message/message.h"

namespace flow::net {

class Input {
public:
    enum class Found : std::uint8_t { Nothing, Message, Command, Fault };

    Found find(zmtp::Limits const& limits);
    /// The fast path of find(): finds only a message of one part with at most 255 bytes.
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
    /// Returns the number of found messages that were not taken.
    std::uint32_t messages() const { return messages_; }
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
    /// Returns the first found message, and keeps it.
    Message first() const {
        std::uint32_t parts = 0, behind = skip(parts);
        return Message(slab_, bytes() + begin_, behind - begin_, parts);
    }
    /// Returns the first part of the first found message.
    std::string_view firstPart() const { return *Message::Iterator(bytes() + begin_); }
    bool firstHasMore() const { return (bytes()[begin_] & 1) != 0; }
    /// Returns the command that find() has found. It is valid until the next find().
    zmtp::Frame const& command() const { return frame_; }
    zmtp::Fault fault() const { return fault_; }

    enum class Read : std::uint8_t { Some, Nothing, End };
    /// Reads available bytes. Throws std::bad_alloc.
    Read read(Connection& connection);
    /// Frees unused memory. Call it when reading stops for a time.
    void rest();
    std::size_t size() const { return end_ - begin_ - gap_; }

    // Only the handshake uses view() and consume().

    std::string_view view() const { return {bytes() + begin_, end_ - begin_}; }
    void consume(std::size_t count) { scan_ = begin_ = begin_ + static_cast<std::uint32_t>(count); }

private:
    static constexpr std::size_t kLargestSlab = 512 * 1024; // larger only for a frame that needs it

    char* bytes() const { return slab_ ? slab_->bytes() : nullptr; }
    /// Returns the end of the first message, and sets `parts` to its number of parts.
    std::uint32_t skip(std::uint32_t& parts) const;
    void closeGap();
    void makeRoom();
    void moveTo(SlabRef slab);

    SlabRef slab_;
    std::uint32_t begin_ = 0; // the first found message; other found messages and parts follow directly
    std::uint32_t scan_ = 0;  // the first frame that find() has not parsed
    std::uint32_t gap_ = 0;   // bytes of removed commands, directly before scan_
    std::uint32_t end_ = 0;
    std::uint32_t messages_ = 0;
    std::uint32_t lastParts_ = 0; // the parts of the last found message
    std::uint32_t parts_ = 0;     // the parts so far of an incomplete message
    std::uint32_t need_ = 2;      // find() needs this number of bytes from scan_ on
    std::size_t bodyBytes_ = 0;   // the bytes of the parts so far of an incomplete message
    zmtp::Frame frame_;
    zmtp::Fault fault_ = zmtp::Fault::None;
    std::string commandBody_;
};

} // namespace flow::net
