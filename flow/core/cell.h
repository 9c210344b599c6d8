#pragma once
// The life of a result cell: it is made, it is set once, and then its waiters run. It is freed when neither a promise
// nor a future refers to it any more.
//
//     Cell* cell = newCell<int>(0, 1, 1);                 // no frame, one future, one promise
//     constructValue<int>(cell, 7);
//     if (Waiter* last = complete(cell, Cell::kValue)) run(last);
//     releasePromise(cell); releaseFuture(cell);          // the block goes back to the allocator
//
// Future, Promise, actors, coroutines and fibers are made of the functions here. Programs do not call these functions.

#include "flow/core/detail/run.h"
#include "flow/core/void.h"
#include "flow/memory/detail/padded_block.h"

#include <cstring>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

namespace flow::detail {

// -------------------------------------------------------------------------------------------------------------------
// The value in front of the cell

/// False for a type without members. Its values take no room and are never constructed.
template <class T>
inline constexpr bool kStored = !(std::is_empty_v<T> && std::is_trivially_copyable_v<T>);

template <class T>
inline constexpr std::size_t kDestructorBytes = std::is_trivially_destructible_v<T> ? 0 : sizeof(void*);

template <class T>
inline constexpr std::size_t kPrefixBytes = kStored<T> ? (sizeof(T) + kDestructorBytes<T> + 15) / 16 * 16 : 0;

template <class T>
T& valueOf(Cell* cell) {
    if constexpr (kStored<T>)
        return *std::launder(reinterpret_cast<T*>(reinterpret_cast<char*>(cell) - kPrefixBytes<T>));
    else
        return *reinterpret_cast<T*>(cell);
}

template <class T>
void destroyValue(Cell* cell) {
    valueOf<T>(cell).~T();
}

/// The error message for an argument that does not convert to the value. Each function that takes a value has a second
/// overload for such arguments, so that compilers report the mistake at the user's line and not in this header.
#define FLOW_NO_VALUE "no value of the future's type can be made of what is returned or sent"

/// The parameter type of the second overload if the argument is a `{list}`. The second overload is `template <class
/// Given = AnyList, class Wanted = T>`. The first overload has the same template parameters and a constraint, so C++
/// prefers it if both fit. Compilers print `Wanted` in the message.
struct AnyList {
    template <class... Elements>
    AnyList(Elements&&...) {}
    AnyList(std::initializer_list<AnyList>) {}
};

/// Builds the value. complete() sets the cell's status later. May throw what T's constructor throws.
template <class T, class... Args>
void constructValue(Cell* cell, Args&&... args) {
    static_assert(std::is_constructible_v<T, Args...>, FLOW_NO_VALUE);
    if constexpr (kStored<T>) {
        if constexpr (!std::is_trivially_destructible_v<T>)
            if (cell->has(Cell::kDestroyValue)) [[unlikely]] { // built by a `return` after which a destructor threw
                cell->flags &= static_cast<std::uint8_t>(~Cell::kDestroyValue);
                destroyValue<T>(cell);
            }
        ::new (reinterpret_cast<char*>(cell) - kPrefixBytes<T>) T(std::forward<Args>(args)...);
        if constexpr (!std::is_trivially_destructible_v<T>) {
            reinterpret_cast<void (**)(Cell*)>(cell)[-1] = destroyValue<T>;
            cell->flags |= Cell::kDestroyValue;
        }
    }
}

// -------------------------------------------------------------------------------------------------------------------
// Making and freeing

#if FLOW_CHECKED
/// The process that this thread simulates at the moment; null if it simulates none.
inline constinit thread_local const void* simulatedOwner = nullptr;
inline const void* thisThread() {
    static constinit thread_local char mark = 0;
    return simulatedOwner ? simulatedOwner : &mark;
}
inline void checkThread(Cell const* cell, Caller caller = Caller()) {
    FLOW_ASSERT_AT(
        caller, cell->owner == thisThread(),
        "a Future or Promise is used on a thread other than the one that made it, or in another simulated process");
}
#else
inline void checkThread(Cell const*, Caller = Caller()) {}
#endif

template <class T>
FLOW_INLINE Cell* placeCell(void* block, memory::SizeClass sizeClass, std::uint32_t futures, std::uint32_t promises,
                            std::uint8_t flags) {
    static_assert(alignof(T) <= 16, "values of futures are aligned to 16 bytes at most: hold this one by pointer");
    static_assert(kPrefixBytes<T> < 16 * 65536, "values of futures are below 1 MiB: hold this one by pointer");
    auto* cell = reinterpret_cast<Cell*>(static_cast<char*>(block) + kPrefixBytes<T>);
    cell->waiters.reset();
    cell->futures = futures;
    cell->promises = promises;
    cell->error = Error();
    cell->flags = flags;
    cell->sizeClass = sizeClass;
    cell->prefixUnits = static_cast<std::uint16_t>(kPrefixBytes<T> / 16);
#if FLOW_CHECKED
    cell->owner = thisThread();
    cell->filler = nullptr;
#endif
    return cell;
}

/// Clears a new block in checked builds: a search of a frame for addresses (dying_local.h) must find no old address.
inline void clearBlock([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) {
    if constexpr (FLOW_CHECKED)
        std::memset(block, 0, bytes);
}

/// Makes a cell for T with `frameBytes` of frame behind it. Throws std::bad_alloc.
template <class T>
Cell* newCell(std::size_t frameBytes, std::uint32_t futures, std::uint32_t promises, std::uint8_t flags = 0) {
    std::size_t bytes = kPrefixBytes<T> + sizeof(Cell) + frameBytes;
    void* block = memory::allocateCell(bytes, kPrefixBytes<T>);
    clearBlock(block, bytes);
    return placeCell<T>(block, memory::sizeClassOf(bytes), futures, promises, flags);
}

/// Returns the bytes of padding for an aligned frame. The order is: padding, `head` bytes (result and cell), frame.
constexpr std::size_t paddingFor(std::size_t head, std::size_t alignment) {
    return -head & (alignment - 1);
}
/// Returns the size of the whole block. It is a multiple of the alignment: blocks of other sizes are not aligned.
constexpr std::size_t alignedBytes(std::size_t head, std::size_t frameBytes, std::size_t alignment) {
    return memory::roundUp(paddingFor(head, alignment) + head + frameBytes, alignment);
}
/// Like newCell(), with a frame that is aligned to `alignment`, a power of two up to kMostAlignment.
template <class T>
Cell* newAlignedCell(std::size_t frameBytes, std::size_t alignment, std::uint32_t futures, std::uint32_t promises,
                     std::uint8_t flags = 0) {
    constexpr std::size_t kHead = kPrefixBytes<T> + sizeof(Cell);
    std::size_t padding = paddingFor(kHead, alignment);
    std::size_t bytes = alignedBytes(kHead, frameBytes, alignment);
    void* block = memory::allocateCell(bytes, padding + kPrefixBytes<T>);
    clearBlock(block, bytes);
    memory::SizeClass sizeClass = memory::sizeClassOf(bytes);
    if (padding == 0)
        return placeCell<T>(block, sizeClass, futures, promises, flags);
    block = memory::PaddedBlock::make(block, padding, sizeClass);
    return placeCell<T>(block, memory::kPaddedClass, futures, promises, flags);
}

/// The part of freeCell() for a value with a destructor and for an unread error.
FLOW_RARE void freeWithCare(Cell* cell) noexcept;

// In the functions below, T is the type of the cell's value, or void if the type is not known. A known type is faster:
// the offset of the value is a constant, and often no test for a destructor is needed.

/// Destroys the value, if there is one, reports an unread error, and gives the block back.
template <class T = void>
void freeCell(Cell* cell) {
    if (cell->has(Cell::kUnreadBit | (std::is_trivially_destructible_v<T> ? 0 : Cell::kDestroyValue))) [[unlikely]]
        return freeWithCare(cell);
    if constexpr (std::is_void_v<T>) {
        memory::release(cell->valueAddress(), cell->sizeClass);
    } else {
        FLOW_CHECK(cell->prefixUnits * std::size_t{16} == kPrefixBytes<T>,
                   "a cell is freed as one of another type than it was made for");
        memory::release(reinterpret_cast<char*>(cell) - kPrefixBytes<T>, cell->sizeClass);
    }
}

/// Cancels the actor of a cell that has lost its last future reference, if the actor's frame has not ended.
FLOW_RARE void lastFutureGone(Cell* cell) noexcept;

/// True while this thread ends a group of cells as if their machine had stopped: see StoppedMachine (live_blocks.h).
inline constinit thread_local bool machineStops = false;
/// Called by lastFutureGone() while machineStops is true: destroys the frame if it belongs to the stopped machine.
void stoppedFutureGone(Cell* cell) noexcept;

inline void addFuture(Cell* cell) {
    checkThread(cell);
    ++cell->futures;
}
template <class T = void>
void releaseFuture(Cell* cell) noexcept {
    checkThread(cell);
    if (--cell->futures == 0) {
        if (cell->promises == 0)
            freeCell<T>(cell);
        else if (cell->has(Cell::kHasFrame))
            lastFutureGone(cell);
    }
}

inline void addPromise(Cell* cell) {
    checkThread(cell);
    ++cell->promises;
}
/// Releases one promise reference of a cell that has been set, or that will never be set.
template <class T = void>
void releasePromise(Cell* cell) noexcept {
    checkThread(cell);
    if (--cell->promises == 0 && cell->futures == 0)
        freeCell<T>(cell);
}

// -------------------------------------------------------------------------------------------------------------------
// Waiting and waking

inline constexpr char kTwoReaders[] = "two readers wait for one FutureStream at the same time";

/// Parks a waiter at a cell that is not ready. The waiter takes one future reference of the cell from the caller.
inline void park(Waiter* waiter, Cell* cell) {
    checkThread(cell);
    waiter->awaited = cell;
    pushFront(cell->waiters, waiter->link);
}

inline Waiter* takeFirst(Link& list) {
    Waiter* waiter = Waiter::of(list.next);
    waiter->link.unlink();
    return waiter;
}

/// Runs all waiters of a ready cell except the last one. Returns the last waiter for the caller to run; null if none is
/// left. Waiters that propagate the cell's error end, as in failFrame(). Called if takeOnly() has returned null.
Waiter* wakeAllButLast(Cell* cell) noexcept;

/// Like wakeAllButLast(), and then releases one promise reference.
FLOW_RARE Waiter* wakeAndRelease(Cell* cell) noexcept;

/// Takes out the only waiter. Returns null if there are several waiters, or if the waiter propagates the cell's error.
inline Waiter* takeOnly(Cell* cell) {
    Link& waiters = cell->waiters;
    if (waiters.next != waiters.prev) [[unlikely]]
        return nullptr;
    Waiter* only = Waiter::of(waiters.next);
    if (cell->isError() && only->awaited.isPropagating()) [[unlikely]]
        return nullptr;
    waiters.reset();
    only->link.next = nullptr;
    return only;
}

/// Sets the status and runs all waiters except the last one. Returns the last waiter for the caller to run; null if
/// none is left. The caller must hold a reference to the cell.
inline Waiter* complete(Cell* cell, std::uint8_t status) noexcept {
    cell->setStatus(status);
    if (cell->waiters.isEmpty())
        return nullptr;
    Waiter* only = takeOnly(cell);
    return only ? only : wakeAllButLast(cell);
}

/// Ends a frame, which is not parked, with an error: destroys the frame and completes its cell. Waiters that propagate
/// errors end in the same way, without recursion. Returns the waiter to run next, or null.
Waiter* failFrame(Waiter* frame, Error error) noexcept;
/// Like failFrame(), with the error of the cell `failed`. Takes over a reference to `failed`.
Waiter* failFrameWith(Waiter* frame, Cell* failed) noexcept;

/// Calls freeCell(), and saves all registers (FLOW_RARE): for frames that end without futures, and for streams.
FLOW_RARE void freeUnseen(Cell* cell) noexcept;

/// Sets the flags of a cell when its frame ends: `status`, and kDestroyValue if it was set. Clears all other flags.
template <class T = void>
void setEnded(Cell* cell, std::uint8_t status) noexcept {
    std::uint8_t kept = std::is_trivially_destructible_v<T> ? 0 : cell->flags & Cell::kDestroyValue;
    cell->flags = static_cast<std::uint8_t>(kept | status);
}

/// Ends a frame after its state has been destroyed: completes the cell and releases the frame's promise reference.
/// Returns the waiter to run next, or null.
template <class T = void>
Waiter* finishFrame(Cell* cell, std::uint8_t status) noexcept {
    setEnded<T>(cell, status);
    if (cell->waiters.isEmpty()) {
        if (--cell->promises == 0 && cell->futures == 0) [[unlikely]]
            freeUnseen(cell);
        return nullptr;
    }
    Waiter* only = takeOnly(cell);
    if (!only) [[unlikely]]
        return wakeAndRelease(cell);
    --cell->promises; // the cell stays: the waiter has a future reference of it
    return only;
}

/// Returns the error of a failed cell and marks it as read: it is not reported when the cell is freed.
inline Error readError(Cell* cell) {
    cell->flags &= static_cast<std::uint8_t>(~Cell::kUnreadBit);
    return cell->error;
}

/// Returns the error for a cell that fails with it; see Error::withAwaiters().
FLOW_RARE Error withAwaitersOf(Cell* cell, Error error) noexcept;
/// Calls withAwaitersOf() if origins are recorded. The rare case is a call, so that a coroutine keeps its registers.
inline Error failureOf(Cell* cell, Error error) {
    return recordsOrigins.load(std::memory_order_relaxed) ? withAwaitersOf(cell, error) : error;
}

/// Returns the status for a frame that ends with the error in its cell. Reports the error if nothing can receive it: if
/// at most `own` future references are left, which belong to the library.
[[gnu::cold]] std::uint8_t statusOfError(Cell* cell, std::uint32_t own = 0) noexcept;

/// Sets an error in a cell that loses its last Promise or PromiseStream, and runs all waiters.
void breakPromise(Cell* cell, Error error) noexcept;

/// Cancels the unfinished frame of `cell`. First releases the cell for which the frame waits: if no other reference to
/// this second cell is left, its frame is cancelled too. Then the frame of `cell` resumes with actor_cancelled, or is
/// destroyed if it propagates cancels. A frame that runs further up the stack is only marked. Does nothing for a cell
/// without a frame, for an uncancellable frame, and at a second call.
void cancel(Cell* cell) noexcept;

/// Selects when startDormant() starts the operation of a dormant cell: see KeptFrame in flow/core/in_place.h.
enum class StartKept : bool { Always, OnlyIfReady };
/// Starts the operation of a dormant cell. True if the cell is ready now.
FLOW_RARE bool startDormant(Cell* cell, StartKept how);

/// Returns a cell that holds actor_cancelled, with a future reference for the caller. A cancelled actor waits for this
/// cell instead of `operand`. Releases `operand`. If `frame` is given, counts a wait of this frame.
FLOW_RARE Cell* cancelledCell(Cell* operand = nullptr, Waiter* frame = nullptr) noexcept;

/// Counts the waits of a cancelled frame. A loop with a handler that swallows actor_cancelled would occupy its thread
/// forever: after 50,000 waits the program ends with a message that names the actor.
FLOW_RARE void countCancelledWait(Waiter* frame) noexcept;
/// Restarts the count. Called when a frame is marked as cancelled: an earlier frame may have had its address.
FLOW_RARE void forgetCancelledWaits() noexcept;

std::uint32_t futureCount(Cell const* cell) noexcept;

/// Marks a Source (flow/wait/source.h) with a function that is called when the first waiter leaves. The mark is stored
/// directly after the head of the Source's list. A waiter has its Awaited at this place, which never equals the mark.
inline constexpr std::uint32_t kHearsOfLeaving = 4;
/// True if the mark stands behind `before`, which is the link in front of a waiter that is parked at an operation.
inline bool hearsOfLeaving(Link const* before) {
    std::uint32_t behind;
    std::memcpy(&behind, before + 1, sizeof behind);
    return behind == kHearsOfLeaving;
}
/// Called if hearsOfLeaving(head) is true, when the first waiter in this list has been cancelled or has lost a race.
void firstHasLeft(Link* head) noexcept;

/// Unlinks a waiter (and its branches) so that nothing can wake it. The waiter keeps its references.
void detach(Waiter* waiter) noexcept;

/// Takes the next cell that a detached waiter (or its branches) still holds, with its reference; null if none is left.
Cell* takeAwaited(Waiter* waiter) noexcept;

/// Ends a wait without running the waiter: unlinks the waiter, and releases the cells for which it waited.
void abandon(Waiter* waiter) noexcept;

} // namespace flow::detail

namespace flow {

/// Sets the owner of the cells that this thread makes from now on; null means the thread. Only its owner may use a
/// cell; checked builds test this rule. Simulators call setOwnerOfCells().
inline void setOwnerOfCells([[maybe_unused]] const void* owner) {
#if FLOW_CHECKED
    detail::simulatedOwner = owner;
#endif
}

} // namespace flow
