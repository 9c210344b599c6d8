#include "flow/fiber/stack_pool.h"

#include "flow/fiber/stack_overflow.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace flow::fiber {
namespace detail {
namespace {

std::size_t pageBytes() noexcept {
    static std::size_t const bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

void unmap(Stack stack) noexcept {
    ::munmap(stack.memory, stack.bytes + pageBytes());
}

class Pool {
public:
    Pool() = default;
    Pool(Pool const&) = delete;
    Pool& operator=(Pool const&) = delete;
    ~Pool() { setLimit(0); }

    Stack take(std::size_t bytes) {
        for (Size& size : sizes_)
            if (size.bytes == bytes && !size.unused.empty()) {
                Stack stack{size.unused.back(), bytes};
                size.unused.pop_back();
                return stack;
            }
        reportOverflows();
        void* memory = ::mmap(nullptr, bytes + pageBytes(), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (memory == MAP_FAILED)
            throw std::bad_alloc();
        Stack stack{static_cast<char*>(memory), bytes};
        if (::mprotect(memory, pageBytes(), PROT_NONE) != 0) {
            unmap(stack);
            throw std::bad_alloc();
        }
        return stack;
    }

    void give(Stack stack) noexcept {
        Size* size = sizeOf(stack.bytes);
        if (!size || size->unused.size() >= limit_)
            return unmap(stack);
        if (size->unused.size() >= kWarm)
            ::madvise(stack.begin(), stack.bytes, MADV_DONTNEED);
        size->unused.push_back(stack.memory); // there is room for as many as the limit
    }

    void setLimit(std::size_t limit) {
        for (Size& size : sizes_) {
            while (size.unused.size() > limit) {
                unmap({size.unused.back(), size.bytes});
                size.unused.pop_back();
            }
            size.unused.reserve(limit);
        }
        limit_ = limit;
    }

private:
    static constexpr std::size_t kWarm = 16; // stacks that keep their memory

    struct Size {
        std::size_t bytes;
        std::vector<char*> unused;
    };

    /// Null: no memory for it.
    Size* sizeOf(std::size_t bytes) noexcept {
        auto found = std::find_if(sizes_.begin(), sizes_.end(), [bytes](Size const& s) { return s.bytes == bytes; });
        if (found != sizes_.end())
            return &*found;
        try {
            Size size{bytes, {}};
            size.unused.reserve(limit_);
            sizes_.push_back(std::move(size));
            return &sizes_.back();
        } catch (std::bad_alloc const&) {
            return nullptr;
        }
    }

    std::size_t limit_ = 64;
    std::vector<Size> sizes_; // few
};

/// Null once the thread has come to its end: a fiber may end later than that.
constinit thread_local Pool* poolOfThread = nullptr;
constinit thread_local bool hasEnded = false;

struct PoolOwner {
    Pool pool;
    PoolOwner() { poolOfThread = &pool; }
    PoolOwner(PoolOwner const&) = delete;
    PoolOwner& operator=(PoolOwner const&) = delete;
    ~PoolOwner() {
        poolOfThread = nullptr;
        hasEnded = true;
    }
};

Pool* pool() {
    if (!poolOfThread && !hasEnded) [[unlikely]] {
        static thread_local PoolOwner owner;
        (void)&owner;
    }
    return poolOfThread;
}

} // namespace

char* Stack::begin() const {
    return memory + pageBytes();
}

Stack takeStack(std::size_t bytes) {
    std::size_t page = pageBytes();
    std::size_t rounded = std::max((bytes + page - 1) / page * page, 4 * page);
    if (rounded < bytes)
        throw std::bad_alloc();
    if (Pool* pooled = pool())
        return pooled->take(rounded);
    return Pool().take(rounded);
}

void giveBack(Stack stack) noexcept {
    Pool* pooled = pool();
    pooled ? pooled->give(stack) : unmap(stack);
}

std::size_t residentBytes(Stack stack) {
    std::size_t page = pageBytes();
    std::vector<unsigned char> isResident(stack.bytes / page);
    if (::mincore(stack.begin(), stack.bytes, isResident.data()) != 0)
        return 0;
    auto first = std::find_if(isResident.begin(), isResident.end(), [](unsigned char page) { return page & 1; });
    return static_cast<std::size_t>(isResident.end() - first) * page;
}

} // namespace detail

void setPooledStacks(std::size_t count) {
    if (detail::Pool* pooled = detail::pool())
        pooled->setLimit(count);
}

} // namespace flow::fiber
