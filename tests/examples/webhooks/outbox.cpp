#include "outbox.h"

#include "flow/memory/binary.h"

#include <algorithm>
#include <vector>

using namespace flow;

struct Outbox::Change {
    std::uint64_t number;
    Optional<Letter> letter; // none: it was removed
};
struct Outbox::State {
    std::uint64_t last;
    std::vector<Letter> letters;
};

template <class T>
static std::string bytesOf(T const& value) {
    return BinaryWriter::toValue(value, Unversioned()).toString();
}
template <class T>
static T valueOf(std::string const& bytes) {
    T value;
    BinaryReader reader(StringRef(bytes), Unversioned());
    reader >> value;
    return value;
}

Future<Reference<Outbox>> Outbox::open(std::string path) {
    Reference<Outbox> self = makeReference<Outbox>();
    self->journal_ = co_await Journal::open(path);
    if (self->journal_->state()) {
        State state = valueOf<State>(*self->journal_->state());
        self->last_ = state.last;
        for (Letter& letter : state.letters)
            self->letters_[letter.number] = std::move(letter);
    }
    for (std::string const& record : self->journal_->records())
        self->apply(valueOf<Change>(record));
    self->changes_ = self->journal_->length();
    co_return self;
}

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
    return write({number, {}});
}

Future<Void> Outbox::write(Change change) {
    apply(change);
    Future<Void> written;
    if (++changes_ <= 1000 + 2 * letters_.size()) {
        written = journal_->append(bytesOf(change));
    } else { // instead of a journal that grows: all of it, with this change
        changes_ = 0;
        State state{last_, {}};
        for (auto const& [number, letter] : letters_)
            state.letters.push_back(letter);
        written = journal_->snapshot(bytesOf(state));
    }
    try {
        co_await written;
    } catch (Error& error) {
        if (error != actor_cancelled()) {
            error_ = error;
            broken_.set(); // a waiter for it resumes in a later turn, behind those that wait for this change
        }
        throw;
    }
}
