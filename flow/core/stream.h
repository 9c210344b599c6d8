#pragma once
// PromiseStream<T> and FutureStream<T>: many values, one after another, for one reader at a time.
//
//     PromiseStream<int> out;
//     FutureStream<int> in = out.getFuture();
//     out.send(1);                         // runs a reader that waits; otherwise queues
//     out.sendError(end_of_stream());      // after the queued values
//
// The reader waits with waitNext(in) or co_await in. A reader takes a value only when it resumes: a branch that loses
// in a choose takes nothing. When the last PromiseStream is dropped, the reader gets broken_promise after the
// queued values. Values stay queued while no FutureStream exists. All handles belong to one thread.

#include "flow/core/future.h"
#include "flow/core/ring_queue.h"

namespace flow {

namespace detail {

/// Releases a reader's reference, which is rarely the last one. With clang, freeUnseen() saves all registers itself, so
/// a reader saves none, and takes a quarter less time. gcc has no such functions.
inline void releaseStream(Cell* cell) noexcept {
    if constexpr (kClang) {
        checkThread(cell);
        if (--cell->futures == 0 && cell->promises == 0) [[unlikely]]
            freeUnseen(cell);
    } else {
        releaseFuture(cell);
    }
}

/// The state that both ends share, behind a Cell. The cell's status says what a reader gets next: a value (the queue is
/// not empty), an error (the stream has ended and the queue is empty) or nothing yet.
template <class T>
struct StreamState {
    [[no_unique_address]] RingQueue<T> queue;
    bool ended = false;
    bool needsCare = false;  // becomeEmpty() has work: the stream has ended, or onEmpty() was called
    Cell* emptied = nullptr; // the promise of onEmpty(), if onEmpty() was called

    StreamState() = default;
    StreamState(StreamState const&) = delete;
    ~StreamState() {
        if (emptied) {
            breakPromise(emptied, broken_promise());
            releasePromise(emptied);
        }
    }

    static StreamState& of(Cell* cell) { return *reinterpret_cast<StreamState*>(cell + 1); }
    static void destroy(Cell* cell) { of(cell).~StreamState(); }

    static Cell* create() {
        // Slot has a destructor, so the cell has room for a pointer to destroy(), which frees the queue with the cell.
        struct Slot {
            ~Slot() {}
        };
        Cell* cell = newCell<Slot>(sizeof(StreamState), 0, 1);
        ::new (cell + 1) StreamState;
        reinterpret_cast<void (**)(Cell*)>(cell)[-1] = destroy;
        cell->flags |= Cell::kDestroyValue | Cell::kUncancellable; // see Cell::isStream
        return cell;
    }

    /// Takes the oldest value. The status of the cell must be kValue.
    static T take(Cell* cell) {
        StreamState& state = of(cell);
        T value = state.queue.pop();
        if (state.queue.isEmpty()) {
            cell->setStatus(Cell::kUnset);
            if (state.needsCare) [[unlikely]]
                state.becomeEmpty(cell);
        }
        return value;
    }

    Future<Void> onEmpty() {
        if (queue.isEmpty())
            return Void();
        if (!emptied)
            emptied = newCell<Void>(0, 0, 1);
        needsCare = true;
        addFuture(emptied);
        return Future<Void>::adopt(emptied);
    }
    [[gnu::noinline, gnu::cold]] void becomeEmpty(Cell* cell) {
        if (ended)
            cell->setStatus(Cell::kError);
        Cell* promise = std::exchange(emptied, nullptr);
        needsCare = ended;
        if (!promise)
            return;
        if (Waiter* last = complete(promise, Cell::kValue))
            run(last);
        releasePromise(promise);
    }
};

} // namespace detail

template <class T>
class SingleCallback;

template <class T>
class FutureStream {
public:
    using Element = T;

