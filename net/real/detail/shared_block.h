#pragma once
// SharedBlock: the receive buffer that the sockets of a loop use in turn.
//
//     std::span<std::uint8_t> room = block.roomFor(buffer);
//     ssize_t count = ::recv(descriptor, room.data(), room.size(), 0);
//     block.received(buffer, room, count);
//
// The buffer borrows the received bytes from the block. Usually the reader takes them before the next socket receives.
// If bytes are left, roomFor() for the next socket makes the borrowing buffer copy them.

#include "net/detail/byte_buffer.h"

#include <memory>
#include <span>

namespace flow::net {

class SharedBlock {
public:
    static constexpr std::size_t kBytes = 64 * 1024;

    /// Returns the free part of the block. If `buffer` borrows bytes of the block, the free part begins after them; if
    /// little would be free, `buffer` first copies its bytes. Another buffer that borrows bytes copies them. Throws
    /// std::bad_alloc.
    std::span<std::uint8_t> roomFor(ByteBuffer& buffer) {
        if (!block_)
            block_ = std::make_unique_for_overwrite<std::uint8_t[]>(kBytes);
        std::size_t used = 0;
        if (buffer.isBorrowed()) {
            used = static_cast<std::size_t>(buffer.data() - block_.get()) + buffer.size();
            if (kBytes - used < kBytes / 4) {
                buffer.own();
                used = 0;
            }
        } else if (borrower_) {
            borrower_->own();
        }
        return {block_.get() + used, kBytes - used};
    }
    /// Adds to `buffer` the `count` bytes received into the `room` that roomFor() returned. Throws std::bad_alloc.
    void received(ByteBuffer& buffer, std::span<std::uint8_t> room, std::size_t count) {
        if (buffer.isBorrowed()) {
            buffer.borrow(buffer.data(), buffer.size() + count);
        } else if (buffer.isEmpty()) {
            buffer.borrow(room.data(), count);
            borrower_ = &buffer;
        } else {
            buffer.append(room.data(), count);
        }
    }
    /// Must be called before `buffer` is destroyed.
    void forget(ByteBuffer const& buffer) {
        if (borrower_ == &buffer)
            borrower_ = nullptr;
    }

private:
    std::unique_ptr<std::uint8_t[]> block_;
    ByteBuffer* borrower_ = nullptr; // the last buffer that borrowed; the buffer may be empty now
};

} // namespace flow::net
