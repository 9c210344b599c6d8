#pragma once
// ScopeOf<T>: a Scope of children with results of type T, which next() returns one after another.
//
//     ScopeOf<Page> pages;
//     pages.spawn(load(first));                                  // a Future, or another operand
//     pages.spawn([=] { return load(second); });
//     while (std::optional<Winner<Page>> page = co_await pages.next())
//         use(page->index(), page->value());                     // index(): the number of the spawn() call, from 0
//
//     ScopeOf pages(keys, 50, [](Key const& key) { return load(key); });   // calls load() for each key, 50 at a time
//
// The second form calls a function with each value of a range or of a FutureStream. At most `most` calls run, or have a
// result that next() has not taken. So a slow reader slows the calls down. The index of a result is the index of its
// value. For a vector of the results see flow/tasks/map_concurrent.h.
//
// The function returns anything that can be awaited, or throws. The ScopeOf owns the function and the range: so a call
// may refer to its element, and the function may be a coroutine with captures. Objects that a view refers to must exist
// as long. After the end of a stream (end_of_stream) no call begins; other errors of the stream count as errors.
//
// With ResultOrder::Finished, the default, a result comes when its child has ended. With ResultOrder::Started it comes
// after the results of all earlier children. next() gives std::nullopt when no child and no result is left.
//
// The first error, even actor_cancelled, cancels the other children, and each next() and room() throws it, even if
// results are left. If T is an ErrorOr<U>, an error of a child is a result, and the others continue:
// `ScopeOf<ErrorOr<Page>> pages(keys, 50, load);`. But an error of the range or stream still ends all.
//
// next() and room() are operations in place, for actors, coroutines and fibers. Several of them may wait. A wait that
// loses a race or is cancelled has taken no result. The destructor cancels the children, and fails the waiters with
// broken_promise. If memory runs out, spawn() throws, and the ScopeOf has failed. A ScopeOf belongs to one thread.

#include "flow/combine/detail/decided.h"
#include "flow/tasks/scope.h"
#include "flow/wait/delay.h"
#include "flow/wait/race_result.h"
#include "flow/wait/source.h"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>

namespace flow {

enum class ResultOrder : std::uint8_t { Finished, Started };

namespace tasks {
template <class Range>
struct ItemOf {};
template <std::ranges::input_range Range>
struct ItemOf<Range> {
    using Type = std::ranges::range_reference_t<Range>;
};
template <class T>
struct ItemOf<FutureStream<T>> {
    using Type = T;
};
/// The argument of the function: a reference to an element, or a value that a view or a stream makes.
template <class Range>
using Item = typename ItemOf<Range>::Type;
template <class F, class Range>
using ResultOfEach = AwaitedValue<std::invoke_result_t<F&, Item<Range>>>;
} // namespace tasks

template <class T>
class ScopeOf {
public:
    struct Next {
        using Result = std::optional<Winner<T>>;
        ScopeOf* scope;

        bool isReady() { return scope->hasNews() && scope->next_.isNext(*this); }
        void park(WaiterNode& waiter) {
            scope->next_.wakeWhenFirstLeaves(TaskPriority::DefaultYield);
            scope->next_.park(waiter, *this);
        }
        Result take() const { return scope->takeNext(); }
    };
    struct Room {
        using Result = Void;
        ScopeOf* scope;
        std::size_t most;

        bool isReady() { return scope->failure_.isValid() || (scope->held_ < most && scope->room_.isNext(*this)); }
        void park(WaiterNode& waiter) {
            scope->room_.wakeWhenFirstLeaves(TaskPriority::DefaultYield); // the next waiter may accept less room
            scope->room_.park(waiter, *this);
        }
        Void take() const {
            scope->throwFailure();
            return Void();
        }
    };

    explicit ScopeOf(ResultOrder order = ResultOrder::Finished) : order_(order) {}
    template <class Range, class F>
        requires CanBeAwaited<std::invoke_result_t<F&, tasks::Item<Range>>>
    ScopeOf(Range range, std::size_t most, F function, ResultOrder order = ResultOrder::Finished,
            std::source_location caller = std::source_location::current())
        : order_(order), isFed_(true) {
        FLOW_ASSERT_AT(caller, most != 0, "a ScopeOf with a range: at most 0 calls at a time");
        if constexpr (flow::detail::IsOperand<Range>)
            checkValid(range, caller);
        auto fed = std::make_shared<Fed<F, Range>>(std::move(function), std::move(range));
        fed_ = fed;
        scope_.spawn(feed(callEach(std::move(fed), this, most, caller), this));
    }
    ScopeOf(ScopeOf const&) = delete;
    ScopeOf& operator=(ScopeOf const&) = delete;
    ~ScopeOf() {
        if (isGone_)
            *isGone_ = true;
    }

    /// Spawns a child: a future, a delay, a race or another operand, or a function that returns one.
    template <CanBeAwaited X>
    void spawn(X child, std::source_location caller = std::source_location::current()) {
        if (failure_.isValid())
            return;
        bool isGone = false;
        bool* outer = std::exchange(isGone_, &isGone);
        try {
            if (order_ == ResultOrder::Started)
                results_.emplace_back();
            ++held_;
            Future<Void> running = runChild(std::move(child), this, spawned_++, &isGone, caller);
            if (isGone) {
                if (outer)
                    *outer = true;
                return;
            }
            isGone_ = outer;
            scope_.spawn(std::move(running));
        } catch (...) {
            isGone_ = outer;
            failWithCaught();
            throw;
        }
    }
    /// Returns an operation that takes the next result: std::nullopt when no child and no result is left.
    Next next() { return {this}; }
    /// Returns an operation that waits until size() is less than `most`.
    Room room(std::size_t most, std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, most != 0, "ScopeOf::room(0) would wait forever");
        return {this, most};
    }
    /// The number of running children, and of results that next() has not taken.
    std::size_t size() const { return held_; }

private:
    template <class U>
    struct IsErrorOr : std::false_type {};
    template <class U>
    struct IsErrorOr<ErrorOr<U>> : std::true_type {};

