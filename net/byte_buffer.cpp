#include "net/detail/byte_buffer.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

namespace flow::net {

void ByteBuffer::clear() {
    std::free(block_);
    block_ = nullptr;
    data_ = nullptr;
    size_ = capacity_ = 0;
}

void ByteBuffer::append(std::uint8_t const* bytes, std::size_t size) {
    std::size_t total = size_ + size;
    if (total == 0)
        return;
    if (!block_ || total > capacity_) {
        std::size_t capacity = std::bit_ceil(std::max<std::size_t>(total, 64));
        auto* block = static_cast<std::uint8_t*>(std::malloc(capacity));
        if (!block)
            throw std::bad_alloc();
        if (size_ != 0)
            std::memcpy(block, data_, size_);
        std::free(block_);
        data_ = block_ = block;
        capacity_ = capacity;
    } else if (total > capacity_ - static_cast<std::size_t>(data_ - block_)) {
        std::memmove(block_, data_, size_);
        data_ = block_;
    }
    if (size != 0)
        std::memcpy(block_ + (data_ - block_) + size_, bytes, size);
    size_ = total;
}

std::size_t ByteBuffer::find(StringRef text, std::size_t from) const {
    std::string_view all(reinterpret_cast<char const*>(data_), size_);
    std::size_t at = all.find(std::string_view(reinterpret_cast<char const*>(text.begin()), std::size_t(text.size())),
                              std::min(from, size_));
    return at == std::string_view::npos ? size_ : at;
}

} // namespace flow::net
