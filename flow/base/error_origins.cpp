// The table of origins and sentences of errors. An entry has the place at which an error was made, and a sentence. An
// Error holds the number of its entry, or 0 if there is none. An entry is never changed or removed, because copies of
// an error may be kept anywhere. Two errors with the same place and the same sentence share one entry.

#include "flow/base/error.h"
#include "flow/base/format.h"
#include "flow/base/stack.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace flow {
namespace {

constexpr std::size_t kMostSentences = 4'096;
constexpr std::size_t kMostOrigins = 32'767 - kMostSentences;
constexpr std::size_t kSentenceBytes = 500;

/// The key of an origin: the address of the file's name, the line, and in checked builds the actor.
using Key = std::tuple<const char*, std::uint32_t, const void*>;

/// The address of an origin's text (null without an origin), and a sentence.
using Said = std::pair<const char*, std::string>;

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
    std::map<Said, std::uint16_t> sentences;
    std::vector<Entry> entries; // the index is the number of the entry - 1

    std::uint16_t add(Entry entry) {
        entries.push_back(entry);
        return static_cast<std::uint16_t>(entries.size());
    }
};
Entries& table() {
    static Entries* const made = new Entries;
    return *made;
}

Entry entryOf(std::uint16_t number) {
    if (number == 0)
        return {};
    std::lock_guard lock(table().mutex);
    return table().entries[number - 1u];
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
        origin.number = table().add({origin.text.c_str()});
    }
    return origin.number;
}

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

namespace {

std::uint16_t numberOf(std::uint16_t origin, std::string_view sentence, std::size_t most) noexcept {
    try {
        Said key(entryOf(origin).origin, sentence.substr(0, kSentenceBytes));
        std::lock_guard lock(table().mutex);
        auto& sentences = table().sentences;
        if (auto found = sentences.find(key); found != sentences.end())
            return found->second;
        if (sentences.size() >= most)
            return origin;
        auto place = sentences.try_emplace(std::move(key), origin).first;
        return place->second = table().add({place->first.first, place->first.second.c_str()});
    } catch (...) { // no memory: the error has no sentence
        return origin;
    }
}

} // namespace

std::uint16_t detail::numberOfSentence(std::uint16_t origin, std::string_view sentence) noexcept {
    return numberOf(origin, sentence, kMostSentences);
}

Error detail::withTextOfException(Error error, std::string_view sentence) noexcept {
    error.setNumber(numberOf(error.number(), sentence, kMostSentences / 2));
    return error;
}

const char* detail::sentenceOf(std::uint16_t number) noexcept {
    return entryOf(number).sentence;
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
    const char* origin = entryOf(number()).origin;
    return origin ? origin : "";
}

} // namespace flow
