#pragma once
// Two streams as one: flow/genericactors.actor.h of this folder brings it. New code writes a coroutine of its own
// instead.
//
//     Future<Void> merging = unorderedMergeStreams(a, b, output);      // each element, when it comes
//     Future<Void> merging = orderedMergeStreams(a, b, output);        // in their order, if a and b are ordered
//
// When both have ended, end_of_stream is sent. Another error is sent when the merge reaches it, and ends the actor too.
// The actor itself does not fail. Cancel-safe.

#include "../flow.h"

#include <utility>

namespace flow::compat {

/// The next element; nothing at the end.
template <class T>
Future<Optional<T>> nextOf(FutureStream<T> stream) {
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
Future<Void> sendAllOf(FutureStream<T> from, PromiseStream<T> to) {
    for (;;) {
        Optional<T> next = co_await nextOf(from);
        if (!next.present())
            co_return;
        to.send(std::move(next).get());
    }
}

/// Sends the smaller of the two next elements, by compare(). Of two equal elements it sends only the first.
template <class T>
Future<Void> sendInOrder(FutureStream<T> a, FutureStream<T> b, PromiseStream<T> to) {
    Future<Optional<T>> nextOfA = nextOf(a), nextOfB = nextOf(b);
    for (;;) {
        co_await (nextOfA && nextOfB); // the first error of the two
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
Future<Void> sendEndOf(Future<Void> work, PromiseStream<T> to) {
    ErrorOr<Void> result = co_await tryGet(std::move(work));
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
