#pragma once
// OperationRoom: the memory in which an actor keeps an operation in place while it waits for the operation, so that the
// wait allocates nothing. Emitted code uses an OperationRoom; programs do not.
//
//     OperationRoom<FActorState, 3> room(this);                     // of a state machine: behind its state
//     coro::OperationRoom<waits, 3> room;                           // of a coroutine: a variable
//
//     Pending wait = operand<1, int>(room).wait(box->take());       // the wait with the number 1 of this actor
//     ... suspends, unless it is ready ...
//     auto item = takeLocal<1, int>(room, wait);
//
// A room has a place for each branch of the largest choose. An actor that waits only for futures and delays has no
// room: `operand` notes the type of each operand under the number of its wait, and these notes decide the size of the
// block. An operation that is aligned to more than 8 bytes is not kept in a room: a wait for it allocates one block.

#include "flow/wait/detail/pending.h"
#include "flow/wait/dying_local.h"

namespace flow {

namespace detail {

// A friend function that is declared in one class and defined in another carries a type from the operand of a wait to
// the code that takes its result. gcc warns of such friends; clang does not have that warning.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wnon-template-friend"
template <class Key>
struct Recall {
    friend constexpr auto noted(Recall);
};
#pragma GCC diagnostic pop
template <class Key, class T>
struct Note {
    friend constexpr auto noted(Recall<Key>) { return std::type_identity<T>(); }
    using Type = T;
};

template <class Key>
concept IsNoted = requires(Recall<Key> key) { noted(key); };
template <class Key>
using Noted = typename decltype(noted(Recall<Key>()))::type;

/// The keys of the notes. OperationOf notes the type of a wait's operand, if it is an operation in place. ResultOfWait
/// notes the type of a wait's result if the source has `auto`. RoomOf notes the type of an actor's room, if any.
template <class Tag, int Wait>
struct OperationOf;
template <class Tag, int Wait>
struct ResultOfWait;
template <class Tag>
struct RoomOf;

template <class Op>
concept FitsRoom = InPlace<Op> && alignof(Op) <= alignof(HeldOperation);

template <int Wait, class Place, class Awaitable>
struct NoteOperation {
    using Done = void;
};
template <int Wait, class Place, FitsRoom Op>
struct NoteOperation<Wait, Place, Op> : Note<OperationOf<typename Place::Tag, Wait>, Op>,
                                        Note<RoomOf<typename Place::Tag>, typename Place::Whole> {
    using Done = void;
};
template <int Wait, class Place, class Awaitable>
using NotedResult = typename Note<ResultOfWait<typename Place::Tag, Wait>,
                                  typename ResultOf<std::remove_cvref_t<Awaitable>>::type>::Type;

/// The place of a branch of a choose. The winner takes its result before the losers are released: the release of a
/// loser may run code that takes from the same source.
template <class R, class C>
struct Branch {
    using Whole = R;
    using Tag = typename R::Tag;

    HeldOperation* place;
    C* choose;

    struct ReleasesLosers {
        C* choose;
        FLOW_INLINE ~ReleasesLosers() { choose->releaseLosers(); }
    };
    FLOW_INLINE HeldOperation* held() const { return place; }
    FLOW_INLINE ReleasesLosers afterTaking() const { return {choose}; }
};

struct NoChoose {
    void releaseLosers() const {}
};
inline constexpr NoChoose noChoose;

/// The common part of both kinds of room. A wait outside of a choose uses the first place.
template <class Self, class T, int Places>
class RoomBase {
public:
    using Whole = Self;
    using Tag = T;
    static constexpr std::size_t kBytes = Places * sizeof(HeldOperation);

    struct Nothing {};

