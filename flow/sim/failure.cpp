#include "flow/sim/failure.h"

#include <algorithm>
#include <string_view>

namespace flow {
namespace {

// ASCII, independent of the locale of the program.
constexpr std::string_view kDigits = "0123456789", kHexadecimal = "0123456789abcdefABCDEF",
                           kWord = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Returns true if `word` looks like a hexadecimal number, such as a pointer or an id. Without 0x, a text of less than
/// 4 characters or without a decimal digit counts as a word or a name.
bool isHexadecimal(std::string_view word) {
    bool prefixed = word.size() > 2 && word.starts_with("0x");
    if (prefixed)
        word.remove_prefix(2);
    return (prefixed || (word.size() >= 4 && word.find_first_of(kDigits) != std::string_view::npos)) &&
           word.find_first_not_of(kHexadecimal) == std::string_view::npos;
}

} // namespace

SimulationFailure SimulationFailure::of(std::string text) {
    std::string signature;
    std::string_view line = std::string_view(text).substr(0, text.find('\n'));
    while (!line.empty()) {
        std::string_view word = line.substr(0, std::max<std::size_t>(1, line.find_first_not_of(kWord)));
        line.remove_prefix(word.size());
        bool number = isHexadecimal(word);
        for (char c : word)
            if (!number && kDigits.find(c) == std::string_view::npos)
                signature += c;
            else if (!signature.ends_with('#'))
                signature += '#';
    }
    return {std::move(signature), std::move(text)};
}

} // namespace flow
