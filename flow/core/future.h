#pragma once
// Future<T> and Promise<T>: a value that comes later, and the right to set it.
//
//     Promise<int> promise;
//     Future<int> future = promise.getFuture();
//     promise.send(7);                    // runs all waiters before it returns
//     assert(future.get() == 7);
//
//     Future<int> known = 7;              // ready
//     Future<int> failed = timed_out();   // ready with an error
//     Future<int> nothing = Never();      // never ready
//
// A Future<int>(e) of an Error e has failed. A Future<Error>(e) has the value e; Future<Error>::failed(e) has failed.
//
// If a coroutine or actor ends with an exception that is not an Error, getError() of its future returns unknown_error.
// A wait and get() throw the exception itself. It exists as long as the futures that have failed with it.
//
// A T need not be copyable. A struct with a member such as std::vector<std::unique_ptr<Row>> cannot be copied, although
// std::is_copy_constructible says that it can: delete its copy constructor, and declare its move constructor.
//
// Stack use. A chain of any length completes, fails and is cancelled in constant stack: an actor that ends resumes its
// last waiter by a tail call. But two kinds of calls nest. send() runs all waiters except the last one inside the call,
// and each of these may send again. Destructors may drop further actors. When the thread's stack runs low, such calls
// continue on a spare stack of 8 MiB (flow/base/stack.h).
//
// A Future is one pointer; each copy adds a reference. Dropping the last Future of an actor or coroutine cancels it. If
// all Promises of an unset future are dropped, the future fails with broken_promise. All handles of one future belong
// to one thread. `caller` is the place of the call, for the message of a failed assertion: callers leave it out.

#include "flow/core/detail/kept_exception.h"

#include <concepts>

namespace flow {

template <class T>
class Promise;
template <class T>
class Callback;
template <class T>
class Future;

namespace detail {
template <class T>
inline constexpr bool isFuture = false;
template <class T>
inline constexpr bool isFuture<Future<T>> = true;

/// True if a U converts implicitly to a T, and if no other constructor makes a Future<T> from a U.
template <class U, class T, class V = std::remove_cvref_t<U>>
concept ValueOf = !std::same_as<V, T> && !std::same_as<V, Never> && !isFuture<V> && !std::convertible_to<U, Error> &&
                  std::convertible_to<U, T>;

template <class T>
concept NoValue = !std::is_object_v<T> || std::is_const_v<T> || std::is_volatile_v<T>;
template <class T>
struct RequireValue {
    static_assert(!NoValue<T>, "a Future holds a value of its own: write Future<Void> where there is no result, and "
                               "a pointer or a value in place of a reference");
};
} // namespace detail

template <class T>
inline constexpr bool kIsFuture = detail::isFuture<T>;

template <class T>
class [[nodiscard]] Future {
public:
    using Element = T;

    /// Makes an invalid future: only assignment, destruction and isValid() are allowed.
    Future() = default;
    /// Makes a future that is ready with the value. Throws what T's constructor throws.
    Future(T const& value) : Future(Ready(), value) {}
    Future(T&& value) : Future(Ready(), std::move(value)) {}
    template <class U>
        requires detail::ValueOf<U, T>
    Future(U&& value) : Future(Ready(), std::forward<U>(value)) {}
    Future(Error error)
        requires(!std::same_as<T, Error>)
        : cell_(failedCell(error)) {}
    Future(Never) : cell_(detail::newCell<T>(0, 1, 0, detail::Cell::kNever)) {}

