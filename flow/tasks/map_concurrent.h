#pragma once
// mapConcurrent(): calls a function with each value of a range, some calls at a time, and returns a vector of all
// results, in the order of the values.
//
//     std::vector<Page> pages = co_await mapConcurrent(keys, 50, [](Key const& key) { return load(key); });
//     std::vector<ErrorOr<Page>> some = co_await mapConcurrent<ErrorOr<Page>>(keys, 50, load);   // errors end nothing
//
// The name and the order of results are those of Java's Gatherers.mapConcurrent. (mapAsync() maps one future.) The
// range may be a std::vector, another range or view, or a FutureStream, of which the vector has all values until its
// end. The range, the function and the errors are as in flow/tasks/scope_of.h: at most `most` calls run or wait with
// their results for an earlier call, and no new call begins meanwhile. The first error cancels the other calls, and
// fails the future, unless the results are ErrorOr<T>. For results as they come, use a ScopeOf.
//
// Cancel-safe: dropping the future cancels the calls, and the results that have come are lost.

#include "flow/tasks/scope_of.h"

#include <vector>

namespace flow {

namespace tasks {
template <class T, class F, class Range>
Future<std::vector<T>> mapConcurrent(F function, Range range, std::size_t most, std::source_location caller,
                                     Propagate = {}) {
    ScopeOf<T> calls(std::move(range), most, std::move(function), ResultOrder::Started, caller);
    std::vector<T> results;
    for (;;) {
        std::optional<Winner<T>> next = co_await calls.next();
        if (!next)
            break;
        results.push_back(std::move(*next).value());
    }
    co_return results;
}
} // namespace tasks

/// Calls the function with each value of the range, at most `most` calls at a time. T is the type of the results.
template <class T = void, class Range, class F>
    requires CanBeAwaited<std::invoke_result_t<F&, tasks::Item<Range>>>
auto mapConcurrent(Range range, std::size_t most, F function,
                   std::source_location caller = std::source_location::current()) {
    using Result = std::conditional_t<std::is_void_v<T>, tasks::ResultOfEach<F, Range>, T>;
    FLOW_ASSERT_AT(caller, most != 0, "mapConcurrent() with at most 0 calls at a time");
    return tasks::mapConcurrent<Result>(std::move(function), std::move(range), most, caller);
}

} // namespace flow
