#include "flow/inspect/detail/code.h"

#include "flow/base/format.h"
#include "flow/core/detail/wait_place.h"
#include "flow/diag/detail/symbol.h"
#include "flow/emitted/wait_lines.h"
#include "flow/inspect/detail/frames.h"

#include <bit>
#include <link.h>
#include <string_view>

namespace flow::inspect {
namespace {

/// Returns the first template argument in `symbol`. `from` is the position after the `<`.
std::string_view firstArgument(std::string_view symbol, std::size_t from) {
    int depth = 0;
    for (std::size_t i = from; i < symbol.size(); ++i) {
        char c = symbol[i];
        if (depth == 0 && (c == ',' || c == '>'))
            return symbol.substr(from, i - from);
        depth += c == '<' || c == '(' || c == '{' ? 1 : c == '>' || c == ')' || c == '}' ? -1 : 0;
    }
    return {};
}

/// Returns the name of a type without `flow::` and anonymous namespaces.
std::string shortName(std::string_view type) {
    std::string name(type);
    for (char const* part : {"(anonymous namespace)::", "flow::"})
        for (std::size_t at; (at = name.find(part)) != std::string::npos;)
            name.erase(at, std::string_view(part).size());
    return name;
}

/// Returns the type of the operation with this symbol; empty if there is none.
std::string_view operationOf(std::string_view symbol) {
    for (std::string_view head :
         {"flow::Operation<", "flow::detail::Kept<", "flow::MemberWait::resume<", "flow::Source<"})
        if (std::size_t at = symbol.find(head); at != std::string_view::npos && at < symbol.find('('))
            return firstArgument(symbol, at + head.size());
    return {};
}

/// Returns the function `name` in the file that holds `code`; null if there is none.
template <class Function>
Function functionNamed(void const* code, char const* name) {
    return reinterpret_cast<Function>(const_cast<void*>(addressOfSymbol(code, name)));
}

/// Returns the last part of a path.
std::string fileOf(std::string_view path) {
    return std::string(path.substr(path.rfind('/') + 1));
}

/// Returns true if the bytes are in a loaded part of the program's files.
bool isLoaded(std::uintptr_t address, std::size_t bytes) {
    std::pair wanted(address, bytes);
    auto contains = [](dl_phdr_info* info, std::size_t, void* out) {
        auto [from, size] = *static_cast<decltype(wanted)*>(out);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
            auto const& part = info->dlpi_phdr[i];
            std::uintptr_t offset = from - (info->dlpi_addr + part.p_vaddr);
            if (part.p_type == PT_LOAD && offset < part.p_memsz && size <= part.p_memsz - offset)
                return 1;
        }
        return 0;
    };
    return ::dl_iterate_phdr(contains, &wanted) != 0;
}

/// Returns true if the data of a std::source_location can be at the address: two texts, then two numbers. If the cell
/// holds an error instead of a place, the address is not loaded, or the data there refers to no texts.
__attribute__((no_sanitize("address"))) bool isPlace(std::uintptr_t address) {
    auto* texts = reinterpret_cast<std::uintptr_t const*>(address);
    return address % alignof(void*) == 0 && isLoaded(address, 3 * sizeof(void*)) && isLoaded(texts[0], 1) &&
           isLoaded(texts[1], 1);
}

} // namespace

/// A WaitLines of any length. Not a template: debuggers find it by name, and lldb does not find all templates by name.
struct WaitTable : actor::WaitLines<1> {};

char const* nameOf(Style style) {
    switch (style) {
    case Style::Actor:
        return "actor";
    case Style::Coroutine:
        return "coroutine";
    case Style::Task:
        return "task";
    case Style::Fiber:
        return "fiber";
    case Style::Operation:
        return "operation";
    case Style::Other:
        break;
    }
    return "computation";
}

Code const& Codes::of(void const* code) {
    auto [place, isNew] = codes_.try_emplace(code);
    Code& found = place->second;
    if (!isNew)
        return found;
    found.number = codes_.size();
    std::string symbol = demangled(mangledSymbol(code));
    char name[256];
    actorNameAt(code, name, sizeof name);
    found.name = name;
    if (symbol.starts_with("flow::actor::Actor<")) {
        found.style = Style::Actor;
        found.waits = staticMember(code, "resumeActor", "kWaits");
    } else if (symbol.find("flow::fiber::detail::resumeFiber<") != std::string::npos) {
        found.style = Style::Fiber;
        found.nameOfFiber = functionNamed<decltype(found.nameOfFiber)>(code, "flowNameOfFiber");
        found.placeOfFiber = functionNamed<decltype(found.placeOfFiber)>(code, "flowPlaceOfFiber");
        found.stackOfFiber = functionNamed<decltype(found.stackOfFiber)>(code, "flowStackOfFiber");
    } else if (std::string_view operation = operationOf(symbol); !operation.empty()) {
        found.style = Style::Operation;
        found.name = shortName(operation);
        char const* function = symbol.find("::takeTurn(") != std::string::npos ? "takeTurn" : "resumed";
        found.describe = reinterpret_cast<Describe>(const_cast<void*>(staticMember(code, function, "describeOp")));
    } else if (std::size_t end = found.name.rfind("::");
               symbol.find("::resume") != std::string::npos && found.name.compare(end, 8, "::resume") == 0) {
        found.name.resize(end); // a frame of the library, named by its type
    } else {
        found.style = Style::Coroutine;
    }
    return found;
}

std::string Codes::nameOf(Waiter const* frame) {
    Code const& code = of(frame);
    return code.nameOfFiber ? std::string("\"") + code.nameOfFiber(frame) + "\"" : code.name;
}

Style Codes::styleOf(Waiter const* frame) {
    Style style = of(frame).style;
    return style == Style::Coroutine && isTask(frame) ? Style::Task : style;
}

std::string Codes::titleOf(Waiter const* frame, std::size_t number) {
    Place place = placeOf(frame);
    std::string title = std::string(inspect::nameOf(styleOf(frame))) + " " + nameOf(frame);
    title += number != 0 ? format("#%zu", number) : "";
    return place.line != 0 ? title + format(" at %s:%u", place.file.c_str(), place.line) : title;
}

std::optional<std::source_location> Codes::keptPlaceOf(Waiter const* frame) {
    Code const& code = of(frame);
    if (code.placeOfFiber) {
        std::source_location const* place = code.placeOfFiber(frame);
        return place ? std::optional(*place) : std::nullopt;
    }
    if (code.style != Style::Coroutine)
        return std::nullopt;
    std::uintptr_t place = addressOfPlace(frame);
    return isPlace(place) ? std::optional(std::bit_cast<std::source_location>(place)) : std::nullopt;
}

std::uint32_t Codes::suspensionOf(Waiter const* frame) {
    if (auto place = keptPlaceOf(frame))
        return place->line();
    if (of(frame).style != Style::Actor)
        return 0;
    return static_cast<std::uint32_t>(static_cast<actor::NumberedFrame const*>(frame)->entry());
}

Place Codes::placeOf(Waiter const* frame) {
    if (auto place = keptPlaceOf(frame))
        return {fileOf(place->file_name()), place->line()};
    Code const& code = of(frame);
    if (!code.waits)
        return {};
    auto* waits = static_cast<WaitTable const*>(code.waits);
    std::uint32_t suspension = suspensionOf(frame);
    if (suspension >= waits->count)
        return {};
    return {fileOf(waits->file), waits->lines[suspension]};
}

} // namespace flow::inspect
