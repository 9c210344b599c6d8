#pragma once
// mapConcurrent(): calls a function with each value of a range, some calls at a time. Returns the results in order.
//
//     std::vector<Page> pages = co_await mapConcurrent(keys, 50, [](Key const& key) { return load(key); });
//     std::vector<ErrorOr<Page>> some = co_await mapConcurrent<ErrorOr<Page>>(keys, 50, load);   // errors are results
//
// The name and the order of results are as in Java's Gatherers.mapConcurrent. (mapAsync() maps one future.) The range
// is a std::vector, another range or view, or a FutureStream, which is read to its end. Range, function and
// errors are as in flow/tasks/scope_of.h, which gives the results as they come. At most `most` calls run, or have a
// result that waits for an earlier call. The first error cancels the other calls, and fails the future, unless the
// results are ErrorOr<T>. Cancel-safe: dropping the future cancels the calls, and drops their results.

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