    /// A call of the function with an element. The coroutine that waits for the result owns it.
    template <class F, class Item>
    struct Call {
        F* function;
        Item item;
        auto operator()() { return std::invoke(*function, static_cast<Item&&>(item)); }
    };

    template <class F, class Range>
    struct Fed {
        Fed(F&& f, Range&& r) : function(std::move(f)), range(std::move(r)) {}
        F function;
        Range range;
    };

    static Future<Void> feed(Future<Void> calls, ScopeOf* self, Propagate = {}) {
        ErrorOr<Void> end = co_await coro::tryKeeping(std::move(calls));
        if (end.isError(error_code_operation_cancelled))
            co_await delay(0); // a cancel of this coroutine ends here
        self->isFed_ = false;
        flow::detail::Cell* own = co_await coro::ownCell();
        if (end.isError() && !end.isError(error_code_end_of_stream))
            self->fail(end.getError(), flow::detail::keptException(own, end.getError()));
        else
            self->next_.wakeInTurn();
    }
    template <class F, class Range>
    static Future<Void> callEach(std::shared_ptr<Fed<F, Range>> fed, ScopeOf* self, std::size_t most,
                                 std::source_location caller, Propagate = {}) {
        using Item = tasks::Item<Range>;
        if constexpr (std::ranges::input_range<Range>) {
            for (auto&& item : fed->range) {
                Room room{self, most};
                co_await room;
                self->spawn(Call<F, Item>{&fed->function, static_cast<Item&&>(item)}, caller);
            }
        } else {
            for (;;) {
                Room room{self, most};
                co_await room;
                Item item = co_await fed->range;
                self->spawn(Call<F, Item>{&fed->function, std::move(item)}, caller);
            }
        }
    }
    template <class X>
    static Future<Void> runChild(X child, ScopeOf* self, std::size_t index, bool const* isGone,
                                 std::source_location caller, Propagate = {}) {
        using Value = AwaitedValue<X>;
        Future<Value> made;
        try {
            if constexpr (std::invocable<X&> && !InPlace<X>)
                made = combine::futureOf(child()); // calls `child` in place: the result may refer to it
            else
                made = combine::futureOf(std::move(child));
        } catch (...) {
            made = flow::detail::failedByCaught<Value>();
        }
        if (*isGone)
            co_return;
        checkValid(made, caller);
        ErrorOr<Value> result = co_await coro::tryKeeping(std::move(made));
        if (result.isError(error_code_operation_cancelled))
            co_await delay(0); // a cancel of this coroutine ends here
        flow::detail::Cell* own = co_await coro::ownCell();
        self->ended(index, std::move(result), own);
    }

    template <class Value>
    void ended(std::size_t index, ErrorOr<Value> result, flow::detail::Cell* child) {
        try {
            if (result.present())
                return keepResult(index, T(std::move(result).get()));
            if constexpr (IsErrorOr<T>::value)
                return keepResult(index, T::failed(result.getError()));
        } catch (...) {
            return failWithCaught();
        }
        fail(result.getError(), flow::detail::keptException(child, result.getError()));
    }
    void keepResult(std::size_t index, T value) {
        auto& slot = order_ == ResultOrder::Started ? results_[index - taken_] : results_.emplace_back();
        slot.emplace(index, std::move(value));
        next_.wakeInTurn();
    }
    void failWithCaught() { fail(currentError(), std::current_exception()); }
    /// `exception` is the exception behind `error`; null if there is only an Error.
    void fail(Error error, std::exception_ptr exception) {
        if (!failure_.isValid()) {
            failure_ = error;
            exception_ = std::move(exception);
        }
        next_.wakeInTurn();
        room_.wakeInTurn();
        std::shared_ptr<void> fed = fed_; // the end of a call may destroy this object
        scope_.close();
    }

    void throwFailure() const {
        if (exception_)
            flow::detail::rethrow(exception_, failure_);
        if (failure_.isValid())
            throw Error(failure_);
    }
    bool hasNews() const {
        return failure_.isValid() || (results_.empty() ? held_ == 0 && !isFed_ : results_.front().has_value());
    }
    std::optional<Winner<T>> takeNext() {
        throwFailure();
        if (results_.empty())
            return std::nullopt;
        std::optional<Winner<T>> first = std::move(results_.front());
        results_.pop_front();
        ++taken_;
        --held_;
        room_.wakeInTurn();
        return first;
    }

    ResultOrder order_;
    bool isFed_ = false;
    bool* isGone_ = nullptr; // set by a running spawn(): the child may destroy this object before its first wait
    Error failure_;
    std::exception_ptr exception_; // behind the failure
    std::size_t spawned_ = 0;
    std::size_t taken_ = 0;
    std::size_t held_ = 0; // running children, and results that next() has not taken
    // The results for next(). With ResultOrder::Started, each running child has an empty element.
    std::deque<std::optional<Winner<T>>> results_;
    Source<Next> next_;
    Source<Room> room_;
    std::shared_ptr<void> fed_; // the function and the range
    Scope scope_;               // the last member: its children use the others, so they must end first
};

template <class Range, class F>
ScopeOf(Range, std::size_t, F, ResultOrder = {}, std::source_location = {}) -> ScopeOf<tasks::ResultOfEach<F, Range>>;

} // namespace flow
