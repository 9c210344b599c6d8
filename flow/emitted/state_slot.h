#pragma once
// StateSlot: the memory of an actor's state variable that exists only from its declaration on, because its type has no
// default constructor or cannot be assigned. Emitted code uses StateSlot; programs do not.
//
//     StateSlot<T, 1> x_slot;
//     StateOf<T> x = x_slot.start();     // a T, or a reference to the place of a later T
//     x_slot.of(x) = e;                  // the declaration `state T x = e;`: x = e, or a new T
//     x_slot.renew(x);                   // the declaration `state T x;`
//     finish(x_slot.moved(x));           // `return x;`

#include "flow/base/inline.h"

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace flow {

/// True if a T can be made before its declaration, and assigned to at the declaration.
template <class T>
inline constexpr bool isPlainState = std::is_default_constructible_v<T> && std::is_move_assignable_v<T>;

/// The type under which a state variable is declared.
template <class T>
using StateOf = std::conditional_t<isPlainState<T>, T, T&>;

/// The state variable of a declaration without a value. If the type needs a value, the conversion to Renewed is
/// refused: compilers report an error in such a conversion at the argument of renew(), which is the variable's name.
template <class T>
struct Renewed {
    Renewed(T& v)
        requires std::is_default_constructible_v<T>
        : variable(v) {}
    FLOW_REFUSED("a state variable needs a value if its type has no default constructor: write 'state T x = e;'")
    Renewed(T& v)
        requires(!std::is_default_constructible_v<T>)
        : variable(v) {}

    T& variable;
};

/// The slot of a state variable. `N` makes the slots of one actor different types, so that empty slots take no room.
template <class T, int N, bool IsPlain = isPlainState<T>>
class StateSlot {
public:
    T start() const { return T(); }
    T& of(T& variable) const { return variable; }
    void renew(Renewed<T> renewed) const { renewed.variable = T(); }
    T&& moved(T& variable) const { return static_cast<T&&>(variable); }
};

template <class T, int N>
class StateSlot<T, N, false> {
    using Value = std::remove_const_t<T>;

public:
    StateSlot() {}
    StateSlot(StateSlot const&) = delete;
    StateSlot& operator=(StateSlot const&) = delete;
    ~StateSlot() { clear(); }

    T& start() { return value_; }
    StateSlot& of(T&) { return *this; }

    /// Replaces the old object by a new one. `value` may refer to the old object.
    template <class U = Value>
        requires std::is_constructible_v<Value, U>
    void operator=(U&& value) {
        if constexpr (std::is_move_constructible_v<Value>) {
            if (holds_) {
                Value fresh(std::forward<U>(value));
                clear();
                make(std::move(fresh));
                return;
            }
        }
        clear();
        make(std::forward<U>(value));
    }
    template <class U = Value>
        requires(!std::is_constructible_v<Value, U>)
    FLOW_REFUSED("a state variable that can be neither assigned nor moved is declared at the top of its actor, before "
                 "any statement, or without a value")
    void
    operator=(U&&) {}

    /// Makes a new T, also if T cannot be moved.
    void renew(Renewed<T>) {
        clear();
        if constexpr (std::is_default_constructible_v<T>) // otherwise Renewed has refused it
            make();
    }
    T&& moved(T& variable) const { return static_cast<T&&>(variable); }

private:
    template <class... U>
    void make(U&&... value) {
        ::new (static_cast<void*>(std::addressof(value_))) Value(std::forward<U>(value)...);
        holds_ = true;
    }
    void clear() {
        if (std::exchange(holds_, false))
            std::destroy_at(std::addressof(value_));
    }

    union {
        Value value_;
    };
    bool holds_ = false;
};

/// The value that is assigned to an array: `ArrayValue<T[N]>{{...}}`. Without this struct around the array, gcc 12
/// takes a string in the braces for a shorter array.
template <class A>
struct ArrayValue {
    A values;
};

namespace detail {

template <class T, std::size_t N>
void moveElements(T (&from)[N], T (&to)[N]) {
    for (std::size_t i = 0; i < N; ++i) {
        if constexpr (std::is_array_v<T>)
            moveElements(from[i], to[i]);
        else
            to[i] = std::move(from[i]);
    }
}

/// The type of assignArray: a class, since gcc reports the call of a refused function twice if it is not a member.
struct AssignArray {
    template <class A>
        requires std::is_move_assignable_v<std::remove_all_extents_t<A>>
    void operator()(A& array, ArrayValue<A>&& value) const {
        moveElements(value.values, array);
    }
    template <class A>
    FLOW_REFUSED("an array whose elements cannot be assigned is declared at the top of its actor, before any statement")
    void operator()(A&, ArrayValue<A>&&) const {}
};

} // namespace detail

/// Assigns the declared value to a state variable that is an array.
inline constexpr detail::AssignArray assignArray;

} // namespace flow
