#pragma once
// Fibers: functions with their own stacks, which wait without blocking the thread.
//
//     Future<int> answer = fiber::spawn([&] {
//         Page page = fiber::wait(load(7));                    // all that can be awaited (flow/wait/operand.h)
//         fiber::sleep(0.5);
//         auto first = fiber::wait(race(reply, delay(1.0)));   // flow/combine/race.h; a race allocates nothing
//         return parse(page);                                  // any function that it calls may wait
//     });
//
// Fibers are for code that cannot be an actor or a coroutine: a storage engine, a parser, a library with callbacks.
// spawn() runs the function immediately, on the loop's thread, up to its first wait. A wait throws the error of its
// operand. If the Future is dropped or cancelled, the present wait and each later wait throw actor_cancelled, and the
// stack unwinds. A function that catches this error must return soon. Cancel-safe: a cancelled wait has taken no value.
// When a simulated process is killed, its fibers end in the same way.
//
// A fiber never changes its thread. The value or the exception of its function is the future's result. An exception may
// be in flight while other fibers run: each stack has its own exceptions.

#include "flow/fiber/context_switch.h"
#include "flow/fiber/detail/stack_pool.h"
#include "flow/wait/operand.h"

#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

namespace flow::fiber {

struct Options {
    /// The stack size, rounded up to whole pages, at least 4 pages. Test your code before you set less than 256 KiB: a
    /// storage engine overflows 32 KiB.
    std::size_t stackBytes = 256 << 10;
    /// The name for messages. The text is not copied.
    char const* name = "unnamed";
};

namespace detail {
using flow::detail::Cell;
using flow::detail::Waiter;

class Fiber : public Waiter {
public:
    using Body = std::uint8_t (*)(Fiber* fiber, void* function) noexcept;

    Fiber(Fiber const&) = delete;
    Fiber& operator=(Fiber const&) = delete;

    char const* name() const { return name_; }
    Stack const& stack() const { return stack_; }
    bool isCancelled() { return Cell::of(this)->has(Cell::kCancelled | Cell::kUncancellable); }

    /// Switches to the code that resumed the fiber. Returns when the fiber is resumed again. Before the call, the fiber
    /// must be parked at an operand. `where` is for messages.
    void suspend(std::source_location where) noexcept {
        where_ = where;
        suspend();
    }
    /// Returns the used part of the fiber's stack, or two null pointers while the fiber runs.
    std::pair<void const*, void const*> usedStack() const {
        return context_ ? std::pair<void const*, void const*>(context_, stack_.end())
                        : std::pair<void const*, void const*>();
    }
    std::source_location const& where() const { return where_; }

    /// Takes the result of a wait: a ready cell, or null.
    Cell* takeAwaited() {
        Cell* cell = awaited.anyCell();
        awaited = {};
        return cell;
    }

    /// Makes a fiber in the cell, and runs it up to its first wait. The cell has room for a Fiber, and no frame yet.
    /// Moves the object at `function` to the fiber's stack.
    static void start(Cell* cell, Body body, void* function, Options const& options, void (*resume)(Waiter*));
    /// Runs the fiber up to its next wait. Returns the status of its end; kUnset if it waits.
    std::uint8_t enter() noexcept;

private:
    explicit Fiber(Options const& options);
    void suspend() noexcept;
    void end() noexcept;
    void noteCaller() {
#if FLOW_THREAD_SANITIZER
        callerIdentity_ = __tsan_get_current_fiber();
#endif
    }
    friend struct Entry;

    // tools/millrace/debugger/fibers.py reads stack_, name_, context_ and older_.
    Stack stack_;
    char const* name_;
    void* context_ = nullptr; // where the fiber resumes; null while this fiber, or a fiber that it resumed, runs
    Fiber* older_ = nullptr;
    Fiber* newer_ = nullptr;

