#include "flow/trace/levels.h"

#include "flow/base/error.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <strings.h>

namespace flow {
namespace {

std::optional<int> levelOf(std::string_view word) {
    constexpr std::pair<char const*, int> kLevels[] = {{"debug", SevDebug},
                                                       {"info", SevInfo},
                                                       {"warn", SevWarn},
                                                       {"error", SevError},
                                                       {"off", std::numeric_limits<int>::max()}};
    for (auto [name, level] : kLevels)
        if (::strcasecmp(std::string(word).c_str(), name) == 0)
            return level;
    return {};
}

std::string_view withoutBlanks(std::string_view text) {
    std::size_t first = text.find_first_not_of(" \t");
    return first == text.npos ? text.substr(0, 0) : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

} // namespace

TraceLevels::TraceLevels(std::string_view text) : TraceLevels() {
    for (std::string_view word : trace::wordsOf(text))
        if (!add(word))
            throw wrongOption("TraceLevels", "text", '"' + std::string(word) + '"',
                              "each word must be debug, info, warn, error, off or AREA=LEVEL");
}

bool TraceLevels::add(std::string_view word) {
    std::size_t equal = word.find('=');
    std::optional<int> level = levelOf(withoutBlanks(equal == word.npos ? word : word.substr(equal + 1)));
    if (!level)
        return false;
    if (equal == word.npos) {
        all_ = *level;
    } else {
        std::string_view area = withoutBlanks(word.substr(0, equal));
        while (area.ends_with('/'))
            area.remove_suffix(1);
        if (area.empty())
            return false;
        std::erase_if(areas_, [&](auto const& each) { return each.first == area; });
        areas_.emplace_back(area, *level);
    }
    minimum_ = all_;
    for (auto const& [area, own] : areas_)
        minimum_ = std::min(minimum_, own);
    return true;
}

int TraceLevels::of(std::string_view area) const noexcept {
    int level = all_;
    std::size_t longest = 0;
    for (auto const& [name, own] : areas_)
        if (name.size() > longest && area.starts_with(name) &&
            (area.size() == name.size() || area[name.size()] == '/')) {
            longest = name.size();
            level = own;
        }
    return level;
}

std::string_view trace::areaOf(std::string_view file) noexcept {
    constexpr std::string_view kHere = "flow/trace/levels.cpp", kThisFile = __FILE__;
    constexpr std::string_view kRoot = kThisFile.substr(0, kThisFile.size() - kHere.size());
    if (file.starts_with(kRoot))
        file.remove_prefix(kRoot.size());
    if (file.starts_with("./"))
        file.remove_prefix(2);
    std::size_t end = file.rfind('/');
    if (end == file.npos)
        return {};
    file = file.substr(0, end);
    bool isBelowSomeRoot = !file.starts_with('/') && !file.starts_with("..");
    return isBelowSomeRoot ? file : file.substr(file.rfind('/') + 1);
}

std::vector<std::string_view> trace::wordsOf(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        std::size_t comma = std::min(text.find(','), text.size());
        if (std::string_view word = withoutBlanks(text.substr(0, comma)); !word.empty())
            words.push_back(word);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return words;
}

} // namespace flow
