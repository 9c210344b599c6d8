#include "flow/base/assert.h"

#include "flow/base/symbol.h"

#include <cstdio>
#include <cstdlib>

namespace flow::detail {

void assertionFailed(const char* condition, const char* message, const char* file, int line) noexcept {
    std::fprintf(stderr, "flow: assertion failed: %s [%s] at %s:%d\n", message, condition, file, line);
    if (runningActor) {
        char name[512];
        symbolName(runningActor, name, sizeof name);
        std::fprintf(stderr, "flow:   in actor %s\n", name);
    }
    std::abort();
}

} // namespace flow::detail
