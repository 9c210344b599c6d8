#include "flow/base/format.h"

#include "flow/base/assert.h"

#include <cstdarg>
#include <cstdio>

namespace flow {

std::string format(const char* pattern, ...) {
    char brief[256];
    va_list arguments;
    va_start(arguments, pattern);
    va_list again;
    va_copy(again, arguments);
    int length = std::vsnprintf(brief, sizeof brief, pattern, arguments);
    va_end(arguments);
    std::string text;
    if (length >= static_cast<int>(sizeof brief)) {
        text.resize(static_cast<std::size_t>(length));
        std::vsnprintf(text.data(), text.size() + 1, pattern, again);
    } else if (length > 0) {
        text.assign(brief, static_cast<std::size_t>(length));
    }
    va_end(again);
    FLOW_ASSERT(length >= 0, "format(): the pattern or an argument cannot be printed");
    return text;
}

} // namespace flow
