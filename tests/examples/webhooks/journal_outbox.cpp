#include "outbox.h"

#include "flow/file/file_tools.h"
#include "flow/file/journal.h"
#include "flow/memory/binary.h"

#include <vector>

using namespace flow;

namespace {

template <class T>
std::string bytesOf(T const& value) {
    return BinaryWriter::toValue(value, Unversioned()).toString();
}
template <class T>
T valueOf(std::string const& bytes) {
    T value;
    BinaryReader reader(StringRef(bytes), Unversioned());
    reader >> value;
    return value;
}

class JournalOutbox final : public Outbox {
public:
    JournalOutbox(Reference<AsyncFile> lock, Reference<Journal> journal)
        : lock_(std::move(lock)), journal_(std::move(journal)), changes_(journal_->length()) {
        if (journal_->lastSnapshot()) {
            State state = valueOf<State>(*journal_->lastSnapshot());
            last_ = state.last;
            for (Letter& letter : state.letters)
                letters_[letter.number] = std::move(letter);
        }
        for (std::string const& record : journal_->records())
            apply(valueOf<Change>(record));
    }

private:
    struct State {
        std::uint64_t last;
        std::vector<Letter> letters;
    };

    Future<Void> store(Change change) override {
        if (++changes_ <= 1000 + 2 * letters_.size())
            return journal_->append(bytesOf(change));
        changes_ = 0; // instead of a journal that grows: all of it, with this change
        State state{last_, {}};
        for (auto const& [number, letter] : letters_)
            state.letters.push_back(letter);
        return journal_->snapshot(bytesOf(state));
    }

    Reference<AsyncFile> lock_; // the journal is for one process
    Reference<Journal> journal_;
    std::size_t changes_; // since the last snapshot
};

} // namespace

Future<Reference<Outbox>> openJournal(std::string path) {
    Future<Reference<AsyncFile>> locking = openLocked(path + ".lock");
    Reference<AsyncFile> lock = co_await timeoutError(std::move(locking), 5.0);
    Reference<Journal> journal = co_await Journal::open(path);
    Reference<Outbox> outbox = makeReference<JournalOutbox>(lock, journal);
    co_return outbox;
}