    Future(Future const& other) noexcept : cell_(other.cell_) {
        if (cell_)
            detail::addFuture(cell_);
    }
    Future(Future&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
    Future& operator=(Future const& other) noexcept {
        Future copy(other);
        std::swap(cell_, copy.cell_);
        return *this;
    }
    Future& operator=(Future&& other) noexcept {
        Future taken(std::move(other));
        std::swap(cell_, taken.cell_);
        return *this;
    }
    /// Always inlined, so that the destructor of a moved-from Future folds to nothing.
    FLOW_INLINE ~Future() {
        if (cell_)
            detail::releaseFuture<T>(cell_);
    }

    /// Returns a future that has failed with the error, also if T is Error.
    static Future failed(Error error) { return adopt(failedCell(error)); }

    bool isValid() const { return cell_ != nullptr; }
    /// True if there is a value or an error.
    bool isReady(detail::Caller caller = detail::Caller::current()) const { return checked(caller)->isReady(); }
    bool isError(detail::Caller caller = detail::Caller::current()) const {
        detail::Cell* cell = checked(caller);
        if (!cell->isError())
            return false;
        (void)detail::readError(cell);
        return true;
    }
    /// True if there is a value: `get()` will not throw.
    bool canGet(detail::Caller caller = detail::Caller::current()) const { return checked(caller)->isValue(); }

    /// Returns the value. It exists as long as a Future of this computation exists. If the future has failed, throws
    /// its Error, or the other exception with which the computation failed. The future must be ready.
    T const& get(detail::Caller caller = detail::Caller::current()) const {
        detail::Cell* cell = checked(caller);
        FLOW_ASSERT_AT(caller, cell->isReady(), "Future::get() on a Future that is not ready");
        if (cell->isError())
            detail::throwErrorOf(cell);
        return detail::valueOf<T>(cell);
    }
    /// Like get(), but moves the value if no other future has it or T cannot be copied. Invalidates this handle.
    T takeValue(detail::Caller caller = detail::Caller::current()) && {
        (void)get(caller);
        return detail::takeValue<T>(std::exchange(cell_, nullptr));
    }
    /// Returns the error; the future must have failed.
    Error getError(detail::Caller caller = detail::Caller::current()) const {
        detail::Cell* cell = checked(caller);
        FLOW_ASSERT_AT(caller, cell->isError(), "Future::getError() on a Future without an error");
        return detail::readError(cell);
    }

    /// Cancels the actor or coroutine behind this future, as dropping the last Future would. The future then becomes
    /// ready with actor_cancelled, unless the actor catches this error and returns another result. Does nothing for the
    /// future of a Promise, for a finished actor, and for an invalid future.
    void cancel() const {
        if (cell_)
            detail::cancel(cell_);
    }

    /// Moves this handle's reference to the callback, which then waits. The future must not be ready. See callback.h.
    void addCallbackAndClear(Callback<T>* callback, detail::Caller caller = detail::Caller::current());

    /// Returns the number of Future handles, plus 1 if there are waiters.
    std::uint32_t getFutureReferenceCount(detail::Caller caller = detail::Caller::current()) const {
        return detail::futureCount(checked(caller));
    }
    /// Returns the number of Promise handles; one for an actor or coroutine that has not ended.
    std::uint32_t getPromiseReferenceCount(detail::Caller caller = detail::Caller::current()) const {
        return checked(caller)->promises;
    }
    friend bool operator==(Future const& a, Future const& b) { return a.cell_ == b.cell_; }

    /// Returns the cell, with the reference that this handle held. For actors, coroutines and fibers.
    detail::Cell* release() && { return std::exchange(cell_, nullptr); }
    detail::Cell* cell() const { return cell_; }
    /// Takes one future reference of the cell. For actors, coroutines and fibers.
    static Future adopt(detail::Cell* cell) {
        Future future;
        future.cell_ = cell;
        return future;
    }

private:
    struct Ready {
        explicit Ready() = default;
    };
    template <class U>
    Future(Ready, U&& value) : cell_(detail::newCell<T>(0, 1, 0)) {
        try {
            detail::constructValue<T>(cell_, std::forward<U>(value));
        } catch (...) {
            detail::freeCell<T>(cell_);
            throw;
        }
        cell_->setStatus(detail::Cell::kValue);
    }

    static detail::Cell* failedCell(Error error) {
        FLOW_ASSERT(error.isValid(), "a Future cannot be made from an Error that was not set");
        detail::Cell* cell = detail::newCell<T>(0, 1, 0, detail::Cell::kError);
        cell->error = error;
        return cell;
    }
    detail::Cell* checked(detail::Caller caller) const {
        FLOW_ASSERT_AT(caller, cell_, "the Future is invalid: it was default-constructed or moved from");
        detail::checkThread(cell_, caller);
        return cell_;
    }

    detail::Cell* cell_ = nullptr;
};

template <detail::NoValue T>
class Future<T> : detail::RequireValue<T> {};
/// A Future that cannot be made from a value or an error: the type of a wait's operand.
template <class T>
class [[nodiscard]] StrictFuture : public Future<T> {
public:
    StrictFuture() = default;
    template <class U>
        requires(std::derived_from<std::remove_cvref_t<U>, Future<T>> || std::same_as<std::remove_cvref_t<U>, Never>)
    StrictFuture(U&& future) : Future<T>(std::forward<U>(future)) {}
};

/// The right to set a future once. Copies share this right. Only a Promise that was moved from is invalid.
template <class T>
class Promise {
public:
    Promise() : cell_(detail::newCell<T>(0, 0, 1)) {}
    Promise(Promise const& other) noexcept : cell_(other.cell_) {
        if (cell_)
            detail::addPromise(cell_);
    }
    Promise(Promise&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
    Promise& operator=(Promise const& other) noexcept {
        Promise copy(other);
        std::swap(cell_, copy.cell_);
        return *this;
    }
    Promise& operator=(Promise&& other) noexcept {
        Promise taken(std::move(other));
        std::swap(cell_, taken.cell_);
        return *this;
    }
    /// Always inlined; drop() takes the cell rather than `this`, so that the Promise can live in a register.
    FLOW_INLINE ~Promise() {
        if (cell_)
            drop(cell_);
    }

    Future<T> getFuture(detail::Caller caller = detail::Caller::current()) const {
        detail::Cell* cell = checked(caller);
        detail::addFuture(cell);
        return Future<T>::adopt(cell);
    }

    /// Sets the value and runs all waiters, newest first, before it returns.
    template <class U = T>
        requires(!std::is_same_v<std::remove_cvref_t<U>, Never>) && std::is_constructible_v<T, U>
    void send(U&& value, detail::Caller caller = detail::Caller::current()) const {
        detail::Cell* cell = settable(caller);
        detail::constructValue<T>(cell, std::forward<U>(value));
        wake(cell, detail::Cell::kValue);
    }
    template <class U>
        requires(!std::is_same_v<std::remove_cvref_t<U>, Never>) && (!std::is_constructible_v<T, U>)
    FLOW_REFUSED(FLOW_NO_VALUE)
    void send(U&&) const {}
    void sendError(Error error, detail::Caller caller = detail::Caller::current()) const {
        detail::Cell* cell = settable(caller);
        FLOW_ASSERT_AT(caller, error.isValid(), "Promise::sendError() with an Error that was not set");
        cell->error = error;
        wake(cell, detail::Cell::kError);
    }
    /// Leaves the future unset forever, without broken_promise. It is a template, so that `send({})` sends a value.
    template <std::same_as<Never> N>
    void send(N, detail::Caller caller = detail::Caller::current()) const {
        settable(caller)->setStatus(detail::Cell::kNever);
    }

    /// Drops this promise, and replaces it by a new one without futures.
    void reset() { *this = Promise(); }
    void swap(Promise& other) noexcept { std::swap(cell_, other.cell_); }

    bool isValid() const { return cell_ != nullptr; }
    bool isError(detail::Caller caller = detail::Caller::current()) const { return checked(caller)->isError(); }
    bool isSet(detail::Caller caller = detail::Caller::current()) const { return checked(caller)->isReady(); }
    bool canBeSet(detail::Caller caller = detail::Caller::current()) const { return checked(caller)->isUnset(); }
    std::uint32_t getFutureReferenceCount(detail::Caller caller = detail::Caller::current()) const {
        return detail::futureCount(checked(caller));
    }
    std::uint32_t getPromiseReferenceCount(detail::Caller caller = detail::Caller::current()) const {
        return checked(caller)->promises;
    }

private:
    FLOW_INLINE static void drop(detail::Cell* cell) {
        detail::checkThread(cell);
        if (cell->promises == 1 && cell->isUnset() && cell->futures != 0)
            detail::breakPromise(cell, broken_promise());
        detail::releasePromise<T>(cell);
    }
    // A waiter may drop this very Promise, so wake() holds a promise reference until all waiters have run.
    static void wake(detail::Cell* cell, std::uint8_t status) {
        ++cell->promises;
        if (detail::Waiter* last = detail::complete(cell, status))
            detail::run(last);
        detail::releasePromise<T>(cell);
    }
    detail::Cell* checked(detail::Caller caller) const {
        FLOW_ASSERT_AT(caller, cell_, "the Promise is invalid: it was moved from");
        detail::checkThread(cell_, caller);
        return cell_;
    }
    detail::Cell* settable(detail::Caller caller) const {
        detail::Cell* cell = checked(caller);
        FLOW_ASSERT_AT(caller, cell->isUnset(), "the Promise is set twice");
        return cell;
    }

    detail::Cell* cell_;
};

template <detail::NoValue T>
class Promise<T> : detail::RequireValue<T> {};

namespace detail {
/// Returns a future that has failed with the exception that is being handled. For catch blocks.
template <class T>
[[gnu::cold]] Future<T> failedByCaught() {
    Cell* cell = newCell<T>(0, 1, 0, Cell::kError);
    cell->error = keepCaught(cell);
    return Future<T>::adopt(cell);
}
/// Returns currentError() for promise.sendError(). The future keeps the exception if it is not an Error.
template <class T>
[[gnu::cold]] Error keepCaught(Promise<T> const& promise) {
    return keepCaught(promise.getFuture().cell());
}
/// Returns a future that fails like the cell: with its error, and with the exception behind the error.
template <class T>
[[gnu::cold]] Future<T> failedLike(Cell const* failed) {
    auto future = Future<T>::failed(failed->error);
    shareException(future.cell(), failed);
    return future;
}
} // namespace detail

} // namespace flow
