#include "net/poll/detail/uring_buffers.h"

#include "flow/base/error.h"

#include <algorithm>
#include <liburing.h>
#include <sys/mman.h>

namespace flow::net {
namespace {

constexpr std::size_t kPage = 4096; // for the ring, in front of the buffers
static_assert(UringBuffers::kCount * sizeof(io_uring_buf) <= kPage);

// The installed liburing may be older than these names of the kernel's include/uapi/linux/io_uring.h:
constexpr std::uint16_t kIncremental = 2;   // IOU_PBUF_RING_INC: one buffer serves many receives
constexpr unsigned kBufferGoesOn = 1u << 4; // IORING_CQE_F_BUF_MORE
struct Registration {                       // io_uring_buf_reg
    std::uint64_t address;
    std::uint32_t entries;
    std::uint16_t group;
    std::uint16_t flags;
    std::uint64_t reserved[3];
};
static_assert(sizeof(Registration) == sizeof(io_uring_buf_reg));

void* mapMemory() {
    void* memory = ::mmap(nullptr, kPage + UringBuffers::kCount * UringBuffers::kBytes, PROT_READ | PROT_WRITE,
                          MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
    if (memory == MAP_FAILED)
        throw platform_error();
    return memory;
}

void unmapMemory(void* memory) {
    ::munmap(memory, kPage + UringBuffers::kCount * UringBuffers::kBytes);
}

} // namespace

bool UringBuffers::areSupported() {
    static bool const are = [] {
        io_uring ring;
        if (::io_uring_queue_init(4, &ring, 0) != 0)
            return false;
        bool works = true;
        try {
            UringBuffers buffers(ring);
            ::io_uring_queue_exit(&ring);
        } catch (Error&) {
            ::io_uring_queue_exit(&ring);
            works = false;
        }
        return works;
    }();
    return are;
}

UringBuffers::UringBuffers(io_uring& ring) : ring_(static_cast<io_uring_buf_ring*>(mapMemory())) {
    memory_ = reinterpret_cast<std::uint8_t*>(ring_) + kPage;
    Registration registration = {reinterpret_cast<std::uintptr_t>(ring_), kCount, kGroup, kIncremental, {}};
    if (::io_uring_register_buf_ring(&ring, reinterpret_cast<io_uring_buf_reg*>(&registration), 0) != 0) {
        unmapMemory(ring_);
        throw platform_error();
    }
    ::io_uring_buf_ring_init(ring_);
    for (unsigned number = 0; number < kCount; ++number)
        giveToKernel(number);
}

UringBuffers::~UringBuffers() {
    unmapMemory(ring_);
}

bool UringBuffers::isIn(UringNews const& news) {
    return news.flags & IORING_CQE_F_BUFFER;
}

unsigned UringBuffers::numberOf(UringNews const& news) {
    return news.flags >> IORING_CQE_BUFFER_SHIFT;
}

std::span<std::uint8_t const> UringBuffers::take(UringNews const& news) {
    Buffer& buffer = buffers_[numberOf(news)];
    auto count = static_cast<std::size_t>(std::max(news.result, 0));
    std::span<std::uint8_t const> bytes(memoryOf(numberOf(news)) + buffer.used, count);
    buffer.used += count;
    ++buffer.taken;
    if (!(news.flags & kBufferGoesOn)) {
        buffer.isFull = true;
        --atKernel_;
    }
    return bytes;
}

void UringBuffers::giveBack(unsigned number) {
    Buffer& buffer = buffers_[number];
    if (--buffer.taken == 0 && buffer.isFull)
        giveToKernel(number);
}

void UringBuffers::giveToKernel(unsigned number) {
    buffers_[number] = {};
    ++atKernel_;
    ::io_uring_buf_ring_add(ring_, memoryOf(number), kBytes, static_cast<unsigned short>(number),
                            ::io_uring_buf_ring_mask(kCount), 0);
    ::io_uring_buf_ring_advance(ring_, 1);
}

} // namespace flow::net
