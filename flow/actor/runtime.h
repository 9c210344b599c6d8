#pragma once
// The base of actorc's state machines. Emitted code uses this file; programs do not.
//
// For `ACTOR Future<T> f(...)` actorc emits
//
//     struct FActorState {                        // parameters, then state variables
//         Exit a_body(Frame<T>& actor_);          // runs from the last suspension to the next, or to the end
//     };
//     struct FActor final : Actor<Frame<T>, FActorState> {};
//     Future<T> f(...) { return start<FActor>(...); }
//
// a_body resumes no waiter. It returns an Exit, which says how the run ended. After the last run, the functions here
// destroy the state, complete the result and resume the last waiter by a tail call. They also catch a_body's errors.

#include "flow/base/inline.h"
#include "flow/core/frame_size.h"
#include "flow/emitted/argument.h"
#include "flow/emitted/frame_fit.h"
#include "flow/emitted/pack.h"
#include "flow/emitted/result_in.h"
#include "flow/emitted/wait_lines.h"
#include "flow/wait/detail/choose.h"
#include "flow/wait/operation_room.h"

namespace flow::actor {
using namespace detail;

/// The result of an activation (one run of a_body): the status that the actor's cell gets.
enum class Exit : std::uint8_t {
    Suspended = Cell::kUnset,
    Never = Cell::kNever,
    Finished = Cell::kValue,
    Failed = Cell::kError
};

enum class Kind { Cancellable, Uncancellable };

/// Another name of T: emitted code can write Type<T>() for any spelling of a type.
template <class T>
using Type = T;

/// True if a body is compiled twice: once for its beginning, as part of the call, and once for the rest. With clang, an
/// actor then starts faster; gcc 12 would make slower code.
inline constexpr bool kTwoBodies = flow::detail::kClang;

/// The part of an actor that its a_body can use: the frame, without the state. T is void for actors without a result.
template <class T>
class Frame : public NumberedFrame {
public:
    using Value = T;

    /// Returns false if the actor must suspend. Also tests for a cancel, after which every wait fails. `from` is
    /// entry() at the beginning of this run: at the start (0) no future exists that could cancel the actor.
    FLOW_INLINE bool ready(Pending& wait, int from) {
        Cell* self = Cell::of(this);
        bool mayBeCancelled = !kTwoBodies || from != 0; // a constant
        if (mayBeCancelled && self->has(Cell::kCancelled)) [[unlikely]]
            wait.cancel(this);
        return wait.isReady() || wait.start();
    }
    FLOW_INLINE Exit park(Pending wait, int entry) {
        entry_ = entry;
        wait.park(this);
        return Exit::Suspended;
    }
    /// Returns the result of the wait at which this activation begins (none at the start). Called once per activation.
    FLOW_INLINE Pending resumed() { return Pending::resumed(this); }
    /// Returns the result of a choose at which the actor did not suspend.
    FLOW_INLINE Pending taken() { return Pending::resumed(this); }

    FLOW_INLINE bool when(ChooseBase& choose, Pending operand) { return choose.when(operand); }
    FLOW_INLINE Exit park(ChooseBase& choose, int entry) {
        entry_ = entry;
        choose.park(this);
        return Exit::Suspended;
    }

    template <class U = T, class = T>
        requires std::is_constructible_v<T, U>
    FLOW_INLINE Exit finish(U&& value) {
        Cell* self = Cell::of(this);
        if (self->futures != 0)
            constructValue<T>(self, std::forward<U>(value));
        return Exit::Finished;
    }
    template <class U = T>
        requires std::is_constructible_v<T, U const&>
    FLOW_INLINE Exit finish(U const& value) { // `return {name};`
        Cell* self = Cell::of(this);
        if (self->futures != 0)
            constructValue<T>(self, value);
        return Exit::Finished;
    }
    template <class Given = AnyList, class Wanted = T>
    FLOW_REFUSED(FLOW_NO_VALUE)
    Exit finish(Given&&) {
        return Exit::Finished;
    }
    Exit finish()
        requires std::is_void_v<T>
    {
        return Exit::Finished;
    }
    FLOW_INLINE Exit fail(Error error) {
        Cell::of(this)->error = error;
        return Exit::Failed;
    }
    FLOW_INLINE Exit fail(Pending failed) { return fail(takeErrorFor(Cell::of(this), failed.cell())); }
    Exit never() { return Exit::Never; }

protected:
    static constexpr bool kPropagates = false;

    void reset() {
        link.next = nullptr;
        awaited = {};
        entry_ = 0;
    }
};

/// The frame of an actor that catches no error of its waits. If a wait fails, or if the actor is cancelled while it
/// waits, its state is destroyed at once; a_body is not called again.
template <class T>
class PropagatingFrame : public Frame<T> {
public:
    using Frame<T>::park;
    FLOW_INLINE Exit park(Pending wait, int entry) {
        Exit exit = Frame<T>::park(wait, entry);
        if (wait.isHeld()) {
            if (this->awaited.isOperation()) // any other held wait is a wait for the loop, which cannot fail
                this->awaited = this->awaited.propagating();
        } else if (!wait.isDelay()) {
            this->awaited = Awaited::propagating(wait.cell());
        }
        return exit;
    }
    FLOW_INLINE Pending resumed() {
        Cell* cell = this->awaited.anyCell();
        this->awaited = {};
        if (cell && cell->isError())
            __builtin_unreachable(); // the frame would have been destroyed
        return Pending(cell);
    }
    FLOW_INLINE bool when(ChooseBase& choose, Pending operand) { return choose.when<true>(operand); }

protected:
    static constexpr bool kPropagates = true;
};

/// The value type of an actor's cell. An actor without a result has a cell of Void, which no code reads.
template <class T>
using CellType = std::conditional_t<std::is_void_v<T>, Void, T>;

/// Returns the bytes of the room (operation_room.h) behind the state. The compiler knows them after compiling a_body().
/// decltype makes it compile the a_body of a template first, because that a_body has a deduced result type.
template <class F, class S>
constexpr std::size_t roomBehind() {
    [[maybe_unused]] decltype(std::declval<S&>().a_body(std::declval<F&>())) exit = {};
    return roomBytes<S>();
}

template <class F, class S, Kind K = Kind::Cancellable>
struct Actor : F, ResultBytes<kPrefixBytes<CellType<typename F::Value>>> {
    using T = typename F::Value;
    using FrameType = F;
    using State = S;

