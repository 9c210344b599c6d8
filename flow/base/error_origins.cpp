// The table of the places at which errors were made.

#include "flow/base/error.h"
#include "flow/base/format.h"
#include "flow/base/stack.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace flow {
namespace {

constexpr std::size_t kMostOrigins = 32'767;

/// The file by the address of its name, the line, and in checked builds the actor.
using Key = std::tuple<const char*, std::uint32_t, const void*>;

/// Never destroyed, and an entry never changes: errors of static objects may have origins as well.
struct Origins {
    std::mutex mutex;
    std::map<Key, std::uint16_t> numbers;
    std::vector<std::string const*> texts; // by number - 1
};
Origins& origins() {
    static Origins* const made = new Origins;
    return *made;
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
    std::lock_guard lock(origins().mutex);
    auto found = origins().numbers.find(key);
    return found == origins().numbers.end() ? 0 : found->second;
}

std::uint16_t add(Key const& key, std::source_location raised) {
    auto text = std::make_unique<std::string const>(textOf(raised)); // without the lock: it may make errors
    std::lock_guard lock(origins().mutex);
    auto& [mutex, numbers, texts] = origins();
    auto [place, isNew] = numbers.try_emplace(key, 0);
    if (isNew && texts.size() < kMostOrigins) {
        texts.push_back(text.get());
        text.release();
        place->second = static_cast<std::uint16_t>(texts.size());
    }
    return place->second;
}

} // namespace

std::uint16_t detail::numberOfOrigin(std::source_location raised) noexcept {
    static constinit thread_local bool isHere = false;
    if (std::exchange(isHere, true)) // finding the chain has made an error
        return 0;
    std::uint16_t number = 0;
    try {
        Key key{raised.file_name(), raised.line(), actorHere()};
        number = find(key);
        if (number == 0)
            onNewStack([&] {
                try {
                    number = add(key, raised);
                } catch (...) { // no memory for it
                }
            });
    } catch (...) {
    }
    isHere = false;
    return number;
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
    std::size_t number = flags_ >> kOriginShift;
    if (number == 0)
        return "";
    std::lock_guard lock(origins().mutex);
    return origins().texts[number - 1]->c_str();
}

} // namespace flow
