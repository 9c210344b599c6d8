// findProgramCall() takes the return addresses of the stack up to the first one with a symbol of the program, and runs
// addr2line for them if the place is wanted. A function of the program may be inlined into the library. So the place is
// the first line in a file of the program, and if the function with this line is inlined, `function` names it.
//
// gcc records a wrong line for calls in a statement with a co_await: placeInGccCoroutine() finds the line or a range.
//
// Without symbols, debug information or addr2line, fields of the result stay empty.

#include "flow/diag/detail/program_call.h"

#include "flow/diag/detail/symbol.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <string_view>
#include <vector>

namespace flow {
namespace {

#ifdef __clang__
#define FLOW_TEXT(text) #text
#define FLOW_TEXT_OF(macro) FLOW_TEXT(macro)
constexpr char kTool[] =
    "$(command -v llvm-addr2line-" FLOW_TEXT_OF(__clang_major__) " || command -v llvm-addr2line || echo addr2line)";
#else
constexpr char kTool[] = "addr2line";
#endif

constexpr std::string_view kOwnFile = __FILE__;
constexpr std::string_view kFolder = kOwnFile.substr(0, kOwnFile.rfind("flow/"));

/// Returns "flow::Promise<int>::send" for "void flow::Promise<int>::send(int) const".
std::string_view qualifiedName(std::string_view symbol) {
    std::size_t begin = 0;
    int brackets = 0;
    for (std::size_t i = 0; i < symbol.size(); ++i) {
        if (symbol[i] == '<')
            ++brackets;
        else if (symbol[i] == '>')
            --brackets;
        else if (brackets != 0)
            continue;
        else if (symbol.substr(i).starts_with("(anonymous namespace)"))
            i += std::strlen("(anonymous namespace)") - 1;
        else if (symbol.substr(i).starts_with("operator")) // a type may follow
            return symbol.substr(begin);
        else if (symbol[i] == ' ')
            begin = i + 1;
        else if (symbol[i] == '(')
            return symbol.substr(begin, i - begin);
    }
    return symbol.substr(begin);
}

bool isOfProgram(std::string_view symbol) {
    constexpr std::string_view kOthers[] = {"flow::", "std::", "__gnu_cxx::",
                                            // symbols that no demangler reads
                                            "_ZN4flow", "_ZNK4flow", "_ZZN4flow", "_ZZNK4flow", "_ZNSt", "_ZNKSt",
                                            "_ZSt"};
    std::string_view name = qualifiedName(symbol);
    return std::none_of(std::begin(kOthers), std::end(kOthers), [&](auto each) { return name.starts_with(each); }) &&
           name.find("interceptor_backtrace") == name.npos; // AddressSanitizer's own backtrace()
}

/// Returns true for code of a state machine: its class, or resumeActor(), into which this class may be inlined.
bool isOfActor(std::string_view symbol) {
    std::string_view name = qualifiedName(symbol);
    return name == "a_body" || name.ends_with("::a_body") || name.starts_with("a_packs") ||
           name.find("::a_packs") != name.npos ||
           (name.starts_with("flow::actor::Actor<") && name.ends_with("::resumeActor"));
}

/// Returns gcc's function for the coroutine of `code`, which may be in a part that gcc split off; null for other code.
void const* gccCoroutineOf(void const* code) {
    constexpr std::string_view kEnd = ".Frame.actor";
    std::string symbol = mangledSymbol(code);
    std::size_t end = symbol.find(kEnd);
    if (end == symbol.npos)
        return nullptr;
    symbol.resize(end + kEnd.size());
    return addressOfSymbol(code, symbol + '\0'); // with the final null: a longer name must not match
}

struct Line {
    std::string function, place;
};

/// Runs addr2line. For each call it prints "FUNCTION at PLACE", then the functions into which FUNCTION was inlined.
std::vector<Line> linesOf(std::string const& command) {
    constexpr std::string_view kInlinedBy = " (inlined by) ";
    std::vector<Line> lines;
    std::FILE* output = ::popen(("timeout 10 " + command + " 2>/dev/null").c_str(), "re");
    if (!output)
        return lines;
    char text[4200];
    while (std::fgets(text, sizeof text, output)) {
        std::string_view line(text, std::strcspn(text, "\n"));
        line.remove_prefix(line.starts_with(kInlinedBy) ? kInlinedBy.size() : 0);
        std::size_t at = line.rfind(" at ");
        if (at == line.npos)
            continue; // the rest of a line that was too long
        std::string_view place = line.substr(at + 4);
        place = place.substr(0, place.find(" (discriminator "));
        lines.push_back({std::string(line.substr(0, at)), std::string(place)});
    }
    ::pclose(output);
    return lines;
}

std::uintptr_t addressOf(std::string const& command) {
    return std::strtoull(command.c_str() + command.rfind(' ') + 1, nullptr, 16);
}

/// Returns the lines in `file` of the addresses from `begin` up to `end`, in this order.
std::vector<int> linesIn(std::string const& file, std::string command, std::uintptr_t begin, std::uintptr_t end) {
    char text[32];
    for (std::uintptr_t address = begin; address < end; ++address) {
        std::snprintf(text, sizeof text, " %#zx", address);
        command += text;
    }
    std::vector<int> numbers;
    for (Line const& each : linesOf(command))
        if (each.place.compare(0, file.size(), file) == 0)
            numbers.push_back(std::atoi(each.place.c_str() + file.size()));
    return numbers;
}

/// Returns the place of `call` in a coroutine. For calls in a statement with a co_await, gcc records the line of the
/// coroutine's closing brace. If the code before and after the call has one line, returns this line; if it has two, the
/// range "file:first-last". Otherwise returns the range of the coroutine, which its first instructions give.
std::string placeInGccCoroutine(std::string const& place, std::string const& tool, std::uintptr_t call,
                                std::uintptr_t function) {
    constexpr std::uintptr_t kHead = 32;    // bytes at the start of the function, which have both lines
    constexpr std::uintptr_t kAround = 256; // bytes before and after the call that are searched for other lines
    char text[32];
    std::string const file = place.substr(0, place.rfind(':') + 1);
    int const brace = std::atoi(place.c_str() + file.size());
    std::vector<int> head = linesIn(file, tool, function, function + kHead);
    if (head.empty())
        return place;
    auto [first, last] = std::minmax_element(head.begin(), head.end());
    if (brace != *last || *first == *last)
        return place;
    std::string const range = file + std::to_string(*first) + "-" + std::to_string(brace);
    std::snprintf(text, sizeof text, " %#zx", call);
    bool isInlined = linesOf(tool + text).size() > 1;
    if (isInlined) // gcc moves code that ends the program away from its statement
        return range;
    auto isInBody = [&, begin = *first](int line) { return line > begin && line < brace; };
    std::vector<int> before = linesIn(file, tool, call - kAround, call);
    std::vector<int> behind = linesIn(file, tool, call, call + kAround);
    auto previous = std::find_if(before.rbegin(), before.rend(), isInBody);
    auto next = std::find_if(behind.begin(), behind.end(), isInBody);
    if (previous == before.rend() || next == behind.end() || *previous > *next)
        return range;
    std::string const found = file + std::to_string(*previous);
    return *previous == *next ? found : found + "-" + std::to_string(*next);
}

} // namespace

bool isOfLibrary(std::string_view file) {
    bool isBesideThis = file.starts_with(kFolder);
    std::string_view name = file.substr(isBesideThis ? kFolder.size() : 0);
    return (isBesideThis && (name.starts_with("flow/") || name.starts_with("net/"))) ||
           file.find("/include/millrace/") != file.npos;
}

ProgramCall findProgramCall(bool wantsPlace) {
    void* returns[64];
    int count = ::backtrace(returns, 64);
    return findProgramCall(returns, count, wantsPlace);
}

ProgramCall findProgramCall(void* const* returns, int count, bool wantsPlace) {
    ProgramCall found;
    std::vector<std::string> commands;
    void const* code = nullptr;
    for (int i = 0; i < count && found.function.empty(); ++i) {
        char text[4200];
        void const* call = static_cast<char const*>(returns[i]) - 1; // the call may be the function's last instruction
        lineCommand(call, text, sizeof text);
        commands.push_back(text);
        symbolName(call, text, sizeof text);
        bool isActor = isOfActor(text);
        bool hasName = !std::string_view(text).starts_with("0x"); // libc and the kernel's code have none
        if (!hasName || (!isActor && !isOfProgram(text)))
            continue;
        if (isActor || gccCoroutineOf(call))
            actorNameAt(call, text, sizeof text);
        found.function = text;
        found.command = commands.back();
        code = call;
    }
    std::size_t tool = found.command.find(' ');
    if (!wantsPlace || tool == found.command.npos) // there is no function, or no command for it
        return found;
    std::string const file = found.command.substr(tool, found.command.rfind(' ') - tool);
    std::string const toolAndFile = kTool + std::string(" -p") + file;
    std::string command = toolAndFile;
    for (std::string const& each : commands)
        if (each.find(file + " ") == tool) // the same file
            command += each.substr(each.rfind(' '));
    std::vector<Line> lines = linesOf(command);
    auto line = std::find_if(lines.begin(), lines.end(), [](Line const& each) {
        return !isOfLibrary(each.place) && each.place.find("/c++/") == each.place.npos &&
               each.place.find('?') == each.place.npos && !each.place.ends_with(":0");
    });
    if (line == lines.end())
        return found;
    found.place = line->place;
    if (void const* function = gccCoroutineOf(code)) {
        char text[4200];
        lineCommand(function, text, sizeof text);
        found.place = placeInGccCoroutine(found.place, toolAndFile, addressOf(found.command), addressOf(text));
        return found;
    }
    bool isInlined = line + 1 != lines.end();
    bool isLambda = line->function.starts_with("operator()"); // the function around the lambda has a better name
    if (isInlined && !isLambda && !isOfActor(line->function))
        found.function = line->function;
    return found;
}

} // namespace flow
