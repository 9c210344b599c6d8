#include "flow/fiber/detail/stack_pool.h"

#include "flow/fiber/detail/stack_overflow.h"

#include <algorithm>
#include <cstddef>
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
    ::munmap(stack.memory, stack.bytes + kGuardBytes);
}

Stack map(std::size_t bytes) {
    void* memory = ::mmap(nullptr, bytes + kGuardBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
        throw std::bad_alloc();
    Stack stack{static_cast<char*>(memory), bytes};
    if (::mprotect(memory, kGuardBytes, PROT_NONE) != 0) {
        unmap(stack);
        throw std::bad_alloc();
    }
    ::madvise(stack.begin(), bytes, MADV_NOHUGEPAGE); // a huge page would take 2 MiB at the first use of a large stack
    return stack;
}

/// The unused stacks of a thread, oldest first. take() begins at the newest. Only the newest ones have memory.
class Pool {
public:
    Pool() { unused_.reserve(limit_); }
    Pool(Pool const&) = delete;
    Pool& operator=(Pool const&) = delete;
    ~Pool() { setLimit(0); }

    Stack take(std::size_t bytes) {
        for (std::size_t i = unused_.size(); i-- != 0;)
            if (unused_[i].stack.bytes == bytes) [[likely]] {
                Stack stack = unused_[i].stack;
                unused_.erase(unused_.begin() + static_cast<std::ptrdiff_t>(i));
                return stack;
            }
        reportOverflows();
        return map(bytes);
    }

    void give(Stack stack) noexcept {
        if (unused_.size() == limit_) {
            if (limit_ == 0)
                return unmap(stack);
            unmap(unused_.front().stack);
            unused_.erase(unused_.begin());
        }
        unused_.push_back({stack, true});
        if (unused_.size() > limit_ / 4)
            empty(unused_[unused_.size() - limit_ / 4 - 1]);
    }

    void setLimit(std::size_t limit) {
        if (limit > unused_.max_size())
            throw std::bad_alloc();
        unused_.reserve(limit);
        limit_ = limit;
        std::size_t tooMany = unused_.size() - std::min(unused_.size(), limit);
        for (std::size_t i = 0; i < tooMany; ++i)
            unmap(unused_[i].stack);
        unused_.erase(unused_.begin(), unused_.begin() + static_cast<std::ptrdiff_t>(tooMany));
        for (std::size_t i = 0; i + limit / 4 < unused_.size(); ++i)
            empty(unused_[i]);
    }

private:
    struct Unused {
        Stack stack;
        bool hasMemory;
    };

    static void empty(Unused& unused) noexcept {
        if (unused.hasMemory)
            ::madvise(unused.stack.begin(), unused.stack.bytes, MADV_DONTNEED);
        unused.hasMemory = false;
    }

    std::size_t limit_ = 64;
    std::vector<Unused> unused_; // its capacity is at least limit_
};

/// This thread's pool. Null before its first use, and after the thread destroyed it: a fiber may end later.
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

Stack takeStack(std::size_t bytes) {
    std::size_t page = pageBytes();
    std::size_t rounded = std::max((bytes + page - 1) / page * page, 4 * page);
    if (rounded < bytes || rounded + kGuardBytes < rounded)
        throw std::bad_alloc();
    if (Pool* pooled = pool())
        return pooled->take(rounded);
    return map(rounded);
}

void giveBack(Stack stack) noexcept {
    poolOfThread ? poolOfThread->give(stack) : unmap(stack);
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
