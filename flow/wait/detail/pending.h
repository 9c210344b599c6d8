#pragma once
// Pending: the operand of a wait, after its evaluation: a reference to a cell, a delay, an operation that has not
// started, or nothing to wait for. Actors, coroutines and fibers suspend on a Pending. Emitted code uses Pending
// directly, and has an OperationRoom for the actor's operations (flow/wait/operation_room.h).
//
//     Pending wait = pending<int>(future);        // T is exact: Future<int> or Never
//     if (!wait.isReady()) ... suspend ...
//     if (wait.failed()) return fail(wait.takeError());
//     Result<int> result = wait.take<int>();      // keeps the value alive without copying it
//
// The copies of a Pending share one reference: call take..., drop or park exactly once, on one of the copies.

#include "flow/base/inline.h"
#include "flow/core/in_place.h"
#include "flow/core/result.h"
#include "flow/core/stream.h"
#include "flow/wait/delay.h"

#include <concepts>
#include <cstring>
#include <utility>

namespace flow {

namespace detail {
template <class Awaitable>
struct ResultOf : std::type_identity<Void> {}; // for a type that cannot be awaited, pending() reports the error
template <class Awaitable>
    requires(!InPlace<Awaitable> && requires { typename Awaitable::Element; })
struct ResultOf<Awaitable> : std::type_identity<typename Awaitable::Element> {};
template <InPlace Op>
struct ResultOf<Op> : std::type_identity<typename Op::Result> {};
template <>
struct ResultOf<Never> : std::type_identity<Void> {};
template <>
struct ResultOf<Delay> : std::type_identity<Void> {};
template <>
struct ResultOf<Yield> : std::type_identity<Void> {};

/// An operation in place, at an address that does not change, for code that does not know the type of the operation.
struct HeldOperation {
    struct Functions {
        bool (*isReady)(HeldOperation&);
        void (*park)(HeldOperation&, Waiter&);
        Functions const* later; // the functions after putOff(); null if the operation cannot be put off
    };

    Functions const* functions;
    alignas(8) unsigned char bytes[32];

    template <InPlace Op>
    FLOW_INLINE void hold(Op const& op) {
        static constexpr Functions kLater = {[](HeldOperation&) { return false; },
                                             [](HeldOperation& held, Waiter& waiter) {
                                                 held.as<Op>().park(waiter);
                                                 goOnLater(waiter);
                                             },
                                             nullptr};
        static constexpr Functions kFunctions = {
            [](HeldOperation& held) { return held.as<Op>().isReady(); },
            [](HeldOperation& held, Waiter& waiter) { held.as<Op>().park(waiter); }, EndsOnce<Op> ? nullptr : &kLater};
        functions = &kFunctions;
        if constexpr (FLOW_CHECKED)
            std::memset(bytes, 0, sizeof bytes); // flow/wait/dying_local.h reads all bytes
        ::new (static_cast<void*>(bytes)) Op(op);
    }
    template <InPlace Op>
    FLOW_INLINE Op& as() {
        return *std::launder(reinterpret_cast<Op*>(bytes));
    }
    FLOW_INLINE bool isReady() { return functions->isReady(*this); }
    FLOW_INLINE void park(Waiter& waiter) { functions->park(*this, waiter); }
    /// Called for a ready operation. Returns true if the waiter continues without a suspension. If not, isReady() is
    /// false from here on, and the waiter resumes in its own turn.
    FLOW_INLINE bool goesOn() { return TurnBudget::takeOne() || !putOff(); }
    /// Like goesOn(), but uses up nothing of the turn's budget.
    FLOW_INLINE bool mayGoOn() { return !TurnBudget::isSpent() || !putOff(); }

private:
    [[gnu::noinline, gnu::cold]] bool putOff() {
        if (!functions->later)
            return false;
        functions = functions->later;
        return true;
    }
};

/// Takes the next element of a stream, and releases the reference to the stream.
template <class T>
T takeNext(Cell* cell) {
    FutureStream<T> held = FutureStream<T>::adopt(cell);
    return StreamState<T>::take(cell);
}
} // namespace detail

class Pending {
public:
    constexpr Pending() = default;
    explicit Pending(detail::Cell* cell) : cell_(cell) {}
    explicit Pending(Delay delay) : kind_(Kind::Delay), priority_(delay.priority()), deadline_(delay.deadline()) {}
    /// Returns the Pending of an operation in place. The operation starts when the frame is about to wait for it.
    template <InPlace Op>
    static Pending operation(Op const& op) {
        Pending pending(detail::Kept<Op>::create(op));
        pending.kind_ = Kind::Operation;
        return pending;
    }
    /// Makes the Pending of a held operation. Code that knows the operation's type calls the operation's take().
    explicit Pending(detail::HeldOperation* held) : kind_(Kind::Held), held_(held) {}
    /// Returns the result of a wait after the waiter was resumed: the cell in `awaited`, or nothing after a delay.
    FLOW_INLINE static Pending resumed(detail::Waiter* waiter) {
        Pending pending(waiter->awaited.cell());
        waiter->awaited = {};
        return pending;
    }