    static constexpr std::uint8_t kFlags = Cell::kHasFrame |
                                           (K == Kind::Uncancellable || std::is_void_v<T> ? Cell::kUncancellable : 0) |
                                           (F::kPropagates ? Cell::kPropagates : 0);

    template <class... Args>
    static Future<CellType<T>> create(Args&&... args) {
        using Self = Actor;
        Cell* cell = newCell<CellType<T>>(sizeof(Self) + roomBehind<F, S>(), 1, 1, kFlags);
        auto future = Future<CellType<T>>::adopt(cell);
        auto* self = static_cast<Self*>(cell->frame());
        self->resume = resumeActor;
        self->destroy = destroyActor; // a cancel calls this only if F propagates; else the handlers run
        self->reset();
        noteRunning(self);
        std::uint8_t status;
        try {
            ::new (static_cast<void*>(&self->stateBytes_)) S(std::forward<Args>(args)...);
            status = self->template activate<true>();
        } catch (...) { // parameters or leading states could not be made
            status = self->failed(keepCaught(Cell::of(self)));
        }
        if (status != kSuspended) { // `future` is the only reference: no code waits or has cancelled
            setEnded<CellType<T>>(cell, status);
            cell->promises = 0;
        }
        return future;
    }

private:
    static constexpr std::uint8_t kSuspended = Cell::kUnset;

    S& state() { return *std::launder(reinterpret_cast<S*>(&stateBytes_)); }

    /// Runs a_body to its next suspension; at its end, destroys the state. Returns the cell's status, or kSuspended.
    template <bool isStart = false>
    FLOW_INLINE std::uint8_t activate() noexcept {
        Exit exit;
        Cell* cell = Cell::of(this);
        try {
            if (kTwoBodies && isStart != (this->entry() == 0))
                __builtin_unreachable(); // so that the body of later activations does not contain the beginning
            if constexpr (kTwoBodies && isStart) {
                FLOW_INLINE_CALL exit = state().a_body(*this);
            } else {
                exit = state().a_body(*this);
            }
        } catch (...) {
            cell->error = keepCaught(cell);
            exit = Exit::Failed;
        }
        if (exit == Exit::Suspended)
            return kSuspended;
        state().~S();
        if (exit == Exit::Failed)
            return failed(cell->error);
        return static_cast<std::uint8_t>(exit);
    }

    std::uint8_t failed(Error error) {
        Cell* cell = Cell::of(this);
        cell->error = error;
        return statusOfError(cell, std::is_void_v<T> ? 1 : 0); // `create` holds a future that no code reads
    }

    FLOW_INLINE Waiter* end(std::uint8_t status) noexcept {
        Cell* cell = Cell::of(this);
        if (status == Cell::kNever) { // never completed: all waiters go on waiting
            cell->flags = Cell::kNever;
            releasePromise(cell);
            return nullptr;
        }
        return finishFrame<CellType<T>>(cell, status);
    }

    static void destroyActor(Waiter* frame) { static_cast<Actor*>(frame)->state().~S(); }

    /// The table of waits. Debuggers find it by its name. The static_assert below makes the compiler emit the table.
    [[gnu::used]] static constexpr auto kWaits = waitLinesOf<S>();

    static void resumeActor(Waiter* frame) {
        static_assert(kWaits.count != ~std::uint32_t{0});
        auto* self = static_cast<Actor*>(frame);
        std::uint8_t status = self->activate();
        if (status == kSuspended)
            return;
        if (Waiter* last = self->end(status))
            FLOW_HAND_OVER(last);
    }

    alignas(S) unsigned char stateBytes_[sizeof(S)];
};

/// The bytes of the block of an actor, as FLOW_ASSERT_FRAME_SIZE counts them.
template <class A>
inline constexpr std::size_t kBlockBytes =
    FLOW_IGNORE_FRAME_LIMITS
        ? 0
        : blockOfFrame<CellType<typename A::Value>>(sizeof(A) + roomBehind<typename A::FrameType, typename A::State>());

/// Calls an actor: runs it to its first suspension. Throws only std::bad_alloc.
template <class A, class... Args>
auto start(Args&&... args) {
#if FLOW_CHECKED
    const void* before = runningActor;
#endif
    auto future = A::create(std::forward<Args>(args)...);
#if FLOW_CHECKED
    runningActor = before;
#endif
    if constexpr (std::is_same_v<typename A::Value, Unknown>)
        return Unknown();
    else if constexpr (!std::is_void_v<typename A::Value>)
        return future;
}

} // namespace flow::actor
