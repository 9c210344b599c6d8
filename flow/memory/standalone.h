#pragma once
// Standalone<T>: a T with its memory in an Arena, together with that arena.
//
//     Standalone<StringRef> key = "user/7"_sr;            // a copy with memory of its own
//     Standalone<VectorRef<StringRef>> keys;
//     keys.push_back_deep(keys.arena(), key);
//     Standalone<StringRef> name = makeString(16);        // to be filled: mutateString(name)
//
// A Standalone<T> is a T and can be used wherever a T is expected. But a plain T must not outlive its Standalone.
// Copies of a Standalone share the memory, so they cost no more than copies of an Arena. A Standalone that is made from
// a T copies the memory to which the T refers, by T's constructor (Arena&, T).

#include "flow/memory/arena.h"
#include "flow/memory/string_ref.h"

#include <concepts>

namespace flow {

template <class T>
class Standalone : public T {
public:
    using RefType = T;

    Standalone() = default;
    /// Copies `plain` into a new arena.
    Standalone(T const& plain) : Standalone(Arena(), plain) {}
    template <class U>
        requires std::constructible_from<T, U&&> && (!std::derived_from<std::remove_cvref_t<U>, T>)
    explicit(!std::convertible_to<U&&, T>) Standalone(U&& plain) : Standalone(T(std::forward<U>(plain))) {}
    /// Shares the memory of `plain`, which must be in `arena`.
    Standalone(T const& plain, Arena const& arena) : T(plain), arena_(arena) {}

    Standalone(Standalone const&) = default;
    Standalone(Standalone&& other) noexcept
        : T(std::exchange(static_cast<T&>(other), T())), arena_(std::move(other.arena_)) {}
    Standalone& operator=(Standalone const& other) { return *this = Standalone(other); }
    Standalone& operator=(Standalone&& other) noexcept {
        Standalone taken(std::move(other));
        std::swap(static_cast<T&>(*this), static_cast<T&>(taken));
        std::swap(arena_, taken.arena_);
        return *this;
    }
    Standalone& operator=(T const& plain) { return *this = Standalone(plain); }
    ~Standalone() = default;

    Arena& arena() { return arena_; }
    Arena const& arena() const { return arena_; }
    T& contents() { return *this; }
    T const& contents() const { return *this; }

    /// Returns the contents, converted from T to U. The result shares the memory.
    template <class U>
    Standalone<U> castTo() const {
        return Standalone<U>(static_cast<U>(contents()), arena_);
    }

private:
    Standalone(Arena arena, T const& plain) : T(deepCopy(arena, plain)), arena_(std::move(arena)) {}

    Arena arena_;
};

inline Standalone<StringRef> StringRef::withPrefix(StringRef prefix) const {
    Arena arena;
    StringRef joined = join(arena, prefix, *this);
    return {joined, arena};
}
inline Standalone<StringRef> StringRef::withSuffix(StringRef suffix) const {
    return suffix.withPrefix(*this);
}

/// Returns a string of `length` bytes, uninitialised.
inline Standalone<StringRef> makeString(int length) {
    Arena arena(static_cast<std::size_t>(length));
    auto* bytes = static_cast<std::uint8_t*>(arena.allocate(static_cast<std::size_t>(length), 1));
    return {StringRef(bytes, length), arena};
}
inline StringRef makeString(int length, Arena& arena) {
    return {static_cast<std::uint8_t*>(arena.allocate(static_cast<std::size_t>(length), 1)), length};
}
/// Returns the bytes of a new string, so that the caller can fill them before other code sees the string.
inline std::uint8_t* mutateString(StringRef text) {
    return const_cast<std::uint8_t*>(text.begin());
}

} // namespace flow

template <class T>
struct std::hash<flow::Standalone<T>> {
    std::size_t operator()(flow::Standalone<T> const& value) const { return std::hash<T>()(value); }
};