    FLOW_INLINE bool isReady() const { return kind_ == Kind::Cell && (!cell_ || cell_->isReady()); }
    bool isDelay() const { return kind_ == Kind::Delay; }
    bool isOperation() const { return kind_ == Kind::Operation; }
    bool isHeld() const { return kind_ == Kind::Held; }
    detail::HeldOperation* held() const { return held_; }
    /// Starts an operation. Returns true if the wait is over. Afterwards the Pending is the cell of the operation. A
    /// held operation has no cell: if it is ready, the Pending becomes empty. Otherwise the Pending does not change.
    FLOW_INLINE bool start() {
        if (kind_ == Kind::Held && held_->isReady() && held_->goesOn()) {
            *this = Pending();
            return true;
        }
        if (kind_ != Kind::Operation)
            return false;
        kind_ = Kind::Cell;
        return detail::startDormant(cell_, detail::StartKept::Always);
    }
    FLOW_INLINE void startIfReady() {
        if (kind_ == Kind::Operation && detail::startDormant(cell_, detail::StartKept::OnlyIfReady))
            kind_ = Kind::Cell;
    }
    Delay asDelay() const { return {deadline_, priority_}; }
    /// Returns the cell; null if there is nothing to wait for. Must not be called for a delay or a held operation.
    detail::Cell* cell() const { return cell_; }

    /// Parks a waiter, which must be free. The Pending must not be ready.
    FLOW_INLINE void park(detail::Waiter* waiter) const {
        if (kind_ == Kind::Delay)
            Loop::current().parkUntil(waiter, deadline_, priority_);
        else if (kind_ == Kind::Held)
            held_->park(*waiter);
        else
            detail::park(waiter, cell_);
    }

    /// Returns true if the wait has an error. The Pending must be ready. Then call one of the next functions, once.
    FLOW_INLINE bool failed() const { return cell_ && cell_->isError(); }
    FLOW_INLINE Error takeError() const { return detail::takeError(cell_); }
    /// Throws the exception behind the error, if there is one. Then no other function may be called.
    FLOW_INLINE void rethrow() const {
        if (detail::mayHaveException(cell_->error)) [[unlikely]]
            detail::throwIfKept(cell_);
    }
    /// Takes the result by reference.
    template <class T>
    detail::Result<T> take() const {
        return detail::Result<T>(cell_);
    }
    /// Takes the result by reference, or by value where a copy is free or needed.
    template <class T>
    auto takeLocal() const {
        return detail::takeLocal<T>(cell_);
    }
    template <class T>
    T takeValue() const {
        return detail::takeValue<T>(cell_);
    }
    template <class T>
    T takeNext() const {
        return detail::takeNext<T>(cell_);
    }
    /// Returns `!failed()`. If this is true, releases the result, which is a Void.
    FLOW_INLINE bool passed() const {
        if (!cell_)
            return true;
        if (cell_->isError())
            return false;
        detail::releaseFuture<Void>(cell_);
        return true;
    }
    /// Replaces the operand by the failed cell that every wait of a cancelled actor gets.
    FLOW_INLINE void cancel(detail::Waiter* frame) {
        *this = Pending(detail::cancelledCell(holdsCell() ? cell_ : nullptr, frame));
    }
    /// Releases the operand without taking a result.
    FLOW_INLINE void drop() const {
        if (holdsCell() && cell_)
            detail::releaseFuture(cell_);
    }

private:
    enum class Kind : unsigned char { Cell, Operation, Delay, Held };

    bool holdsCell() const { return kind_ <= Kind::Operation; }

