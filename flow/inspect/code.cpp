#include "flow/inspect/detail/code.h"

#include "flow/base/format.h"
#include "flow/diag/detail/symbol.h"
#include "flow/emitted/wait_lines.h"
#include "flow/inspect/detail/frames.h"

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

/// Returns the name of a type without `flow::` and without anonymous namespaces.
std::string shortName(std::string_view type) {
    std::string name(type);
    for (char const* part : {"(anonymous namespace)::", "flow::"})
        for (std::size_t at; (at = name.find(part)) != std::string::npos;)
            name.erase(at, std::string_view(part).size());
    return name;
}

/// Returns the type of the operation to which the symbol belongs; empty if the symbol belongs to none.
std::string_view operationOf(std::string_view symbol) {
    for (std::string_view head :
         {"flow::Operation<", "flow::detail::Kept<", "flow::MemberWait::resume<", "flow::Source<"})
        if (std::size_t at = symbol.find(head); at != std::string_view::npos && at < symbol.find('('))
            return firstArgument(symbol, at + head.size());
    return {};
}

/// Returns the function with the symbol `name`, from the file that holds `code`; null if there is none.
template <class Function>
Function functionNamed(void const* code, char const* name) {
    return reinterpret_cast<Function>(const_cast<void*>(addressOfSymbol(code, name)));
}

/// Returns the last part of a path.
std::string fileOf(std::string_view path) {
    return std::string(path.substr(path.rfind('/') + 1));
}

} // namespace

/// A WaitLines of any length. It is not a template, because the scripts of tools/debug/ find it by its name. lldb finds
/// an instance of a template by its name only for some template arguments.
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

std::string Codes::titleOf(Waiter const* frame) {
    Place place = placeOf(frame);
    std::string title = std::string(inspect::nameOf(styleOf(frame))) + " " + nameOf(frame);
    return place.line != 0 ? title + format(" at %s:%u", place.file.c_str(), place.line) : title;
}

std::source_location const* Codes::keptPlaceOf(Waiter const* frame) {
    Code const& code = of(frame);
    if (code.placeOfFiber)
        return code.placeOfFiber(frame);
#if FLOW_CHECKED
    if (code.style == Style::Coroutine) {
        auto* cell = Cell::of(const_cast<Waiter*>(frame));
        return cell->place ? reinterpret_cast<std::source_location const*>(&cell->place) : nullptr;
    }
#endif
    return nullptr;
}

std::uint32_t Codes::suspensionOf(Waiter const* frame) {
    if (std::source_location const* place = keptPlaceOf(frame))
        return place->line();
    if (of(frame).style != Style::Actor)
        return 0;
    return static_cast<std::uint32_t>(static_cast<actor::NumberedFrame const*>(frame)->entry());
}

Place Codes::placeOf(Waiter const* frame) {
    if (std::source_location const* place = keptPlaceOf(frame)) {
        return {fileOf(place->file_name()), place->line()};
    }
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
