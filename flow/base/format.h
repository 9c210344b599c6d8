#pragma once
// format: printf into a std::string.
//
//     std::string line = format("%s: %d of %.1f", name.c_str(), count, total);

#include <string>

namespace flow {

/// Returns the text that printf() would print. The compiler checks the arguments. Throws std::bad_alloc.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

} // namespace flow
