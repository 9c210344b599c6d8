#include "flow/base/assert.h"

#include "flow/base/assert_macros.h"
#include "flow/base/error.h"
#include "flow/diag/symbol.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace flow {
namespace {

std::atomic<AssertionHandler> assertionHandler{nullptr};

void report(const char* message, const char* file, int line) noexcept {
    char actor[512] = "";
    if (detail::runningActor)
        actorNameAt(detail::runningActor, actor, sizeof actor);
    std::fprintf(stderr, "flow: assertion failed: %s at %s:%d\n", message, file, line);
    if (actor[0] != '\0')
        std::fprintf(stderr, "flow:   in actor %s\n", actor);
    if (AssertionHandler handler = assertionHandler.load())
        handler(message, file, line, actor);
}

} // namespace

AssertionHandler setAssertionHandler(AssertionHandler handler) noexcept {
    return assertionHandler.exchange(handler);
}

namespace detail {

void assertionFailed(const char* condition, const char* message, const char* file, int line) noexcept {
    char text[1024];
    std::snprintf(text, sizeof text, "%s [%s]", message, condition);
    report(text, file, line);
    std::abort();
}

void reportBreach(const char* condition, const char* values, const char* file, int line) noexcept {
    char text[1024];
    std::snprintf(text, sizeof text, values ? "%s: %s" : "%s", condition, values);
    report(text, file, line);
}

void throwBreach(const char* condition, const char* values, const char* file, int line) {
    reportBreach(condition, values, file, line);
    throw internal_error();
}

} // namespace detail
} // namespace flow
