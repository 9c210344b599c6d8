#pragma once
// What dumpPending() writes, for tests that compare it without lines.
//
//     std::string text = test::pendingText();
//     CHECK(test::count(text, "held by") == 2);

#include "flow/inspect/pending_report.h"

#include <string>
#include <string_view>

namespace flow::test {

/// Without the lines of waits in the file of the caller, and without the numbers of instances.
inline std::string pendingText(PendingOptions options = {}, std::string_view file = __builtin_FILE()) {
    std::string text;
    dumpPending(text, options);
    std::string const place = " at " + std::string(file.substr(file.rfind('/') + 1)) + ":";
    for (std::size_t at; (at = text.find(place)) != std::string::npos;)
        text.erase(at, text.find_first_not_of("0123456789", at + place.size()) - at);
    for (std::size_t at = 0; (at = text.find('#', at)) != std::string::npos;)
        text.erase(at, text.find_first_not_of("0123456789", at + 1) - at);
    return text;
}

inline std::size_t count(std::string const& text, std::string const& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

inline bool has(std::string const& text, std::string const& part) {
    return text.find(part) != std::string::npos;
}

} // namespace flow::test
