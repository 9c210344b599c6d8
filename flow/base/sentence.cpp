#include "flow/base/detail/sentence.h"

#include <cstring>

namespace flow {

Error withPieces(Error error, std::initializer_list<std::string_view> pieces) noexcept {
    constexpr std::size_t kMost = 500, kLongest = 300;
    char text[kMost];
    std::size_t size = 0;
    auto add = [&](std::string_view piece) { size += piece.copy(text + size, kMost - size); };
    for (std::string_view piece : pieces) {
        if (piece.size() > kLongest) {
            add("...");
            piece.remove_prefix(piece.size() - kLongest);
        }
        add(piece);
    }
    return error.withSentence({text, size});
}

std::string_view systemText(int number) noexcept {
    const char* text = ::strerrordesc_np(number); // not translated, and thread-safe
    return text ? text : "Unknown error";
}

} // namespace flow