    void* caller_ = nullptr; // where the code that resumed the fiber continues
    Body body_ = nullptr;
    void* function_ = nullptr;
    ThreadState state_; // the thread's state for this stack, while the fiber is suspended
    std::uint8_t status_ = Cell::kUnset;
    std::source_location where_;
    // For sanitizers:
    void const* callerStack_ = nullptr;
    std::size_t callerBytes_ = 0;
    void* identity_ = nullptr;
    void* callerIdentity_ = nullptr;
};

inline constinit thread_local Fiber* currentFiber = nullptr;
/// The newest fiber of this thread that has not ended, for debuggers.
inline constinit thread_local Fiber* newestFiber = nullptr;

FLOW_SWITCHES std::uint8_t Fiber::enter() noexcept {
    Fiber* outer = std::exchange(currentFiber, this);
    ThreadState outside = ThreadState::ofThread();
    outside.replaceWith(state_);
    noteCaller();
    void* fake = nullptr;
    beforeSwitch(&fake, stack_.begin(), stack_.bytes, identity_);
    context_ = switchTo(std::exchange(context_, nullptr), this).fctx;
    afterSwitch(fake, nullptr, nullptr);
    ThreadState inside = ThreadState::ofThread();
    inside.replaceWith(outside);
    if (inside != state_) [[unlikely]]
        state_ = inside;
    currentFiber = outer;
    if (status_ != Cell::kUnset)
        end();
    return status_;
}

FLOW_SWITCHES void Fiber::suspend() noexcept {
    void* fake = nullptr;
    beforeSwitch(&fake, callerStack_, callerBytes_, callerIdentity_);
    Arrival from = switchTo(caller_, nullptr);
    afterSwitch(fake, &callerStack_, &callerBytes_);
    caller_ = from.fctx;
}

/// Returns the running fiber. If no fiber runs, an assertion with the text `function` fails.
inline Fiber& runningFiber(char const* function) {
    Fiber* fiber = currentFiber;
    FLOW_ASSERT(fiber, function);
    return *fiber;
}

template <class T, class F>
std::uint8_t runBody(Fiber* fiber, void* function) noexcept {
    Cell* cell = Cell::of(fiber);
    try {
        F mine(std::move(*static_cast<F*>(function)));
        if constexpr (std::is_void_v<std::invoke_result_t<F&>>)
            mine();
        else
            flow::detail::constructValue<T>(cell, mine());
        return Cell::kValue;
    } catch (...) {
        cell->error = flow::detail::keepCaught(cell);
        return Cell::kError;
    }
}

template <class T, class F>
void resumeFiber(Waiter* waiter) {
    auto* fiber = static_cast<Fiber*>(waiter);
    std::uint8_t status = fiber->enter();
    if (status == Cell::kUnset)
        return;
    Cell* cell = Cell::of(waiter);
    if (status == Cell::kError)
        status = flow::detail::statusOfError(cell);
    if (Waiter* last = flow::detail::finishFrame<T>(cell, status))
        FLOW_HAND_OVER(last);
}

} // namespace detail

/// Runs function() immediately, on a new stack. Returns Future<Void> if function() returns void. Throws std::bad_alloc.
template <class F>
auto spawn(F&& function, Options options = {}) {
    using Function = std::decay_t<F>;
    using Returned = std::invoke_result_t<Function&>;
    using T = std::conditional_t<std::is_void_v<Returned>, Void, std::remove_cvref_t<Returned>>;
    Function mine(std::forward<F>(function));
    flow::detail::Cell* cell = flow::detail::newCell<T>(sizeof(detail::Fiber), 1, 1);
    auto future = Future<T>::adopt(cell);
    detail::Fiber::start(cell, detail::runBody<T, Function>, &mine, options, detail::resumeFiber<T, Function>);
    return future;
}

/// Waits for the operand, and returns its result. Throws its error, or actor_cancelled. Must be called in a fiber.
template <class Operand>
FLOW_INLINE auto wait(Operand&& operand, std::source_location where = std::source_location::current()) {
    using Plain = std::remove_cvref_t<Operand>;
    static_assert(!flow::detail::isPromise<Plain>, FLOW_WAIT_FOR_PROMISE);
    static_assert(CanBeAwaited<Plain>, "a fiber waits for a Future, a FutureStream, a delay, an operation, a race, a "
                                       "task, or a function without parameters that makes one");
    detail::Fiber& fiber = detail::runningFiber("fiber::wait() outside of a fiber");
    if constexpr (InPlace<Plain>) {
        Plain op = operand;
        if (fiber.isCancelled())
            throw flow::detail::takeError(flow::detail::cancelledCell(nullptr, &fiber));
        if (flow::detail::parkUnlessReady(op, fiber)) {
            fiber.suspend(where);
            if (detail::Cell* failed = fiber.takeAwaited()) {
                Error error = flow::detail::takeErrorToThrow(failed);
                throw error;
            }
        }
        return op.take();
    } else if constexpr (requires { operand.waitOn(fiber, where, [] {}); }) { // the operand is a race()
        return operand.waitOn(fiber, where, [&] { fiber.suspend(where); });
    } else if constexpr (CanBeAwaited<Plain>) {
        using Waited = flow::detail::OperandOf<Plain>;
        Pending pending = Waited::operand(std::forward<Operand>(operand), where);
        if (fiber.isCancelled())
            pending.cancel(&fiber);
        if (!pending.isReady() && !pending.start()) {
            pending.park(&fiber);
            fiber.suspend(where);
            pending = Pending(fiber.takeAwaited());
        }
        if (pending.failed()) {
            Error error = flow::detail::takeErrorToThrow(pending.cell());
            throw error;
        }
        return Waited::take(pending);
    }
}

/// Lets other steps run if more urgent work is ready, or if the time slice of this step is used up.
inline void yield(TaskPriority priority = TaskPriority::DefaultYield,
                  std::source_location where = std::source_location::current()) {
    wait(flow::yield(priority), where);
}
inline void sleep(Seconds seconds, std::source_location where = std::source_location::current()) {
    wait(delay(seconds), where);
}

inline bool isFiber() {
    return detail::currentFiber != nullptr;
}
/// Returns the bytes of the running fiber's stack that this or earlier fibers have used, in whole pages.
inline std::size_t stackBytesUsed() {
    return detail::residentBytes(detail::runningFiber("fiber::stackBytesUsed() outside of a fiber").stack());
}

} // namespace flow::fiber
