// The table of origins and sentences of errors. An entry has the place at which an error was made, and a sentence. An
// Error holds the number of its entry, or 0 if there is none. Copies of an error may be kept anywhere, so most entries
// are never changed or removed: those of origins, and those of the first kKept sentences. Two errors with the same
// code, place and sentence share one entry.
//
// A program may make sentences without end, such as a client that tries a million addresses. The sentences after the
// first kKept get their numbers from a circle of kLate numbers, and only the newest kShown of them are shown: an older
// error has the text of its code again, and not the sentence of another error. Only after kLate newer sentences may a
// number stand for another sentence, and then entryOf() shows it only to an error with the same code.

#include "flow/base/error.h"
#include "flow/base/format.h"
#include "flow/base/stack.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace flow {
namespace {

constexpr std::size_t kMostOrigins = 8'192;
constexpr std::size_t kKept = 4'096;
constexpr std::size_t kFirstLate = kMostOrigins + kKept + 1; // the number of the first late entry
constexpr std::size_t kLate = 32'768 - kFirstLate;
constexpr std::size_t kShown = 4'096;
constexpr std::size_t kSentenceBytes = 500;

/// The key of an origin: the address of the file's name, the line, and in checked builds the actor.
using Key = std::tuple<const char*, std::uint32_t, const void*>;

/// A sentence, and what the errors that have it share. `origin` is the text of their origin, or null.
struct Said {
    const char* origin = nullptr;
    int code = 0;
    std::string sentence;

    auto key() const { return std::tuple(origin, code, std::string_view(sentence)); }
};

/// The texts of an entry. A pointer is null if the entry has no such text.
struct Entry {
    const char* origin = nullptr;
    const char* sentence = nullptr;
};

/// The text of an origin, and the number of the entry that refers to this text; 0 if the table was full.
struct Origin {
    std::uint16_t number = 0;
    std::string text;
};

/// The table. It is never destroyed, because destructors of static objects may still use errors with entries.
struct Entries {
    std::mutex mutex;
    std::map<Key, Origin> origins;
    std::map<decltype(Said().key()), std::uint16_t> numbers; // of the sentences that are shown
    std::vector<Entry> entries;                              // the index is the number of the entry - 1
    std::deque<Said> kept, late;                             // the circle `late` begins anew after kLate sentences
    std::size_t lateCount = 0;                               // the number of late sentences that were made

    std::uint16_t add(Entry entry) {
        entries.push_back(entry);
        return static_cast<std::uint16_t>(entries.size());
    }
    std::uint16_t add(Said said) {
        if (kept.size() == kKept)
            return addLate(std::move(said));
        Said const& own = kept.emplace_back(std::move(said));
        std::uint16_t number = add(Entry{own.origin, own.sentence.c_str()});
        numbers.emplace(own.key(), number);
        return number;
    }
    /// The text of a sentence that is shown no more stays where it is until its number is given to another one.
    std::uint16_t addLate(Said said) {
        if (lateCount >= kShown)
            numbers.erase(late[(lateCount - kShown) % kLate].key());
        std::size_t index = lateCount % kLate;
        Said& own = lateCount < kLate ? late.emplace_back() : late[index];
        ++lateCount;
        own = std::move(said);
        auto number = static_cast<std::uint16_t>(kFirstLate + index);
        numbers.emplace(own.key(), number);
        return number;
    }
    Entry lateEntry(std::size_t index, int code) const {
        bool isShown = index < late.size() && (lateCount - 1 - index) % kLate < kShown && late[index].code == code;
        return isShown ? Entry{late[index].origin, late[index].sentence.c_str()} : Entry();
    }
};
Entries& table() {
    static Entries* const made = new Entries;
    return *made;
}

Entry entryOf(std::uint16_t number, int code) {
    if (number == 0)
        return {};
    std::lock_guard lock(table().mutex);
    return number < kFirstLate ? table().entries[number - 1u] : table().lateEntry(number - kFirstLate, code);
}

constinit std::atomic<detail::ChainOfOrigin> chainOfOrigins{nullptr};

const void* actorHere() {
#if FLOW_CHECKED
    return detail::runningActor;
#else
    return nullptr;
#endif
}

std::string textOf(std::source_location raised) {
    std::string_view file = raised.file_name();
    std::string text = format("%s:%u", std::string(file.substr(file.rfind('/') + 1)).c_str(), unsigned{raised.line()});
    detail::ChainOfOrigin chain = chainOfOrigins.load();
    std::string lines = chain ? chain() : std::string();
    while (lines.ends_with('\n'))
        lines.pop_back();
    return lines.empty() ? text : text + "\n" + lines;
}

std::uint16_t find(Key const& key) {
    std::lock_guard lock(table().mutex);
    auto found = table().origins.find(key);
    return found == table().origins.end() ? 0 : found->second.number;
}

std::uint16_t add(Key const& key, std::source_location raised) {
    std::string text = textOf(raised); // without the lock: textOf() may make errors
    std::lock_guard lock(table().mutex);
    auto [place, isNew] = table().origins.try_emplace(key);
    auto& origin = place->second;
    if (isNew && table().origins.size() <= kMostOrigins) {
        origin.text = std::move(text);
        origin.number = table().add(Entry{origin.text.c_str()});
    }
    return origin.number;
}

/// Runs before main(), in each program that may make an Error: the constructor of Error refers to numberOfOrigin(), so
/// the linker takes this file from the static library also if the program has no loop.
[[maybe_unused]] bool const isSetUp = [] {
    if (char const* variable = std::getenv("MILLRACE_ERROR_ORIGINS"))
        Error::recordOrigins(std::string_view(variable) == "1");
    return detail::nameUncaughtErrors();
}();

} // namespace

std::uint16_t detail::numberOfOrigin(std::source_location raised) noexcept {
    static constinit thread_local bool isHere = false;
    if (std::exchange(isHere, true)) // this error was made while add() called textOf()
        return 0;
    std::uint16_t number = 0;
    try {
        Key key{raised.file_name(), raised.line(), actorHere()};
        number = find(key);
        if (number == 0)
            onNewStack([&] {
                try {
                    number = add(key, raised);
                } catch (...) { // no memory: the error has no origin
                }
            });
    } catch (...) {
    }
    isHere = false;
    return number;
}

std::uint16_t detail::numberOfSentence(std::uint16_t number, int code, std::string_view sentence) noexcept {
    try {
        Said said{entryOf(number, code).origin, code, std::string(sentence.substr(0, kSentenceBytes))};
        std::lock_guard lock(table().mutex);
        auto found = table().numbers.find(said.key());
        return found != table().numbers.end() ? found->second : table().add(std::move(said));
    } catch (...) { // no memory: the error has no new sentence
        return number;
    }
}

const char* detail::sentenceOf(std::uint16_t number, int code) noexcept {
    return entryOf(number, code).sentence;
}

void detail::setChainOfOrigins(ChainOfOrigin chain) noexcept {
    chainOfOrigins = chain;
}

std::string detail::originLines(Error error) {
    std::string lines;
    for (std::string_view left = error.origin(); !left.empty();) {
        std::string_view line = left.substr(0, left.find('\n'));
        lines.append(lines.empty() ? "  raised at " : "  ").append(line) += '\n';
        left.remove_prefix(std::min(line.size() + 1, left.size()));
    }
    return lines;
}

bool Error::recordOrigins(bool on) noexcept {
    return detail::recordsOrigins.exchange(on);
}

const char* Error::origin() const noexcept {
    const char* origin = entryOf(number(), code_).origin;
    return origin ? origin : "";
}

} // namespace flow
