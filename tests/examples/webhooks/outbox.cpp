#include "outbox.h"

#include <algorithm>

using namespace flow;

void Outbox::apply(Change const& change) {
    last_ = std::max(last_, change.number);
    if (change.letter.present())
        letters_[change.number] = change.letter.get();
    else
        letters_.erase(change.number);
}

Future<Void> Outbox::put(Letter letter) {
    std::uint64_t number = letter.number;
    return write({number, std::move(letter)});
}

Future<Void> Outbox::remove(std::uint64_t number) {
    return write({number});
}

Future<Void> Outbox::write(Change change) {
    apply(change);
    try {
        Future<Void> storing = store(std::move(change));
        co_await std::move(storing);
    } catch (Error& error) {
        if (error != actor_cancelled()) {
            error_ = error;
            broken_.set(); // a waiter for it resumes in a later turn, behind those that wait for this change
        }
        throw;
    }
}
