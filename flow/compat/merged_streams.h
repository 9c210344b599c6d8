#pragma once
// Merges two streams into one, for flow/genericactors.actor.h of this folder. New code should write a coroutine.
//
//     Future<Void> merging = unorderedMergeStreams(a, b, output);      // each element, when it comes
//     Future<Void> merging = orderedMergeStreams(a, b, output);        // in their order, if a and b are ordered
//
// Sends end_of_stream when both have ended, or the first other error of the merge. Never fails. Cancel-safe.

#include "../flow.h"

#include <utility>

namespace flow::compat {

/// Returns the next element; nothing at the end.
template <class T>
Future<Optional<T>> nextOf(FutureStream<T> stream, NoThrowOnCancel = {}) {
    try {
        T next = co_await stream;
        co_return Optional<T>(std::move(next));
    } catch (Error& e) {
        if (e.code() != error_code_end_of_stream)
            throw;
    }
    co_return Optional<T>();
}

template <class T>
Future<Void> sendAllOf(FutureStream<T> from, PromiseStream<T> to, Propagate = {}) {
    for (;;) {
        Optional<T> next = co_await nextOf(from);
        if (!next.present())
            co_return;
        to.send(std::move(next).get());
    }
}

/// Sends the smaller of the two next elements, by compare(). If they are equal, sends only the first.
template <class T>
Future<Void> sendInOrder(FutureStream<T> a, FutureStream<T> b, PromiseStream<T> to, Propagate = {}) {
    Future<Optional<T>> nextOfA = nextOf(a), nextOfB = nextOf(b);
    for (;;) {
        co_await (nextOfA && nextOfB); // throws the first error of the two
        Optional<T> const &first = nextOfA.get(), &second = nextOfB.get();
        if (!first.present() && !second.present())
            co_return;
        int order = !second.present() ? -1 : !first.present() ? 1 : first.get().compare(second.get());
        to.send(order <= 0 ? first.get() : second.get());
        if (order <= 0)
            nextOfA = nextOf(a);
        if (order >= 0)
            nextOfB = nextOf(b);
    }
}

template <class T>
Future<Void> sendEndOf(Future<Void> work, PromiseStream<T> to, Propagate = {}) {
    ErrorOr<Void> result = co_await coro::outcome(std::move(work));
    to.sendError(result.isError() ? result.getError() : end_of_stream());
}

template <class T>
Future<Void> unorderedMergeStreams(FutureStream<T> a, FutureStream<T> b, PromiseStream<T> output) {
    return sendEndOf(sendAllOf(a, output) && sendAllOf(b, output), output);
}
template <class T>
Future<Void> orderedMergeStreams(FutureStream<T> a, FutureStream<T> b, PromiseStream<T> output) {
    return sendEndOf(sendInOrder(a, b, output), output);
}

} // namespace flow::compat