    /// Returns the place in which an operand is kept.
    FLOW_INLINE Branch<Self, NoChoose const> at(int place) const {
        return {static_cast<Self const*>(this)->held() + place, &noChoose};
    }
    /// Returns the place from which a result is taken.
    template <class Choose>
    FLOW_INLINE Branch<Self, Choose> at(int place, Choose& choose) const {
        return {static_cast<Self const*>(this)->held() + place, &choose};
    }
    FLOW_INLINE Nothing afterTaking() const { return {}; }
};

} // namespace detail

template <class State, int Places = 1>
class OperationRoom : public detail::RoomBase<OperationRoom<State, Places>, State, Places> {
public:
    explicit OperationRoom(State* state) : state_(reinterpret_cast<char*>(state)) {}
    /// Returns the room, which is behind the actor. The state, which is the actor's last member, may begin at any
    /// multiple of its own alignment, so the end of the state is rounded up.
    FLOW_INLINE detail::HeldOperation* held() const {
        constexpr std::size_t kAlignment = alignof(detail::HeldOperation);
        char* end = state_ + sizeof(State);
        if constexpr (alignof(State) < kAlignment)
            end += -reinterpret_cast<std::uintptr_t>(end) & (kAlignment - 1);
        else
            end += -sizeof(State) & (kAlignment - 1);
        return reinterpret_cast<detail::HeldOperation*>(end);
    }
    /// Does nothing: see forget() of coro::OperationRoom.
    template <class Operand>
    static void forget(Operand const&) {}

private:
    char* state_;
};

/// Returns the size of the room behind an actor's state. It is known only after the actor's body has been compiled.
template <class State>
constexpr std::size_t roomBytes() {
    if constexpr (detail::IsNoted<detail::RoomOf<State>>)
        return detail::Noted<detail::RoomOf<State>>::kBytes;
    else
        return 0;
}

namespace coro {

/// The room of a coroutine. `T` is a type that no other room has.
template <class T, int Places = 1>
class OperationRoom : public flow::detail::RoomBase<OperationRoom<T, Places>, T, Places> {
public:
    FLOW_INLINE flow::detail::HeldOperation* held() const { return held_; }
    /// Makes the compiler assume that the operand changes. Otherwise clang keeps the cell's address twice in the frame.
    template <class Operand>
    FLOW_INLINE static void forget(Operand const& operand) {
        asm("" : "+m"(const_cast<Operand&>(operand)));
    }

private:
    mutable flow::detail::HeldOperation held_[Places];
};

} // namespace coro

// ---------------------------------------------------------------------------------------------------------------------
// The operand of a wait. Signatures contain the notes: compilers may compile a body only at the end of the file.

namespace detail {
template <int Wait, class Place, class Awaitable>
using Noting = typename NoteOperation<Wait, Place, std::remove_cvref_t<Awaitable>>::Done;
} // namespace detail

/// A tag that stands for the type of the result if the source does not name this type: see Deduced.
struct Deduce {};

namespace detail {
template <class T, int Wait, class Place, class Awaitable>
struct ResultOfOperand : std::type_identity<T> {};
template <int Wait, class Place, class Awaitable>
struct ResultOfOperand<Deduce, Wait, Place, Awaitable> : std::type_identity<NotedResult<Wait, Place, Awaitable>> {};

/// Emitted code calls the user's `wait(E)` on this object: a mistake in E is reported at the user's line and column.
template <int Wait, class R, class P>
class Operand {
    template <class E>
    using T = typename ResultOfOperand<R, Wait, P, E>::type;

public:
    explicit Operand(P const& place) : place_(place) {}

    template <class E, class = Noting<Wait, P, E>>
        requires WaitableFor<E, T<E>>
    FLOW_INLINE Pending wait(E&& awaitable, Caller caller = Caller::current()) const {
        using Plain = std::remove_cvref_t<E>;
        if constexpr (FitsRoom<Plain>) {
            place_.held()->hold(static_cast<Plain const&>(awaitable));
            return Pending(place_.held());
        } else {
            Pending found = pending<T<E>>(std::forward<E>(awaitable), caller);
            if constexpr (std::is_lvalue_reference_v<E>)
                P::Whole::forget(awaitable);
            return found;
        }
    }
    template <class E>
        requires(isPromise<std::remove_cvref_t<E>> && !WaitableFor<E, T<E>>)
    FLOW_REFUSED(FLOW_WAIT_FOR_PROMISE)
    Pending wait(E&&) const {
        return Pending();
    }
    template <class E>
        requires(isStream<std::remove_cvref_t<E>> && !WaitableFor<E, T<E>>)
    FLOW_REFUSED(FLOW_WAIT_FOR_STREAM)
    Pending wait(E&&) const {
        return Pending();
    }
    template <class E>
        requires(!isPromise<std::remove_cvref_t<E>> && !isStream<std::remove_cvref_t<E>> && !WaitableFor<E, T<E>>)
    FLOW_REFUSED(FLOW_WAIT_FOR_OTHER)
    Pending wait(E&&) const {
        return Pending();
    }

