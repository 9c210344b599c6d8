// The table of origins and sentences of errors. An entry has an origin (the place at which an error was made) and a
// sentence. An Error holds the number of its entry; 0 means none. Copies of an error may be kept anywhere, so origins
// and the first kKept sentences are never removed. Errors with the same code, place and sentence share one entry.
//
// A program may make any number of sentences, like a client that tries a million addresses. The later sentences share a
// circle of kLate numbers. Only the newest kShown of them are shown: an older error has the text of its code again.
// After kLate newer sentences, a number may mean another sentence: entryOf() shows it only to errors of the same code.

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

/// A sentence, which belongs to all errors with this code and this origin. `origin` is the origin's text, or null.
struct Said {
    const char* origin = nullptr;
    int code = 0;
    std::string sentence;

    auto key() const { return std::tuple(origin, code, std::string_view(sentence)); }
};

/// The texts of an entry. Null means no text.
struct Entry {
    const char* origin = nullptr;
    const char* sentence = nullptr;
};

/// The text of an origin, and the number of its entry; 0 if the table was full.
struct Origin {
    std::uint16_t number = 0;
    std::string text;
};

/// The table. It is never destroyed, because destructors of static objects may still use errors with entries.
struct Entries {
    std::mutex mutex;
    std::map<Key, Origin> origins;
    std::map<decltype(Said().key()), std::uint16_t> numbers; // the numbers of the sentences that are shown
    std::vector<Entry> entries;                              // the index is the number of the entry - 1
    std::deque<Said> kept, late;                             // `late` is a circle of kLate sentences
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
    /// A sentence that is no longer shown keeps its text until another sentence gets its number.
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

constexpr std::string_view kOfLibrary = " of the library";

/// True if the function is in the namespace flow. `function` has its type, its name and its parameters.
bool isOfLibrary(std::string_view function) {
    int depth = 0; // of template arguments
    std::size_t name = 0;
    for (std::size_t i = 0; i < function.size(); ++i) {
        depth += (function[i] == '<') - (function[i] == '>');
        if (depth == 0 && function.substr(i).starts_with("(anonymous"))
            i = std::min(function.find(')', i), function.size());
        else if (depth == 0 && function[i] == '(')
            break;
        else if (depth == 0 && std::string_view(" *&").find(function[i]) != std::string_view::npos)
            name = i + 1;
    }
    return function.substr(name).starts_with("flow::");
}

std::string placeText(std::source_location raised) {
    std::string_view file = raised.file_name();
    std::string place = format("%s:%u", std::string(file.substr(file.rfind('/') + 1)).c_str(), unsigned{raised.line()});
    return isOfLibrary(raised.function_name()) ? place.append(kOfLibrary) : place;
}

/// Returns the place in a line of a chain ("  awaited by actor ask at ask.cpp:7"); empty if the function belongs to the
/// library or has no known place.
std::string_view usersPlaceIn(std::string_view line) {
    constexpr std::string_view kAwaitedBy = "  awaited by ", kAt = " at ", kRuns = " runs";
    if (line.starts_with(kAwaitedBy))
        line.remove_prefix(kAwaitedBy.size());
    if (line.ends_with(kRuns))
        line.remove_suffix(kRuns.size());
    std::size_t at = line.rfind(kAt);
    bool isOfUser = at != std::string_view::npos && !line.substr(line.find(' ') + 1).starts_with("flow::");
    return isOfUser ? line.substr(at + kAt.size()) : std::string_view();
}

/// kNoChain is passed instead of a cell if the failed computation is not known yet. Then the origin gets no chain.
constexpr char kUnknownCell = 0;
constexpr void const* kNoChain = &kUnknownCell;

consteval std::source_location placeOfForeignError() {
    return std::source_location::current();
}

bool hasChain(std::string_view origin) {
    return origin.find('\n') != origin.npos;
}

/// Adds the chain of awaiters to the text of an origin. If the origin is a line of the library, the user's line that
/// has called it comes first: "ask.cpp:7, by timeout.h:72 of the library".
std::string withChain(std::string const& text, void const* cell) {
    detail::ChainOfOrigin chain = chainOfOrigins.load();
    std::string lines = chain && cell != kNoChain ? chain(cell) : std::string();
    while (lines.ends_with('\n'))
        lines.pop_back();
    if (lines.empty())
        return text;
    std::string_view place;
    for (std::string_view left = lines; text.ends_with(kOfLibrary) && place.empty() && !left.empty();) {
        std::string_view line = left.substr(0, left.find('\n'));
        place = usersPlaceIn(line);
        if (place.empty() && line.ends_with(" runs"))
            return text; // several users share a computation of the library: its awaiter is found when it ends
        left.remove_prefix(std::min(line.size() + 1, left.size()));
    }
    return (place.empty() ? text : std::string(place) + ", by " + text) + "\n" + lines;
}

std::uint16_t find(Key const& key) {
    std::lock_guard lock(table().mutex);
    auto found = table().origins.find(key);
    return found == table().origins.end() ? 0 : found->second.number;
}

std::uint16_t add(Key const& key, std::string const& raised, void const* cell) {
    std::string text = withChain(raised, cell); // without the lock: the chain may make errors
    std::lock_guard lock(table().mutex);
    auto [place, isNew] = table().origins.try_emplace(key);
    auto& origin = place->second;
    if (isNew && table().origins.size() <= kMostOrigins) {
        origin.text = std::move(text);
        origin.number = table().add(Entry{origin.text.c_str()});
    }
    return origin.number;
}

/// Runs before main() in each program that makes Errors: Error's constructor makes the linker take this file.
[[maybe_unused]] bool const isSetUp = [] {
    if (char const* variable = std::getenv("MILLRACE_ERROR_ORIGINS"))
        Error::recordOrigins(std::string_view(variable) == "1");
    return detail::nameUncaughtErrors();
}();

/// Finds or adds the origin of the key. Returns 0 if there is no memory.
std::uint16_t findOrAdd(Key const& key, auto placeOf, void const* cell) noexcept {
    static constinit thread_local bool isHere = false;
    if (std::exchange(isHere, true)) // this error was made while add() made a chain
        return 0;
    std::uint16_t number = 0;
    try {
        number = find(key);
        if (number == 0)
            onNewStack([&] {
                try {
                    number = add(key, placeOf(), cell);
                } catch (...) {
                }
            });
    } catch (...) {
    }
    isHere = false;
    return number;
}

} // namespace

std::uint16_t detail::numberOfOrigin(std::source_location raised) noexcept {
    constexpr std::source_location kForeign = placeOfForeignError();
    bool isForeign = raised.line() == kForeign.line() && std::string_view(raised.file_name()) == kForeign.file_name();
    return findOrAdd(
        {raised.file_name(), raised.line(), actorHere()}, [&] { return placeText(raised); },
        isForeign && !FLOW_CHECKED ? kNoChain : nullptr);
}

Error detail::foreignError() noexcept {
    return Error::fromCode(error_code_unknown_error, placeOfForeignError());
}

std::uint16_t detail::numberWithAwaiters(std::uint16_t number, int code, void const* cell, void const* codes) noexcept {
    Entry const entry = entryOf(number, code);
    if (!entry.origin || hasChain(entry.origin))
        return number;
    // The text has another address than the name of any file, so the key is new.
    std::uint16_t found = findOrAdd({entry.origin, 0, codes}, [&] { return std::string(entry.origin); }, cell);
    if (found == 0 || !hasChain(entryOf(found, code).origin))
        return number;
    return entry.sentence ? numberOfSentence(found, code, entry.sentence) : found;
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