    Kind kind_ = Kind::Cell;
    TaskPriority priority_ = TaskPriority::Zero;
    union {
        detail::Cell* cell_ = nullptr;
        double deadline_;
        detail::HeldOperation* held_;
    };
};

namespace detail {
// `caller` is empty in operators and lists, which do not know the place of the call.

template <class T>
Cell* validCell(T const& future, Caller caller = Caller()) {
    FLOW_ASSERT_AT(caller, future.isValid(), "a wait for an invalid Future: it was default-constructed or moved from");
    checkThread(future.cell(), caller);
    return future.cell();
}

template <class T>
Cell* readableCell(FutureStream<T> const& stream, Caller caller = Caller()) {
    Cell* cell = validCell(stream, caller);
    FLOW_ASSERT_AT(caller, cell->isReady() || cell->waiters.isEmpty(), kTwoReaders);
    return cell;
}

template <class E>
inline constexpr bool isPromise = requires(E const& each) { each.getFuture(); };
template <class E>
inline constexpr bool isStream = false;
template <class T>
inline constexpr bool isStream<FutureStream<T>> = true;
} // namespace detail

/// Asserts that the future is valid. A function that waits for its argument passes its own caller, for the message.
template <class T>
void checkValid(Future<T> const& future, std::source_location caller) {
    detail::validCell(future, caller);
}

#define FLOW_WAIT_FOR_PROMISE "wait(p) takes a Future: write wait(p.getFuture())"
#define FLOW_WAIT_FOR_STREAM "wait(s) takes a Future: to read the next value of a stream, write waitNext(s)"
#define FLOW_WAIT_FOR_OTHER                                                                                            \
    "wait(E) needs a Future of exactly the type that its result is declared with (Future<Void> when it has none); "    \
    "move "                                                                                                            \
    "a task that has a name: wait(std::move(task)); call a function: wait(f())"
#define FLOW_WAIT_NEXT_FOR_PROMISE "waitNext(p) takes a FutureStream: write waitNext(p.getFuture())"
#define FLOW_WAIT_NEXT_FOR_OTHER                                                                                       \
    "waitNext(E) needs a FutureStream of exactly the type that its result is declared with; to read the value of a "   \
    "Future, write wait(E)"

namespace detail {
template <class E>
inline constexpr bool isTime = std::is_same_v<E, Delay> || std::is_same_v<E, Yield>;
template <class E, class T>
inline constexpr bool isOperationWith = false;
template <InPlace E, class T>
inline constexpr bool isOperationWith<E, T> = std::is_same_v<typename E::Result, T>;

/// True for a race: the member kBecomesFuture says that the conversion of a race to a future is intended.
template <class E, class T>
concept BecomesFuture = requires { std::remove_cvref_t<E>::kBecomesFuture; } && std::is_convertible_v<E, Future<T>>;

/// True for a task, a fork or a race. Its member function future() starts it, unless it has started before. An lvalue
/// task or race does not give a future: std::move() it.
template <class E>
concept GivesFuture = requires(E&& awaitable) {
    { std::forward<E>(awaitable).future() } -> std::same_as<Future<typename std::remove_cvref_t<E>::Element>>;
};
template <class E, class T>
concept GivesFutureOf = GivesFuture<E> && std::is_same_v<typename std::remove_cvref_t<E>::Element, T>;

/// True for an operand of `wait` with a result of type T: a Future<T>, Never, an operation, a race, a task or a fork
/// with this result, and for Void also a delay or a yield. Other types that convert to a Future<T> are refused.
template <class E, class T, class Plain = std::remove_cvref_t<E>>
concept WaitableFor =
    std::is_same_v<Plain, Never> || (isTime<Plain> && std::is_same_v<T, Void>) || std::is_base_of_v<Future<T>, Plain> ||
    isOperationWith<Plain, T> || GivesFutureOf<E, T> || BecomesFuture<E, T>;
/// True for an operand of `waitNext`: a FutureStream<T>, or an operation in place with the result T.
template <class E, class T>
concept ReadableFor = std::is_convertible_v<E const&, FutureStream<T> const&> || isOperationWith<E, T>;
} // namespace detail

/// Makes the Pending of an operand of `wait`. Copies the reference of an lvalue future; moves it from an rvalue future.
template <class T, class Awaitable>
Pending pending(Awaitable&& awaitable, detail::Caller caller = detail::Caller()) {
    using Plain = std::remove_cvref_t<Awaitable>;
    static_assert(!detail::isPromise<Plain>, FLOW_WAIT_FOR_PROMISE);
    static_assert(!detail::isStream<Plain>, FLOW_WAIT_FOR_STREAM);
    static_assert(detail::isPromise<Plain> || detail::isStream<Plain> || detail::WaitableFor<Awaitable, T>,
                  FLOW_WAIT_FOR_OTHER);
    if constexpr (std::is_same_v<Plain, Never>) {
        return Pending(Future<T>(Never()).release());
    } else if constexpr (std::is_same_v<Plain, Delay>) {
        return Pending(awaitable);
    } else if constexpr (std::is_same_v<Plain, Yield>) {
        Loop& current = Loop::current();
        if (!current.shouldYield()) [[likely]]
            return Pending();
        return Pending(delay(0, awaitable.priority()));
    } else if constexpr (std::is_base_of_v<Future<T>, Plain>) {
        detail::validCell(awaitable, caller);
        if constexpr (std::is_lvalue_reference_v<Awaitable>) {
            detail::addFuture(awaitable.cell());
            return Pending(awaitable.cell());
        } else {
            return Pending(std::forward<Awaitable>(awaitable).release());
        }
    } else if constexpr (detail::GivesFutureOf<Awaitable, T>) {
        return Pending(std::forward<Awaitable>(awaitable).future().release());
    } else if constexpr (detail::BecomesFuture<Awaitable, T>) {
        Future<T> made = std::forward<Awaitable>(awaitable);
        return Pending(std::move(made).release());
    } else if constexpr (InPlace<Plain>) {
        return Pending::operation(awaitable);
    } else {
        return Pending(); // a static_assert above has refused the operand
    }
}

/// Makes the Pending of an operand of `waitNext`: a FutureStream<T>, which must have no other waiter.
template <class T>
Pending pendingNext(FutureStream<T> const& stream, detail::Caller caller = detail::Caller()) {
    detail::Cell* cell = detail::readableCell(stream, caller);
    detail::addFuture(cell);
    return Pending(cell);
}

} // namespace flow
