#pragma once
// OperationRoom: where an actor keeps an operation in place while it waits for it, so that the wait allocates nothing.
// Emitted code uses it; programs do not.
//
//     OperationRoom<FActorState, 3> room(this);                     // a state machine's: behind its state
//     coro::OperationRoom<waits, 3> room;                           // a coroutine's: a variable
//
//     Pending wait = pending<1, int>(room, box->take());     // the wait with the number 1 of this actor
//     ... suspends, unless it is ready ...
//     auto item = takeLocal<1, int>(room, wait);
//
// It has a place for each branch of the largest choose. An actor that waits for nothing but futures and delays has
// none: what an operand is, `pending` notes under the number of its wait, and the size of the block depends on that. An
// operation with objects aligned to more than 8 bytes does not fit: its wait takes one block.

#include "flow/wait/pending.h"

namespace flow {

namespace detail {

// A friend that is declared in one class and defined in another carries a type from where the operand of a wait stands
// to where its result is taken, which may be another scope. gcc warns of such friends; clang does not have that
// warning.
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

/// What is noted of a wait: the type of its operation in place, and that of its result where the source has `auto`. And
/// of an actor: its room, if that is needed.
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

/// The place of a branch of a choose. What wins takes first, and then the losers are released, since a loser may take
/// from the same source.
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

/// What both kinds of room have. The place of a wait that is no choose's is the first.
template <class Self, class T, int Places>
class RoomBase {
public:
    using Whole = Self;
    using Tag = T;
    static constexpr std::size_t kBytes = Places * sizeof(HeldOperation);

    struct Nothing {};

