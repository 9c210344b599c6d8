#include "flow/base/assert.h"

#include "flow/base/assert_macros.h"
#include "flow/base/error.h"
#include "flow/diag/symbol.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <string_view>

namespace flow {
namespace {

std::atomic<AssertionHandler> assertionHandler{nullptr};

/// "flow::Promise<int>::send" of "void flow::Promise<int>::send(int) const".
std::string_view qualifiedName(std::string_view symbol) {
    std::size_t begin = 0;
    int brackets = 0;
    for (std::size_t i = 0; i < symbol.size(); ++i) {
        if (symbol[i] == '<')
            ++brackets;
        else if (symbol[i] == '>')
            --brackets;
        else if (symbol[i] == ' ' && brackets == 0)
            begin = i + 1;
        else if (symbol.substr(i).starts_with("(anonymous namespace)"))
            i += std::strlen("(anonymous namespace)") - 1;
        else if (symbol[i] == '(' && brackets == 0)
            return symbol.substr(begin, i - begin);
    }
    return symbol.substr(begin);
}

/// The place of an assertion may be in the library. This prints the innermost function on the stack that is not of the
/// library, nor of std, and how to get its line: only debug information has that.
[[gnu::noinline]] void reportCaller() noexcept {
    void* returns[64];
    int count = ::backtrace(returns, 64);
    for (int i = 0; i < count; ++i) {
        char name[512];
        void const* call = static_cast<char const*>(returns[i]) - 1; // a call that does not return may be the last
        symbolName(call, name, sizeof name);
        std::string_view qualified = qualifiedName(name);
        if (qualified.starts_with("flow::") || qualified.starts_with("std::") ||
            qualified.find("interceptor_backtrace") != qualified.npos) // AddressSanitizer's own backtrace()
            continue;
        char command[4200];
        lineCommand(call, command, sizeof command);
        std::fprintf(stderr, "flow:   called by %s (%s)\n", name, command);
        return;
    }
}

void report(const char* message, const char* file, int line, bool isFatal) noexcept {
    char actor[512] = "";
    if (detail::runningActor)
        actorNameAt(detail::runningActor, actor, sizeof actor);
    std::fprintf(stderr, "flow: assertion failed: %s at %s:%d\n", message, file, line);
    if (actor[0] != '\0')
        std::fprintf(stderr, "flow:   in actor %s\n", actor);
    if (isFatal)
        reportCaller();
    if (AssertionHandler handler = assertionHandler.load())
        handler(message, file, line, actor);
}

} // namespace

AssertionHandler setAssertionHandler(AssertionHandler handler) noexcept {
    return assertionHandler.exchange(handler);
}

namespace detail {

void assertionFailed(const char* condition, const char* message, const char* file, int line, Caller caller) noexcept {
    char text[1024];
    std::snprintf(text, sizeof text, "%s [%s]", message, condition);
    bool isKnown = caller.line() != 0;
    report(text, isKnown ? caller.file_name() : file, isKnown ? static_cast<int>(caller.line()) : line, true);
    std::abort();
}

void reportBreach(const char* condition, const char* values, const char* file, int line) noexcept {
    char text[1024];
    std::snprintf(text, sizeof text, values ? "%s: %s" : "%s", condition, values);
    report(text, file, line, false);
}

void throwBreach(const char* condition, const char* values, const char* file, int line) {
    reportBreach(condition, values, file, line);
    throw internal_error();
}

} // namespace detail
} // namespace flow
