#pragma once
// UringBuffers: the memory into which the kernel receives for all connections of an io_uring.
//
//     if (UringBuffers::areSupported())
//         auto buffers = std::make_unique<UringBuffers>(ring);
//     std::span<std::uint8_t const> bytes = buffers->take(news);     // of a completed receive
//     use(bytes);
//     buffers->giveBack(UringBuffers::numberOf(news));               // once for each take()
//
// The kernel fills a buffer with the bytes of several receives, and then uses the next buffer. A full buffer returns to
// the kernel when all bytes taken from it have been given back. Without a free buffer, requests end with ENOBUFS.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

struct io_uring;
struct io_uring_buf_ring;

namespace flow::net {

/// A report of the kernel about a request.
struct UringNews {
    std::uint64_t id; // the id of the request
    int result;
    unsigned flags;
};

class UringBuffers {
public:
    static constexpr unsigned kCount = 8; // a power of two
    static constexpr std::size_t kBytes = 32 * 1024;
    static constexpr unsigned short kGroup = 0;

    /// True if the kernel supports these buffers, as Linux 6.12 does. The first call tries to make some.
    static bool areSupported();
    /// Makes the buffers, which must exist as long as `ring`. Throws platform_error.
    explicit UringBuffers(io_uring& ring);
    UringBuffers(UringBuffers const&) = delete;
    UringBuffers& operator=(UringBuffers const&) = delete;
    ~UringBuffers();

    static bool isIn(UringNews const& news);
    static unsigned numberOf(UringNews const& news);
    std::span<std::uint8_t const> take(UringNews const& news);
    void giveBack(unsigned number);
    /// True if the kernel has at most half of the buffers.
    bool areFew() const { return atKernel_ <= kCount / 2; }

private:
    struct Buffer {
        std::size_t used = 0;  // bytes that the kernel has filled
        std::size_t taken = 0; // the number of calls of take() without giveBack() so far
        bool isFull = false;
    };
    std::uint8_t* memoryOf(unsigned number) const { return memory_ + number * kBytes; }
    void giveToKernel(unsigned number);

    io_uring_buf_ring* ring_;
    std::uint8_t* memory_;
    std::array<Buffer, kCount> buffers_{};
    unsigned atKernel_ = 0;
};

} // namespace flow::net
