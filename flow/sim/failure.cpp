#include "flow/sim/failure.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace flow {
namespace {

bool isWordCharacter(unsigned char c) {
    return std::isalnum(c) != 0;
}

/// As pointers and ids are written. What is shorter, or has no decimal digit, is a word or a name.
bool isHexadecimal(std::string_view word) {
    bool prefixed = word.size() > 2 && word.starts_with("0x");
    if (prefixed)
        word.remove_prefix(2);
    return (prefixed || (word.size() >= 4 && word.find_first_of("0123456789") != std::string_view::npos)) &&
           word.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

} // namespace

SimulationFailure SimulationFailure::of(std::string text) {
    std::string signature;
    std::string_view line = std::string_view(text).substr(0, text.find('\n'));
    while (!line.empty()) {
        auto end = std::find_if_not(line.begin(), line.end(), isWordCharacter);
        std::string_view word = line.substr(0, std::max<std::size_t>(1, static_cast<std::size_t>(end - line.begin())));
        line.remove_prefix(word.size());
        bool number = isHexadecimal(word);
        for (unsigned char c : word)
            if (!number && !std::isdigit(c))
                signature += static_cast<char>(c);
            else if (!signature.ends_with('#'))
                signature += '#';
    }
    return {std::move(signature), std::move(text)};
}

} // namespace flow
