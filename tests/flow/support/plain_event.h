#pragma once
// plainEvent(line): the line of a trace event without "DateTime" and "Area", for tests that are about the rest.
//
//     CHECK(plainEvent(trace.lines()[0]) == R"({"Severity":10,"Type":"First"})");

#include <string>

namespace flow::test {

inline std::string plainEvent(std::string line) {
    for (char const* key : {R"("DateTime":")", R"("Area":")"})
        if (std::size_t at = line.find(key); at != std::string::npos)
            line.erase(at, line.find(',', at) + 1 - at);
    return line;
}

} // namespace flow::test
