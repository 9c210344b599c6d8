#pragma once
// when: several tasks, forks or futures at a time.
//
//     auto [page, user] = co_await whenAll(here, loadPage(here, key), loadUser(here, id));
//     std::pmr::vector<int> sums = co_await whenAll(here, std::move(tasks));   // std::vector<Task<int>>
//     int fastest = co_await whenAny(here, std::move(tasks));                  // the first value
//     int first = co_await whenAny(here, std::move(tasks), First::Result);     // or error, if that is first
//     auto quorum = co_await when(2, here, std::move(tasks));                  // the first two, in order of place
//     Won<int> won = co_await race(here, std::move(tasks));                    // won.index, won.value
//     Page page = co_await withTimeout(here, 0.5, loadPage(here, key));        // or timed_out
//
// `here` is the result of `co_await context()`; memory comes from there. All operands run at the same time. As soon as
// the result is decided, the operands that still run are cancelled. The result comes when they have ended, so none of
// them runs on. A task is an operand by value; for a fork or a future, a cancel ends only the wait.
//
// whenAll fails with the first error. whenAny and when(n) ignore errors until too few operands are left, and fail with
// the error that made it so; race takes the first operand to end, value or error. A value of type Void is a Void.

#include "flow/tasks/decision.h"
#include "flow/wait/delay.h"

#include <tuple>
#include <vector>

namespace flow {

namespace tasks {

template <class... Operands, std::size_t... I>
Error startAll(Context here, std::tuple<std::optional<ResultOfOperand<Operands>>...>& results, Decision& decision,
               std::tuple<Operands...>& operands, std::index_sequence<I...>) noexcept {
    auto start = [&](auto index) {
        constexpr std::size_t kIndex = decltype(index)::value;
        if (!decision.isMade())
            (void)runOperand<std::tuple_element_t<kIndex, std::tuple<Operands...>>>(
                here, std::move(std::get<kIndex>(operands)), &std::get<kIndex>(results), &decision, kIndex);
    };
    try {
        (start(std::integral_constant<std::size_t, I>()), ...);
    } catch (...) {
        cancelChildren(here.parent());
        return currentError();
    }
    return Error();
}

template <class... T>
std::tuple<T...> valuesOf(std::tuple<std::optional<T>...>& results) {
    return std::apply([](std::optional<T>&... each) { return std::tuple<T...>(std::move(*each)...); }, results);
}

} // namespace tasks

/// All values, in order. Fails with the first error.
template <class... Operands>
    requires(sizeof...(Operands) > 1)
Task<std::tuple<tasks::ResultOfOperand<Operands>...>> whenAll(Context, Operands... operands) {
    Context here = co_await context();
    std::tuple<std::optional<tasks::ResultOfOperand<Operands>>...> results;
    tasks::Decision decision(here, sizeof...(Operands) + 1, 0); // one value too many: only an error decides
    std::tuple<Operands...> given(std::move(operands)...);
    Error failed = tasks::startAll(here, results, decision, given, std::index_sequence_for<Operands...>());
    co_await destroyForks();
    tasks::throwIfValid(failed);
    decision.throwIfFailed();
    co_return tasks::valuesOf(results);
}

/// Like whenAll() above, for a range.
template <class Operand>
Task<std::pmr::vector<tasks::ResultOfOperand<Operand>>> whenAll(Context, std::vector<Operand> operands) {
    Context here = co_await context();
    tasks::Operands<Operand> all(here, operands.size(), operands.size() + 1, 0);
    Error failed = all.start(operands);
    co_await destroyForks();
    tasks::throwIfValid(failed);
    all.decision().throwIfFailed();
    std::pmr::vector<tasks::ResultOfOperand<Operand>> values(here.allocator());
    values.reserve(operands.size());
    for (auto& result : all.results())
        values.push_back(std::move(*result));
    co_return values;
}

/// The operand that has won: its index, and its value.
template <class T>
struct Won {
    std::size_t index;
    T value;
};

/// The first `count` values, with their indices, in the order of the indices. Fails when too few operands are left for
/// `count` values; with client_invalid_operation if there are fewer operands than `count`.
template <class Operand>
Task<std::pmr::vector<Won<tasks::ResultOfOperand<Operand>>>> when(std::size_t count, Context,
                                                                  std::vector<Operand> operands) {
    if (count > operands.size())
        throw client_invalid_operation();
    Context here = co_await context();
    tasks::Operands<Operand> all(here, operands.size(), count, operands.size() - count);
    Error failed = all.start(operands);
    co_await destroyForks();
    tasks::throwIfValid(failed);
    all.decision().throwIfFailed();
    std::pmr::vector<Won<tasks::ResultOfOperand<Operand>>> values(here.allocator());
    values.reserve(count);
    for (std::size_t i = 0; i < all.results().size(); ++i)
        if (auto& result = all.results()[i])
            values.push_back({i, std::move(*result)});
    co_return values;
}

/// The operand that ends first: its value or its error.
template <class Operand>
Task<Won<tasks::ResultOfOperand<Operand>>> race(Context, std::vector<Operand> operands) {
    if (operands.empty())
        throw client_invalid_operation();
    Context here = co_await context();
    tasks::Operands<Operand> all(here, operands.size(), 1, 0);
    Error failed = all.start(operands);
    co_await destroyForks();
    tasks::throwIfValid(failed);
    all.decision().throwIfFailed();
    std::size_t winner = all.decision().winner();
    co_return Won<tasks::ResultOfOperand<Operand>>{winner, std::move(*all.results()[winner])};
}

/// The result that decides whenAny.
enum class First : std::uint8_t {
    Value, // errors are passed over until all have failed: then the last one is thrown
    Result // value or error
};

/// The first value, or the first result.
template <class Operand>
Task<tasks::ResultOfOperand<Operand>> whenAny(Context, std::vector<Operand> operands, First first = First::Value) {
    using T = tasks::ResultOfOperand<Operand>;
    if (operands.empty())
        throw client_invalid_operation();
    Context here = co_await context();
    std::size_t failures = first == First::Value ? operands.size() - 1 : 0;
    tasks::Operands<Operand> all(here, operands.size(), 1, failures);
    Error failed = all.start(operands);
    co_await destroyForks();
    tasks::throwIfValid(failed);
    all.decision().throwIfFailed();
    if constexpr (!std::is_same_v<T, Void>)
        co_return std::move(*all.results()[all.decision().winner()]);
}

namespace tasks {
inline Fork<> runTimer(Context, double seconds, Decision* decision) {
    co_await delay(seconds);
    decision->failed(1, timed_out());
}
} // namespace tasks

/// The value or error of the operand; timed_out if it takes longer.
template <class Operand>
Task<tasks::ResultOfOperand<Operand>> withTimeout(Context, double seconds, Operand operand) {
    using T = tasks::ResultOfOperand<Operand>;
    Context here = co_await context();
    std::optional<T> result;
    tasks::Decision decision(here, 1, 0);
    Error failed;
    try {
        (void)tasks::runTimer(here, seconds, &decision);
        (void)tasks::runOperand<Operand>(here, std::move(operand), &result, &decision, 0);
    } catch (...) {
        failed = currentError();
        tasks::cancelChildren(here.parent());
    }
    co_await destroyForks();
    tasks::throwIfValid(failed);
    decision.throwIfFailed();
    if constexpr (!std::is_same_v<T, Void>)
        co_return std::move(*result);
}

} // namespace flow
