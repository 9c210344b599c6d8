#pragma once
// The text of a file, and how often a part is in it.
//
//     CHECK(countOf(fileText("trace.json"), "Connected") == 2);

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>

namespace flow::test {

inline std::string fileText(std::string const& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::size_t countOf(std::string const& text, std::string const& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

} // namespace flow::test