    /// Makes an invalid stream: only assignment, destruction and isValid() are allowed.
    FutureStream() = default;
    FutureStream(FutureStream const& other) noexcept : cell_(other.cell_) {
        if (cell_)
            detail::addFuture(cell_);
    }
    FutureStream(FutureStream&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
    FutureStream& operator=(FutureStream const& other) noexcept {
        FutureStream copy(other);
        std::swap(cell_, copy.cell_);
        return *this;
    }
    FutureStream& operator=(FutureStream&& other) noexcept {
        FutureStream taken(std::move(other));
        std::swap(cell_, taken.cell_);
        return *this;
    }
    ~FutureStream() {
        if (cell_)
            detail::releaseStream(cell_);
    }

    bool isValid() const { return cell_ != nullptr; }
    /// True if there is a value or the end: a wait would not suspend.
    bool isReady(detail::Caller caller = detail::Caller::current()) const { return checked(caller)->isReady(); }
    bool isError(detail::Caller caller = detail::Caller::current()) const { return checked(caller)->isError(); }
    Error getError(detail::Caller caller = detail::Caller::current()) const {
        FLOW_ASSERT_AT(caller, isError(caller),
                       "FutureStream::getError() on a stream that has not ended, or still holds values");
        return cell_->error;
    }
    std::uint32_t getFutureReferenceCount(detail::Caller caller = detail::Caller::current()) const {
        return detail::futureCount(checked(caller));
    }
    /// Takes the oldest value; throws the error of an ended stream. The stream must be ready.
    T pop(detail::Caller caller = detail::Caller::current()) const {
        FLOW_ASSERT_AT(caller, isReady(caller), "FutureStream::pop() on a stream with nothing in it");
        if (isError(caller))
            throw Error(cell_->error);
        return detail::StreamState<T>::take(cell_);
    }

    /// Moves this handle's reference to the callback, which waits for the next element. The stream must not be ready.
    void addCallbackAndClear(SingleCallback<T>* callback, detail::Caller caller = detail::Caller::current());
    friend bool operator==(FutureStream const& a, FutureStream const& b) { return a.cell_ == b.cell_; }

    detail::Cell* cell() const { return cell_; }
    static FutureStream adopt(detail::Cell* cell) {
        FutureStream stream;
        stream.cell_ = cell;
        return stream;
    }

private:
    detail::Cell* checked(detail::Caller caller) const {
        FLOW_ASSERT_AT(caller, cell_, "the FutureStream is invalid: it was default-constructed or moved from");
        detail::checkThread(cell_, caller);
        return cell_;
    }

    detail::Cell* cell_ = nullptr;
};

template <class T>
class PromiseStream {
public:
    PromiseStream() : cell_(detail::StreamState<T>::create()) {}
    PromiseStream(PromiseStream const& other) noexcept : cell_(other.cell_) {
        if (cell_)
            detail::addPromise(cell_);
    }
    PromiseStream(PromiseStream&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
    PromiseStream& operator=(PromiseStream const& other) noexcept {
        PromiseStream copy(other);
        std::swap(cell_, copy.cell_);
        return *this;
    }
    PromiseStream& operator=(PromiseStream&& other) noexcept {
        PromiseStream taken(std::move(other));
        std::swap(cell_, taken.cell_);
        return *this;
    }
    ~PromiseStream() {
        if (!cell_)
            return;
        detail::checkThread(cell_);
        if (cell_->promises == 1 && cell_->futures != 0 && end(broken_promise()))
            detail::breakPromise(cell_, broken_promise());
        detail::releasePromise(cell_);
    }

    FutureStream<T> getFuture(detail::Caller caller = detail::Caller::current()) const {
        detail::Cell* cell = checked(caller);
        detail::addFuture(cell);
        return FutureStream<T>::adopt(cell);
    }

    /// Queues the value; a waiting reader takes it and runs inside send(). Does nothing after the end of the stream.
    template <class U = T>
        requires std::is_constructible_v<T, U>
    void send(U&& value, detail::Caller caller = detail::Caller::current()) const {
        detail::Cell* cell = checked(caller);
        detail::StreamState<T>& state = detail::StreamState<T>::of(cell);
        if (state.queue.mayPush())
            state.queue.pushHere(std::forward<U>(value));
        else
            sendSlow(cell, state, std::forward<U>(value));
    }
    template <class U>
        requires(!std::is_constructible_v<T, U>)
    FLOW_REFUSED(FLOW_NO_VALUE)
    void send(U&&) const {}
    /// Sends a request that has a promise as its `reply`, or that is a promise, and returns the future of that promise.
    template <class Request = T>
    [[nodiscard]] auto getReply(Request request = Request(), detail::Caller caller = detail::Caller::current()) const {
        auto reply = futureOfReply(request);
        send(std::move(request), caller);
        return reply;
    }
    /// Ends the stream: readers get the queued values, then the error. Does nothing after the end.
    void sendError(Error error, detail::Caller caller = detail::Caller::current()) const {
        FLOW_ASSERT_AT(caller, error.isValid(), "PromiseStream::sendError() with an Error that was not set");
        detail::Cell* cell = checked(caller);
        if (!end(error))
            return;
        if (detail::Waiter* reader = detail::complete(cell, detail::Cell::kError))
            detail::run(reader);
    }

    bool isValid() const { return cell_ != nullptr; }
    bool isEmpty(detail::Caller caller = detail::Caller::current()) const {
        return detail::StreamState<T>::of(checked(caller)).queue.isEmpty();
    }
    /// Returns a future that becomes ready when the queue is empty; it is ready already if nothing is queued. The
    /// future fails with broken_promise if the stream is destroyed earlier.
    Future<Void> onEmpty(detail::Caller caller = detail::Caller::current()) const {
        return detail::StreamState<T>::of(checked(caller)).onEmpty();
    }
    friend bool operator==(PromiseStream const& a, PromiseStream const& b) { return a.cell_ == b.cell_; }

private:
    template <class Request>
    static auto futureOfReply(Request const& request) {
        if constexpr (requires { request.reply; })
            return request.reply.getFuture();
        else
            return request.getFuture();
    }
    /// The part of send() for an empty queue, for a full one, and for an ended stream.
    template <class U>
    static void sendSlow(detail::Cell* cell, detail::StreamState<T>& state, U&& value) {
        if (state.ended)
            return;
        state.queue.pushSlow(std::forward<U>(value));
        cell->setStatus(detail::Cell::kValue);
        if (cell->waiters.isEmpty())
            return;
        detail::Waiter* reader = detail::takeOnly(cell);
        FLOW_ASSERT(reader, detail::kTwoReaders);
        detail::run(reader);
    }
    /// Marks the end, once. True at the first call if nothing is queued: then the caller gives the reader the error.
    bool end(Error error) const {
        detail::Cell* cell = cell_;
        detail::StreamState<T>& state = detail::StreamState<T>::of(cell);
        if (state.ended)
            return false;
        state.ended = state.needsCare = true;
        state.queue.stop();
        cell->error = error;
        return state.queue.isEmpty();
    }
    detail::Cell* checked(detail::Caller caller) const {
        FLOW_ASSERT_AT(caller, cell_, "the PromiseStream is invalid: it was moved from");
        detail::checkThread(cell_, caller);
        return cell_;
    }

    detail::Cell* cell_;
};

} // namespace flow
