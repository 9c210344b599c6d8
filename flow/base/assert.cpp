#include "flow/base/assert.h"

#include "flow/base/assert_macros.h"
#include "flow/base/error.h"
#include "flow/diag/symbol.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <new>
#include <string>
#include <string_view>
#include <vector>

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

/// Runs what lineCommand() gave, which prints two lines for each call that was inlined at the code, and last for the
/// function itself: a name and a place. Finds the innermost place that is in the function's own file, which is no
/// header of the library. False if the program has no debug information, or addr2line is not installed.
bool findPlace(const char* command, std::string& found) noexcept try {
    std::FILE* output = ::popen(("timeout 10 " + std::string(command) + " 2>/dev/null").c_str(), "re");
    if (!output)
        return false;
    std::vector<std::string> places;
    char line[4200];
    for (bool isPlace = false; std::fgets(line, sizeof line, output); isPlace = !isPlace)
        if (isPlace)
            places.emplace_back(line, std::strcspn(line, " \n")); // behind a blank there may be a discriminator
    ::pclose(output);
    if (places.empty() || places.back().find('?') != std::string::npos)
        return false;
    std::string const file = places.back().substr(0, places.back().rfind(':') + 1);
    found =
        *std::find_if(places.begin(), places.end(), [&](std::string const& each) { return each.starts_with(file); });
    return true;
} catch (std::bad_alloc const&) {
    return false;
}

/// The place of an assertion may be in the library. This prints the innermost function on the stack that is not of the
/// library, nor of std; and where it called, unless that is known already.
[[gnu::noinline]] void reportCaller(bool isPlaceKnown) noexcept {
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
        if (isPlaceKnown) {
            std::fprintf(stderr, "flow:   called by %s\n", name);
            return;
        }
        char command[4200];
        lineCommand(call, command, sizeof command);
        std::string place;
        if (findPlace(command, place))
            std::fprintf(stderr, "flow:   called by %s at %s\n", name, place.c_str());
        else
            std::fprintf(stderr, "flow:   called by %s (%s)\n", name, command);
        return;
    }
}

enum class ReportsCaller : std::uint8_t { No, Function, Place };

void report(const char* message, const char* file, int line, ReportsCaller caller) noexcept {
    char actor[512] = "";
    if (detail::runningActor)
        actorNameAt(detail::runningActor, actor, sizeof actor);
    std::fprintf(stderr, "flow: assertion failed: %s at %s:%d\n", message, file, line);
    if (actor[0] != '\0')
        std::fprintf(stderr, "flow:   in actor %s\n", actor);
    if (caller != ReportsCaller::No)
        reportCaller(caller == ReportsCaller::Function);
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
    if (isKnown)
        report(text, caller.file_name(), static_cast<int>(caller.line()), ReportsCaller::Function);
    else
        report(text, file, line, ReportsCaller::Place);
    std::abort();
}

void reportBreach(const char* condition, const char* values, const char* file, int line) noexcept {
    char text[1024];
    std::snprintf(text, sizeof text, values ? "%s: %s" : "%s", condition, values);
    report(text, file, line, ReportsCaller::No);
}

void throwBreach(const char* condition, const char* values, const char* file, int line) {
    reportBreach(condition, values, file, line);
    throw internal_error();
}

} // namespace detail
} // namespace flow
