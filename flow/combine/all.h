#pragma once
// Waiting for several at once.
//
//     auto [page, user] = co_await all(loadPage(key), loadUser(id));      // a tuple of the values
//     std::vector<Row> rows = co_await all(reads);                        // of a vector
//     std::vector<Winner<Row>> two = co_await some(2, reads);             // the first two, and which they are
//
// all() and some() take whatever can be waited for (flow/wait/operand.h), in a coroutine, an actor, a fiber or a task.
// All operands run at the same time. A value is moved, as by a wait, if no other future refers to it or if it cannot be
// copied; all others are copied. The first error fails all(); some() passes over errors until too few operands are
// left, and fails with the error that made it so. As soon as the result is decided, before its waiter runs, the other
// operands are released: an operation or a stream that has not come by then has given nothing. Operands behind one that
// decides at the call do not begin. A value that has come is lost if the result fails or is dropped.
//
// The others take futures alone, and their result has no value:
//
//     wait(waitForAll(replies));            // every one has a value, or the first error
//     wait(quorum(replies, 2));             // two values, or the first error
//     wait(waitForAny(replies));            // the first to come, value or error
//     wait(waitForAllReady(replies));       // every one has come, value or error
//     wait(save() && send());               // both
//     wait(reply || delay(1.0));            // either
//     wait(success(reply));                 // when it comes, whatever the value
//
// Each of these makes one allocation, whatever the number of inputs. If several inputs fail, the error that comes first
// in time counts; among inputs that are ready at the call, the first in order.
//
// Their result holds the inputs that are not ready, and they run on, as long as the result is held, even when it is
// ready: the waiter of the result runs first, and may then wait for the remaining inputs. Cancel-safe: dropping the
// result releases the inputs, which cancels an input that nothing else holds. With Remaining::Released the inputs are
// released as soon as the result is decided, before its waiter runs. `||` always does so.

#include "flow/combine/decided.h"
#include "flow/wait/race_result.h"

#include <source_location>
#include <tuple>
#include <vector>

namespace flow {

/// The values of all operands; fails with the first error.
template <CanBeAwaited... X>
    requires(sizeof...(X) != 0)
Future<std::tuple<AwaitedValue<X>...>> all(X... operands) {
    bool hasFailed = false;
    auto begin = [&](auto& operand) -> Future<AwaitedValue<decltype(operand)>> {
        if (hasFailed)
            return actor_cancelled();
        checkValid(operand, {});
        auto made = combine::futureOf(std::move(operand));
        hasFailed = made.isError();
        return made;
    };
    std::tuple<Future<AwaitedValue<X>>...> futures{begin(operands)...};
    Future<Void> decided =
        std::apply([](auto&... each) { return quorumOf(sizeof...(X), Remaining::RunOn, WaitInput(each)...); }, futures);
    return combine::whenDecided(
        [](auto& made) {
            return std::apply(
                [](auto&... each) { return std::tuple<AwaitedValue<X>...>(std::move(each).takeValue()...); }, made);
        },
        std::move(futures), std::move(decided));
}
template <CanBeAwaited X>
FLOW_INLINE Future<std::vector<AwaitedValue<X>>> all(std::vector<X> operands,
                                                     std::source_location caller = std::source_location::current()) {
    auto&& futures = combine::futuresOf(operands, operands.size(), 0, caller);
    Future<Void> decided = quorumOf(futures, futures.size(), Remaining::RunOn, Errors::Decide, caller);
    return combine::whenDecided(
        [](auto& made) {
            std::vector<AwaitedValue<X>> values;
            values.reserve(made.size());
            for (auto& each : made)
                values.push_back(std::move(each).takeValue());
            return values;
        },
        std::move(futures), std::move(decided));
}
/// Flow's name for all() of futures.
template <class T>
Future<std::vector<T>> getAll(std::vector<Future<T>> futures,
                              std::source_location caller = std::source_location::current()) {
    return all(std::move(futures), caller);
}

/// The first `count` values, in order of their places. Fails with client_invalid_operation if there are fewer operands.
template <CanBeAwaited X>
Future<std::vector<Winner<AwaitedValue<X>>>> some(std::size_t count, std::vector<X> operands,
                                                  std::source_location caller = std::source_location::current()) {
    using Values = std::vector<Winner<AwaitedValue<X>>>;
    if (count > operands.size())
        return combine::tooFew(count, operands.size());
    if (count == 0)
        return Values();
    std::size_t spare = operands.size() - count;
    auto&& futures = combine::futuresOf(operands, count, spare, caller);
    Future<Void> decided = quorumOf(futures, count, Remaining::Released, Errors::Decide, caller, spare);
    return combine::whenDecided(
        [count](auto& made) {
            Values values;
            values.reserve(count);
            for (std::size_t i = 0; values.size() < count; ++i)
                if (made[i].canGet())
                    values.emplace_back(i, std::move(made[i]).takeValue());
            return values;
        },
        std::move(futures), std::move(decided));
}

/// Ready when `needed` of the futures have values; fails with the first error, even if enough others could still come.
template <class T>
Future<Void> quorum(std::vector<Future<T>> const& futures, std::size_t needed, Remaining remaining = Remaining::RunOn,
                    std::source_location caller = std::source_location::current()) {
    FLOW_ASSERT_AT(caller, needed <= futures.size(), "a quorum of more futures than there are");
    return quorumOf(futures, needed, remaining, Errors::Decide, caller);
}

/// Ready when all futures are ready, with values or errors.
template <class T>
Future<Void> waitForAllReady(std::vector<Future<T>> const& futures,
                             std::source_location caller = std::source_location::current()) {
    return quorumOf(futures, futures.size(), Remaining::RunOn, Errors::CountAsReady, caller);
}

/// Ready when all futures have values; fails with the first error.
template <class T>
Future<Void> waitForAll(std::vector<Future<T>> const& futures, Remaining remaining = Remaining::RunOn,
                        std::source_location caller = std::source_location::current()) {
    return quorum(futures, futures.size(), remaining, caller);
}

/// Ready when the first future has a value; fails if an error comes first. Ready at once if there are no futures.
template <class T>
Future<Void> waitForAny(std::vector<Future<T>> const& futures, Remaining remaining = Remaining::RunOn,
                        std::source_location caller = std::source_location::current()) {
    return quorum(futures, futures.empty() ? 0 : 1, remaining, caller);
}

/// Ready when both futures are; fails with the first error.
inline Future<Void> operator&&(WaitInput const& a, WaitInput const& b) {
    return quorumOf(2, Remaining::RunOn, a, b);
}

/// Ready when either future is; fails if the first to come is an error. The other future is released before the waiter
/// runs.
inline Future<Void> operator||(WaitInput const& a, WaitInput const& b) {
    return quorumOf(1, Remaining::Released, a, b);
}

/// Ready when the future has a value; fails with its error.
inline Future<Void> success(WaitInput const& future) {
    return quorumOf(1, Remaining::RunOn, future);
}

} // namespace flow
