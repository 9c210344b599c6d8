#pragma once
// FLOW_DYING: ends a checked program if an actor's wait destroys the object for which it waits. For emitted code.
//
//     Reference<Connection> c = wait(connect(to));       // a plain local of an actor: it lives up to the next wait
//     Bytes line = wait(c->readUntil("\n"_sr, 100));     // this wait destroys `c`, and with `c` the connection
//
// At the second wait, actorc lists the locals that end at this wait:
//
//     wait__ = flow::operand<2, Bytes>(room__).wait(c->readUntil("\n"_sr, 100)) FLOW_DYING(FLOW_RESULT(c, c__, 1));
//
// The end of a local destroys the local itself, the elements of a container, and an object that only a smart pointer
// owns. For an operation in place, the check fails if the operation has a pointer into this memory. For the
// future of an actor or a coroutine, the check fails if the frame has a pointer into this memory (but not to elements),
// and the operand's expression takes the local's address or calls a member function of the local.

#include "flow/wait/detail/pending.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <tuple>
#include <type_traits>

#if FLOW_CHECKED
/// Stands behind an operand, and lists the locals that are in scope at the operand.
#define FLOW_DYING(...) | ::flow::detail::DyingLocals(::flow::detail::Caller::current(), {__VA_ARGS__})
/// Describes a variable of the source. `isUsed` is true if the operand takes the variable's address, or uses a member.
#define FLOW_LOCAL(variable, isUsed) ::flow::detail::dyingLocal<decltype(variable)>(#variable, variable, isUsed)
/// Describes the result of an earlier wait. `holder` is the variable of the emitted code that holds the result.
#define FLOW_RESULT(variable, holder, isUsed) ::flow::detail::dyingResult(#variable, holder, isUsed)

namespace flow::detail {

/// A range of memory that is invalid after a local variable has been destroyed.
struct Extent {
    std::uintptr_t begin;
    std::size_t bytes;
    bool isElements; // true if this is the memory of a container's elements
    bool has(std::uintptr_t address) const { return address - begin < bytes; }
};

class ExtentVisitor {
public:
    virtual void visit(Extent extent) = 0;
    /// Returns the number of locals that are References to `object`, or 1 if there is none.
    virtual int owners(void const* object) = 0;

    template <class T>
    void add(T const* first, std::size_t count = 1, bool isElements = false) {
        if constexpr (requires { sizeof(T); })
            if (first)
                visit({reinterpret_cast<std::uintptr_t>(first), count * sizeof(T), isElements});
    }

protected:
    ~ExtentVisitor() = default;
};

template <class T>
concept IsReference = requires(T const& reference) {
    { reference->debugGetReferenceCount() } -> std::convertible_to<std::int64_t>;
    reference.getPtr();
};
template <class T>
inline constexpr bool kIsUnique = false;
template <class T, class D>
inline constexpr bool kIsUnique<std::unique_ptr<T, D>> = !std::is_array_v<T>;
template <class T>
inline constexpr bool kIsShared = false;
template <class T>
inline constexpr bool kIsShared<std::shared_ptr<T>> = !std::is_array_v<T>;
template <class T>
concept OwnsElements = requires(T const& container) {
    typename T::allocator_type;
    container.data();
    container.size();
};
template <class T>
concept IsOptional = requires(T const& optional) {
    { optional.has_value() } -> std::same_as<bool>;
    *optional;
};
template <class T>
concept IsTuple = requires { std::tuple_size<T>::value; };

template <class T>
void visitExtents(T const& object, ExtentVisitor& visitor) {
    visitor.add(std::addressof(object));
    if constexpr (std::is_trivially_destructible_v<T>) {
        return;
    } else if constexpr (IsReference<T>) {
        if (object.getPtr() && object->debugGetReferenceCount() <= visitor.owners(object.getPtr()))
            visitor.add(object.getPtr());
    } else if constexpr (kIsUnique<T>) {
        visitor.add(object.get());
    } else if constexpr (kIsShared<T>) {
        if (object.use_count() == 1)
            visitor.add(object.get());
    } else if constexpr (OwnsElements<T>) {
        visitor.add(object.data(), object.size(), true);
        if constexpr (!std::is_trivially_destructible_v<typename T::value_type>)
            for (auto const& each : object)
                visitExtents(each, visitor);
    } else if constexpr (IsOptional<T>) {
        if (object.has_value())
            visitExtents(*object, visitor);
    } else if constexpr (IsTuple<T>) {
        std::apply([&](auto const&... parts) { (visitExtents(parts, visitor), ...); }, object);
    }
}

/// A local variable. `object` is null if the end of the local destroys no object.
struct DyingLocal {
    char const* name;
    void const* object;
    bool isUsed;
    void (*visit)(void const* object, ExtentVisitor& visitor);
    void const* (*referent)(void const* object); // null if the local is not a Reference
};
template <class T>
DyingLocal dyingObject(char const* name, T const* object, bool isUsed) {
    void const* (*referent)(void const*) = nullptr;
    if constexpr (IsReference<T>)
        referent = [](void const* at) -> void const* { return static_cast<T const*>(at)->getPtr(); };
    return {name, object, isUsed,
            [](void const* at, ExtentVisitor& visitor) { visitExtents(*static_cast<T const*>(at), visitor); },
            referent};
}
template <class D, class T>
DyingLocal dyingLocal(char const* name, T&& variable, bool isUsed) {
    if constexpr (std::is_object_v<D> && !std::is_volatile_v<D> && std::is_lvalue_reference_v<T>)
        return dyingObject(name, std::addressof(variable), isUsed);
    else
        return {name, nullptr, isUsed, nullptr, nullptr};
}
template <class T>
DyingLocal dyingResult(char const* name, Result<T> const& holder, bool isUsed) {
    return dyingObject(name, holder.isOnly() ? std::addressof(holder.get()) : nullptr, isUsed);
}
template <class T>
DyingLocal dyingResult(char const* name, Own<T>& holder, bool isUsed) {
    return dyingObject(name, std::addressof(holder.get()), isUsed);
}

class DyingLocals {
public:
    DyingLocals(Caller caller, std::initializer_list<DyingLocal> locals) : caller_(caller), locals_(locals) {}

    friend Pending operator|(Pending pending, DyingLocals const& dying) {
        if (!pending.isReady() && !pending.isDelay())
            dying.check(pending);
        return pending;
    }

private:
    void check(Pending pending) const;

    Caller caller_;
    std::initializer_list<DyingLocal> locals_;
};

} // namespace flow::detail
#else
#define FLOW_DYING(...)
#endif
