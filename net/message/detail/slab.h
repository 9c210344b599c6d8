#pragma once
// Slab: a shared block of memory for messages, inputs and outputs, with a reference count that is not atomic.
//
//     SlabRef slab = SlabRef::make(64 * 1024);
//     std::memcpy(slab->bytes(), ...);
//     SlabRef same = slab;                    // one more reference: slab.isSole() is false
//
// Small slabs come from the FastAllocator. Each thread caches up to 8 MiB of freed slabs of 1 KiB to 1 MiB, so a
// streaming socket does not allocate. A slab belongs to one thread.

#include "flow/base/inline.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace flow::net {

class Slab {
public:
    char* bytes() { return reinterpret_cast<char*>(this + 1); }
    std::uint32_t capacity() const { return capacity_; }

private:
    friend class SlabRef;
    std::uint32_t references_;
    std::uint32_t capacity_;
};

class SlabRef {
public:
    static constexpr std::size_t kBytes = 64 * 1024; // the usual size of a receive buffer
    static constexpr std::size_t kLargestKept = 1024 * 1024;

    SlabRef() = default;
    /// Makes a slab for at least `bytes` bytes, below 2 GiB. Throws std::bad_alloc.
    static SlabRef make(std::size_t bytes);
    SlabRef(SlabRef const& other) noexcept : slab_(other.slab_) {
        if (slab_)
            ++slab_->references_;
    }
    SlabRef(SlabRef&& other) noexcept : slab_(std::exchange(other.slab_, nullptr)) {}
    SlabRef& operator=(SlabRef other) noexcept {
        std::swap(slab_, other.slab_);
        return *this;
    }
    FLOW_INLINE ~SlabRef() {
        if (slab_ && --slab_->references_ == 0)
            free(slab_);
    }

    explicit operator bool() const { return slab_; }
    Slab* operator->() const { return slab_; }
    bool isSole() const { return slab_->references_ == 1; }
    void clear() { *this = SlabRef(); }

private:
    static void free(Slab* slab) noexcept;

    Slab* slab_ = nullptr;
};

} // namespace flow::net
