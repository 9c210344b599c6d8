#pragma once
// Reference<T>: shared ownership of an object that counts its references itself.
//
//     struct Peer : ReferenceCounted<Peer> { explicit Peer(int port); ... };
//     Reference<Peer> peer = makeReference<Peer>(4500);      // the one allocation is the Peer
//     Reference<Peer> again = Reference<Peer>::addRef(this); // inside a Peer
//
// A Reference is one pointer, possibly null. ReferenceCounted counts without atomic operations: such objects belong to
// one thread. Objects of ThreadSafeReferenceCounted may be shared between threads, but two threads must not use one
// Reference at the same time. T may be any class with `addref() const` and `delref() const`. If objects are owned
// through a base class, that base class needs a virtual destructor.

#include "flow/base/assert.h"

#include <atomic>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view> // std::hash
#include <utility>

namespace flow {

/// The base class of a T that counts its references. A new object has one reference, which `Reference(T*)` takes.
template <class T>
class ReferenceCounted {
public:
    void addref() const { ++references_; }
    void delref() const {
        if (--references_ == 0)
            delete static_cast<T const*>(this);
    }
    bool isSoleOwner() const { return references_ == 1; }
    std::int32_t debugGetReferenceCount() const { return references_; }
    /// Like delref(), but does not destroy the object. Returns true if no reference is left.
    bool delref_no_destroy() const { return --references_ == 0; }

    // Public, so that a T without constructors of its own is an aggregate: `new T{}`.
    ReferenceCounted() = default;
    // A copy is a new object: the references of the original do not count for it.
    ReferenceCounted(ReferenceCounted const&) {}
    ReferenceCounted& operator=(ReferenceCounted const&) { return *this; }
    ~ReferenceCounted() = default;

private:
    mutable std::int32_t references_ = 1;
};

/// Like ReferenceCounted, for objects that several threads share.
template <class T>
class ThreadSafeReferenceCounted {
public:
    void addref() const { references_.fetch_add(1, std::memory_order_relaxed); }
    void delref() const {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete static_cast<T const*>(this);
    }
    bool isSoleOwner() const { return references_.load(std::memory_order_acquire) == 1; }
    std::int32_t debugGetReferenceCount() const { return references_.load(std::memory_order_relaxed); }
    /// Like delref(), but does not destroy the object. Returns true if no reference is left.
    bool delref_no_destroy() const { return references_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

    ThreadSafeReferenceCounted() = default;
    ThreadSafeReferenceCounted(ThreadSafeReferenceCounted const&) {}
    ThreadSafeReferenceCounted& operator=(ThreadSafeReferenceCounted const&) { return *this; }
    ~ThreadSafeReferenceCounted() = default;

private:
    mutable std::atomic<std::int32_t> references_{1};
};

template <class T>
class Reference {
public:
    using element_type = T;

    Reference() = default;
    Reference(std::nullptr_t) {}
    /// Takes over one reference from the caller, such as the first reference of a new object.
    explicit Reference(T* object) : object_(object) {}
    /// Adds one reference to an object that other code holds.
    static Reference addRef(T* object) {
        if (object)
            object->addref();
        return Reference(object);
    }

    Reference(Reference const& other) noexcept : Reference(addRef(other.object_)) {}
    Reference(Reference&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    template <class U>
        requires std::convertible_to<U*, T*>
    Reference(Reference<U> const& other) noexcept : Reference(addRef(other.getPtr())) {}
    template <class U>
        requires std::convertible_to<U*, T*>
    Reference(Reference<U>&& other) noexcept : object_(other.extractPtr()) {}
    Reference& operator=(Reference other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Reference() {
        if (object_)
            object_->delref();
    }

    void clear() { *this = Reference(); }
    T* getPtr() const { return object_; }
    /// Makes this Reference null and returns its pointer. The count does not change: the caller must call delref().
    [[nodiscard]] T* extractPtr() { return std::exchange(object_, nullptr); }
    /// Sets another pointer and changes no count: releases nothing, and takes over a reference to `object`.
    void setPtrUnsafe(T* object) { object_ = object; }

    T* operator->() const { return checked(); }
    T& operator*() const { return *checked(); }
    explicit operator bool() const { return object_ != nullptr; }
    bool isValid() const { return object_ != nullptr; }

    /// Returns a Reference<U> to the object, which must be a U.
    template <class U>
    Reference<U> castTo() const {
        return Reference<U>::addRef(static_cast<U*>(object_));
    }

private:
    T* checked() const {
        FLOW_CHECK(object_, "a null Reference is used");
        return object_;
    }

    T* object_ = nullptr;
};

template <class T, class U>
bool operator==(Reference<T> const& a, Reference<U> const& b) {
    return a.getPtr() == b.getPtr();
}
template <class T>
bool operator==(Reference<T> const& a, std::nullptr_t) {
    return !a.isValid();
}
template <class T>
std::strong_ordering operator<=>(Reference<T> const& a, Reference<T> const& b) {
    return std::compare_three_way()(a.getPtr(), b.getPtr());
}

template <class T, class... Args>
[[nodiscard]] Reference<T> makeReference(Args&&... args) {
    return Reference<T>(new T(std::forward<Args>(args)...));
}

template <class T>
void addref(T* object) {
    object->addref();
}
template <class T>
void delref(T* object) {
    object->delref();
}

} // namespace flow

/// Hashes the address. Do not iterate over containers that use this hash: their order is not the same in each run.
template <class T>
struct std::hash<flow::Reference<T>> {
    // nondeterminism: only in programs that iterate, see above
    std::size_t operator()(flow::Reference<T> const& reference) const { return std::hash<T*>()(reference.getPtr()); }
};