    /// To keep an operand there.
    FLOW_INLINE Branch<Self, NoChoose const> at(int place) const {
        return {static_cast<Self const*>(this)->held() + place, &noChoose};
    }
    /// To take the result.
    template <class Choose>
    FLOW_INLINE Branch<Self, Choose> at(int place, Choose& choose) const {
        return {static_cast<Self const*>(this)->held() + place, &choose};
    }
    FLOW_INLINE Nothing afterTaking() const { return {}; }
};

} // namespace detail

/// The room of a state machine.
template <class State, int Places = 1>
class OperationRoom : public detail::RoomBase<OperationRoom<State, Places>, State, Places> {
public:
    explicit OperationRoom(State* state) : state_(reinterpret_cast<char*>(state)) {}
    /// Behind the actor: the state, which is its last member, may begin at any multiple of its own alignment.
    FLOW_INLINE detail::HeldOperation* held() const {
        constexpr std::size_t kAlignment = alignof(detail::HeldOperation);
        char* end = state_ + sizeof(State);
        if constexpr (alignof(State) < kAlignment)
            end += -reinterpret_cast<std::uintptr_t>(end) & (kAlignment - 1);
        else
            end += -sizeof(State) & (kAlignment - 1);
        return reinterpret_cast<detail::HeldOperation*>(end);
    }
    /// Nothing to do: see coro::OperationRoom.
    template <class Operand>
    static void forget(Operand const&) {}

private:
    char* state_;
};

/// Bytes of the room behind the state of an actor, known once its body is.
template <class State>
constexpr std::size_t roomBytes() {
    if constexpr (detail::IsNoted<detail::RoomOf<State>>)
        return detail::Noted<detail::RoomOf<State>>::kBytes;
    else
        return 0;
}

namespace coro {

/// The room of a coroutine. `T` is a type of its own.
template <class T, int Places = 1>
class OperationRoom : public flow::detail::RoomBase<OperationRoom<T, Places>, T, Places> {
public:
    FLOW_INLINE flow::detail::HeldOperation* held() const { return held_; }
    /// The compiler must assume that the operand changes: otherwise clang keeps the cell in the frame, beside the
    /// variable that holds it.
    template <class Operand>
    FLOW_INLINE static void forget(Operand const& operand) {
        asm("" : "+m"(const_cast<Operand&>(operand)));
    }

private:
    mutable flow::detail::HeldOperation held_[Places];
};

} // namespace coro

// ---------------------------------------------------------------------------------------------------------------------
// The operand of a wait. What is noted is noted in the signatures, since a body may be compiled at the end of the file.

namespace detail {
template <int Wait, class Place, class Awaitable>
using Noting = typename NoteOperation<Wait, Place, std::remove_cvref_t<Awaitable>>::Done;
} // namespace detail

/// pending<T>() of a wait, which keeps an operation in the place.
template <int Wait, class T = Void, class Place, class Awaitable, class = detail::Noting<Wait, Place, Awaitable>>
FLOW_INLINE Pending pending(Place const& place, Awaitable&& awaitable) {
    using Plain = std::remove_cvref_t<Awaitable>;
    if constexpr (detail::FitsRoom<Plain>) {
        static_assert(std::is_same_v<T, typename Plain::Result>,
                      "the result of wait(E) is declared with another type than the operation gives");
        place.held()->hold(static_cast<Plain const&>(awaitable));
        return Pending(place.held());
    } else {
        Pending wait = flow::pending<T>(std::forward<Awaitable>(awaitable));
        if constexpr (std::is_lvalue_reference_v<Awaitable>)
            Place::Whole::forget(awaitable);
        return wait;
    }
}
/// The same for waitNext().
template <int Wait, class T, class Place, class Stream, class = detail::Noting<Wait, Place, Stream>>
FLOW_INLINE Pending pendingNext(Place const& place, Stream const& stream) {
    if constexpr (InPlace<Stream>) {
        return flow::pending<Wait, T>(place, stream);
    } else {
        Pending wait = flow::pendingNext<T>(stream);
        Place::Whole::forget(stream);
        return wait;
    }
}

/// The same where the source does not say the type of the result: see Deduced.
template <int Wait, class Place, class Awaitable, class T = detail::NotedResult<Wait, Place, Awaitable>,
          class = detail::Noting<Wait, Place, Awaitable>>
FLOW_INLINE Pending pendingAs(Place const& place, Awaitable&& awaitable) {
    return flow::pending<Wait, T>(place, std::forward<Awaitable>(awaitable));
}
template <int Wait, class Place, class Stream, class T = detail::NotedResult<Wait, Place, Stream>,
          class = detail::Noting<Wait, Place, Stream>>
FLOW_INLINE Pending pendingNextAs(Place const& place, Stream const& stream) {
    return flow::pendingNext<Wait, T>(place, stream);
}
/// The type that pendingAs<Wait>() or pendingNextAs<Wait>(), further up in the same function, found.
template <class Room, int Wait>
using Deduced = detail::Noted<detail::ResultOfWait<typename Room::Tag, Wait>>;

// ---------------------------------------------------------------------------------------------------------------------
// What a wait goes on with

namespace detail {

template <class Place, int Wait>
using WaitsFor = OperationOf<typename Place::Tag, Wait>;

template <class T, int Wait, class Place>
FLOW_INLINE T takeHeld(Place const& place) {
    [[maybe_unused]] auto after = place.afterTaking();
    return place.held()->template as<Noted<WaitsFor<Place, Wait>>>().take();
}

} // namespace detail

/// Pending::passed(), for a wait without a result.
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
/// Pending::drop(), for a branch without a result.
template <int Wait, class Place>
FLOW_INLINE void drop(Place const& place, Pending wait) {
    if constexpr (detail::IsNoted<detail::WaitsFor<Place, Wait>>)
        detail::takeHeld<Void, Wait>(place);
    else
        wait.drop();
}
/// Pending::takeLocal<T>().
template <int Wait, class T, class Place>
FLOW_INLINE auto takeLocal(Place const& place, Pending wait) {
    if constexpr (detail::IsNoted<detail::WaitsFor<Place, Wait>>)
        return detail::Own<T>(detail::takeHeld<T, Wait>(place));
    else
        return wait.takeLocal<T>();
}
/// Pending::take<T>().
template <int Wait, class T, class Place>
FLOW_INLINE auto take(Place const& place, Pending wait) {
    if constexpr (detail::IsNoted<detail::WaitsFor<Place, Wait>>)
        return detail::Own<T>(detail::takeHeld<T, Wait>(place));
    else
        return wait.take<T>();
}
/// Pending::takeValue<T>().
template <int Wait, class T, class Place>
FLOW_INLINE T takeValue(Place const& place, Pending wait) {
    if constexpr (detail::IsNoted<detail::WaitsFor<Place, Wait>>)
        return detail::takeHeld<T, Wait>(place);
    else
        return wait.takeValue<T>();
}
/// Pending::takeNext<T>().
template <int Wait, class T, class Place>
FLOW_INLINE T takeNext(Place const& place, Pending wait) {
    if constexpr (detail::IsNoted<detail::WaitsFor<Place, Wait>>) {
        return detail::takeHeld<T, Wait>(place);
    } else {
        [[maybe_unused]] auto after = place.afterTaking();
        return wait.takeNext<T>();
    }
}

/// Behind a choose of these waits, in order, of which a waitNext() has a negative number: unless the winner takes
/// first.
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