    template <class E, class = Noting<Wait, P, E>>
        requires ReadableFor<E, T<E>>
    FLOW_INLINE Pending waitNext(E const& stream, Caller caller = Caller::current()) const {
        if constexpr (InPlace<E>) {
            return wait(stream, caller);
        } else {
            Pending found = pendingNext<T<E>>(stream, caller);
            P::Whole::forget(stream);
            return found;
        }
    }
    template <class E>
        requires(isPromise<E> && !ReadableFor<E, T<E>>)
    FLOW_REFUSED(FLOW_WAIT_NEXT_FOR_PROMISE)
    Pending waitNext(E const&) const {
        return Pending();
    }
    template <class E>
        requires(!isPromise<E> && !ReadableFor<E, T<E>>)
    FLOW_REFUSED(FLOW_WAIT_NEXT_FOR_OTHER)
    Pending waitNext(E const&) const {
        return Pending();
    }

private:
    P const& place_;
};
} // namespace detail

/// Returns the Operand of the wait `Wait`, with `place` for its operation. Use: operand<1, int>(room).wait(future).
template <int Wait, class T = Void, class Place>
FLOW_INLINE detail::Operand<Wait, T, Place> operand(Place const& place) {
    return detail::Operand<Wait, T, Place>(place);
}
namespace detail {
/// A type that replaces the type of a wrong operand. It converts to all types, so that compilers report nothing more.
struct Anything {
    template <class T>
    operator T() const;
};
template <class Key>
struct NotedOrAnything : std::type_identity<Anything> {};
template <IsNoted Key>
struct NotedOrAnything<Key> : std::type_identity<Noted<Key>> {};
} // namespace detail

/// The type of the result that replaces Deduce in the wait with this number, which is further up in the same function.
template <class Room, int Wait>
using Deduced = typename detail::NotedOrAnything<detail::ResultOfWait<typename Room::Tag, Wait>>::type;

// ---------------------------------------------------------------------------------------------------------------------
// The result of a wait

namespace detail {

template <class Place, int Wait>
using WaitsFor = OperationOf<typename Place::Tag, Wait>;

template <class T, int Wait, class Place>
FLOW_INLINE T takeHeld(Place const& place) {
    [[maybe_unused]] auto after = place.afterTaking();
    return place.held()->template as<Noted<WaitsFor<Place, Wait>>>().take();
}

} // namespace detail

/// The next functions do what the functions of Pending with the same names do.
template <int Wait, class Place>
FLOW_INLINE bool passed(Place const& place, Pending wait) {
    if constexpr (detail::IsNoted<detail::WaitsFor<Place, Wait>>) {
        if (wait.failed())
            return false;
        detail::takeHeld<Void, Wait>(place);
        return true;
    } else {
        return wait.passed();
    }
}
template <int Wait, class Place>
FLOW_INLINE void drop(Place const& place, Pending wait) {
    if constexpr (detail::IsNoted<detail::WaitsFor<Place, Wait>>)
        detail::takeHeld<Void, Wait>(place);
    else
        wait.drop();
}
template <int Wait, class T, class Place>
FLOW_INLINE auto takeLocal(Place const& place, Pending wait) {
    if constexpr (detail::IsNoted<detail::WaitsFor<Place, Wait>>)
        return detail::Own<T>(detail::takeHeld<T, Wait>(place));
    else
        return wait.takeLocal<T>();
}
template <int Wait, class T, class Place>
FLOW_INLINE auto take(Place const& place, Pending wait) {
    if constexpr (detail::IsNoted<detail::WaitsFor<Place, Wait>>)
        return detail::Own<T>(detail::takeHeld<T, Wait>(place));
    else
        return wait.take<T>();
}
template <int Wait, class T, class Place>
FLOW_INLINE T takeValue(Place const& place, Pending wait) {
    if constexpr (detail::IsNoted<detail::WaitsFor<Place, Wait>>)
        return detail::takeHeld<T, Wait>(place);
    else
        return wait.takeValue<T>();
}
template <int Wait, class T, class Place>
FLOW_INLINE T takeNext(Place const& place, Pending wait) {
    if constexpr (detail::IsNoted<detail::WaitsFor<Place, Wait>>) {
        return detail::takeHeld<T, Wait>(place);
    } else {
        [[maybe_unused]] auto after = place.afterTaking();
        return wait.takeNext<T>();
    }
}

/// Releases the losers of a choose, unless the winner must take its result first. `Waits` has the number of each wait
/// of the choose, in order. The number of a waitNext() is negative.
template <int... Waits, class Room, class Choose>
FLOW_INLINE void releaseLosers(Room const&, Choose& choose, Pending wait) {
    std::size_t branch = 0;
    bool takesFirst = false;
    auto ask = [&]<int Wait>() {
        if constexpr (Wait < 0 || detail::IsNoted<detail::WaitsFor<Room, Wait>>)
            takesFirst = takesFirst || choose.won(branch);
        ++branch;
    };
    (ask.template operator()<Waits>(), ...);
    if (wait.failed() || !takesFirst)
        choose.releaseLosers();
}

} // namespace flow
