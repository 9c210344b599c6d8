#pragma once
// ByteBuffer: received bytes that have not been read yet. It may borrow its bytes from a block that many buffers use in
// turn. Before the block is written again, own() copies the remaining bytes. An empty buffer holds no memory.

#include "flow/memory/string_ref.h"

#include <cstddef>
#include <cstdint>

namespace flow::net {

class ByteBuffer {
public:
    ByteBuffer() = default;
    ByteBuffer(ByteBuffer const&) = delete;
    ByteBuffer& operator=(ByteBuffer const&) = delete;
    ~ByteBuffer() { clear(); }

    bool isEmpty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    std::uint8_t const* data() const { return data_; }
    bool isBorrowed() const { return size_ != 0 && !block_; }

    void consume(std::size_t bytes) {
        data_ += bytes;
        size_ -= bytes;
        if (size_ == 0)
            clear();
    }
    void clear();
    /// Appends a copy of the bytes. Throws std::bad_alloc.
    void append(std::uint8_t const* bytes, std::size_t size);
    void append(StringRef bytes) { append(bytes.begin(), static_cast<std::size_t>(bytes.size())); }
    /// Borrows `size` bytes at `data`. The buffer must be empty, or must already borrow from `data`.
    void borrow(std::uint8_t const* data, std::size_t size) {
        data_ = data;
        size_ = size;
    }
    /// Copies borrowed bytes into memory of this buffer. Throws std::bad_alloc.
    void own() {
        if (isBorrowed())
            append(nullptr, 0);
    }

    /// Returns the position of the text, at or after `from`; size() if the text is not there.
    std::size_t find(StringRef text, std::size_t from) const;

private:
    std::uint8_t const* data_ = nullptr;
    std::size_t size_ = 0;
    std::uint8_t* block_ = nullptr; // null: the bytes are borrowed, or there are none
    std::size_t capacity_ = 0;
};

} // namespace flow::net
