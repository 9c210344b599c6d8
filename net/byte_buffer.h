#pragma once
// ByteBuffer: bytes that have come and that nobody has taken yet.
//
//     buffer.append("GET / HT"_sr);
//     buffer.data(), buffer.size();
//     buffer.consume(4);
//
// It may borrow: bytes that lie in a block which many buffers share, one after the other. Code that is to write there
// calls own() first, which copies what is left. An empty buffer holds no memory of its own.

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

    /// The first bytes are not needed any more.
    void consume(std::size_t bytes) {
        data_ += bytes;
        size_ -= bytes;
        if (size_ == 0)
            clear();
    }
    void clear();
    /// Copies the bytes behind those that are there. Throws std::bad_alloc.
    void append(std::uint8_t const* bytes, std::size_t size);
    void append(StringRef bytes) { append(bytes.begin(), static_cast<std::size_t>(bytes.size())); }
    /// The bytes at `data`, which somebody else owns, are what this holds: it was empty, or held the first of them.
    void borrow(std::uint8_t const* data, std::size_t size) {
        data_ = data;
        size_ = size;
    }
    /// From here on the bytes lie in memory of its own. Throws std::bad_alloc.
    void own() {
        if (isBorrowed())
            append(nullptr, 0);
    }

    /// Where the text begins, from `from` on; size() if it is not there.
    std::size_t find(StringRef text, std::size_t from) const;

private:
    std::uint8_t const* data_ = nullptr;
    std::size_t size_ = 0;
    std::uint8_t* block_ = nullptr; // null: the bytes are borrowed, or there are none
    std::size_t capacity_ = 0;
};

} // namespace flow::net
