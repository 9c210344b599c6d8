#pragma once
// Decision: decides the result of several operands, perhaps before all of them have ended. It is the base of all, race,
// some and timeout with a Context (flow/tasks/combine.h).
//
// Each operand runs in a fork that reports its end. The end that decides the result cancels the other operands. The
// task that waits for the decision resumes when all forks have ended.

#include "flow/combine/detail/decided.h"
#include "flow/tasks/task.h"
#include "flow/wait/operand.h"
#include "flow/wait/race_result.h"

#include <concepts>
#include <optional>
#include <source_location>
#include <tuple>
#include <vector>

namespace flow::tasks {

/// True for a race() without a Context: it refers to operands that may be gone when the task begins.
template <class X>
concept IsRace = requires { X::kBecomesFuture; };

/// A Context, and the place of the call to which it is passed.
struct PlacedContext : Context {
    template <std::convertible_to<Context> Given>
    PlacedContext(Given const& given, std::source_location caller = std::source_location::current())
        : Context(given), caller(caller) {}
    std::source_location caller;
};

class Decision;
template <class X>
Fork<> runOperand(Context, X operand, std::optional<AwaitedValue<X>>* result, Decision* decision, std::size_t index);

class Decision {
public:
    /// Decides when `values` operands (may be 0) have succeeded, or more than `failures` have failed.
    Decision(Context here, std::source_location caller, std::size_t values, std::size_t failures)
        : here_(here), caller_(caller), values_(values), failures_(failures), isMade_(values == 0) {}

    bool isMade() const { return isMade_; }
    /// Returns the index of the operand that decided.
    std::size_t winner() const { return winner_; }
    void throwIfFailed() const {
        if (!error_.isValid())
            return;
        Error error = flow::detail::errorToThrow(cell(), error_);
        throw error;
    }
    /// Returns the handled exception as an Error. An exception of another type is stored in the waiting task's cell.
    [[gnu::cold]] Error caught() const noexcept { return isMade_ ? currentError() : flow::detail::keepCaught(cell()); }

    /// Starts operand `index`, unless the decision is made. If the start throws, this error decides.
    template <class X>
    void start(X& operand, std::optional<AwaitedValue<X>>& result, std::size_t index) noexcept {
        static_assert(!IsRace<X>, "an operand of a task is race(here, a, b), with the context");
        flow::checkValid(operand, caller_);
        if (isMade_)
            return;
        try {
            if constexpr (std::is_invocable_v<X&>) {
                auto made = operand();
                start(made, result, index);
            } else {
                (void)runOperand<X>(here_, std::move(operand), &result, this, index);
            }
        } catch (...) {
            failures_ = 0;
            failed(index, caught());
        }
    }

    /// succeeded() and failed() report the end of operand `index`. succeeded() is false if it was too late.
    bool succeeded(std::size_t index) noexcept {
        if (isMade_)
            return false;
        if (--values_ == 0)
            make(index);
        return true;
    }
    void failed(std::size_t index, Error error) noexcept {
        if (isMade_)
            return;
        if (failures_-- == 0) {
            error_ = error;
            make(index);
        }
    }

private:
    Cell* cell() const { return Cell::of(here_.parent()->frame()); }
    void make(std::size_t index) noexcept {
        isMade_ = true;
        winner_ = index;
        cancelChildren(here_.parent());
    }

    Context here_;
    std::source_location caller_;
    std::size_t values_;
    std::size_t failures_;
    bool isMade_;
    std::size_t winner_ = 0;
    Error error_;
};

/// Runs one operand. The task that made this fork waits for it, so `result` and `decision` stay valid.
template <class X>
Fork<> runOperand(Context, X operand, std::optional<AwaitedValue<X>>* result, Decision* decision, std::size_t index) {
    Error error;
    try {
        if constexpr (std::is_same_v<AwaitedValue<X>, Void>) { // a co_await may have no result then
            (void)co_await std::move(operand);
            result->emplace();
        } else {
            // Two statements: in a single one, gcc 12 would begin the construction before the wait.
            AwaitedValue<X> value = co_await std::move(operand);
            result->emplace(std::move(value));
        }
    } catch (...) {
        error = decision->caught();
    }
    if (error.isValid())
        decision->failed(index, error);
    else if (!decision->succeeded(index))
        result->reset(); // the decision was made earlier
}

/// A Decision with the results of its operands: a tuple for a pack, a vector for a range.
template <class Results>
class Children : public Decision {
public:
    Children(Context here, std::source_location caller, std::size_t values, std::size_t failures = 0, auto&&... sizes)
        : Decision(here, caller, values, failures), results_(std::forward<decltype(sizes)>(sizes)...) {}

    void startAll(auto&... operands) {
        std::size_t index = 0;
        std::apply([&](auto&... each) { (start(operands, each, index++), ...); }, results_);
    }
    template <OperandRange R>
    void startAll(R& operands) {
        std::size_t index = 0;
        for (auto&& operand : operands) {
            OperandIn<R> taken = combine::taken<R>(std::forward<decltype(operand)>(operand));
            start(taken, results_[index], index);
            ++index;
        }
    }
    /// Returns the results; all operands must have ended. If an error decided, throws it.
    Results& results() {
        throwIfFailed();
        return results_;
    }

private:
    Results results_;
};
template <class... X>
using Pack = Children<std::tuple<std::optional<AwaitedValue<X>>...>>;
template <class T>
using Range = Children<std::pmr::vector<std::optional<T>>>;

template <std::size_t I = 0, class... T>
RaceResult<T...> winnerOf(Children<std::tuple<std::optional<T>...>>& children) {
    auto& results = children.results();
    if constexpr (I + 1 < sizeof...(T))
        if (children.winner() != I)
            return winnerOf<I + 1>(children);
    return RaceResult<T...>(std::in_place_index<I>, std::move(*std::get<I>(results)));
}

} // namespace flow::tasks
