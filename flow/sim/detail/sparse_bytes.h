#pragma once
// SparseBytes: the bytes of a file; only bytes that have been written take memory.
//
//     SparseBytes bytes;
//     bytes.write(1'000'000'000'000, "far"_sr);
//     bytes.resize(1'000'000'000'003);
//
// Bytes that have never been written are zero. The size is a separate number: write() does not change it. resize()
// discards the bytes at and beyond the new size, but keeps bytes below it that were written beyond the old size.

#include "flow/memory/string_ref.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>

namespace flow {

class SparseBytes {
public:
    std::int64_t size() const { return size_; }

    void resize(std::int64_t size) {
        auto first = pages_.lower_bound(size / kPage);
        if (first != pages_.end() && first->first * kPage < size) {
            std::fill(first->second.begin() + size % kPage, first->second.end(), std::uint8_t{0});
            ++first;
        }
        pages_.erase(first, pages_.end());
        size_ = size;
    }

    void write(std::int64_t offset, StringRef bytes) {
        forEachPage(offset, bytes.size(), [&](std::int64_t page, std::int64_t from, int at, int length) {
            std::memcpy(pages_[page].data() + from, bytes.begin() + at, static_cast<std::size_t>(length));
        });
    }
    /// Reads `length` bytes into `to`. The bytes may be beyond the size.
    void read(std::int64_t offset, std::uint8_t* to, int length) const {
        forEachPage(offset, length, [&](std::int64_t page, std::int64_t from, int at, int count) {
            auto found = pages_.find(page);
            if (found == pages_.end())
                std::memset(to + at, 0, static_cast<std::size_t>(count));
            else
                std::memcpy(to + at, found->second.data() + from, static_cast<std::size_t>(count));
        });
    }
    void flipBit(std::int64_t offset, int bit) {
        pages_[offset / kPage][static_cast<std::size_t>(offset % kPage)] ^= static_cast<std::uint8_t>(1 << bit);
    }

private:
    static constexpr std::int64_t kPage = 4096;

    /// Calls use(page, offset in the page, offset in the range, length) for each page that the range touches.
    template <class Use>
    static void forEachPage(std::int64_t offset, int length, Use use) {
        for (int at = 0; at < length;) {
            std::int64_t from = (offset + at) % kPage;
            int count = static_cast<int>(std::min<std::int64_t>(kPage - from, length - at));
            use((offset + at) / kPage, from, at, count);
            at += count;
        }
    }

    std::int64_t size_ = 0;
    std::map<std::int64_t, std::array<std::uint8_t, kPage>> pages_;
};

} // namespace flow
