#pragma once
// Code: describes a function that resumes computations: its name, its style and the lines of its waits.
//
//     Codes codes;
//     Code const& code = codes.of(frame);            // for any frame of this thread
//     code.name; code.style; codes.placeOf(frame);   // "fetch", Style::Actor, {"fetch.actor.cpp", 12}
//
// Names come from the symbol table, which is read once for each function. An actor that actorc compiled to a state
// machine has a table of the lines at which it waits. A fiber keeps the line of its wait, and so do coroutines and
// tasks in checked builds. Other computations have no line. In a stripped program a name is an address.

#include "flow/core/description.h"
#include "flow/core/frame.h"

#include <source_location>
#include <string>
#include <unordered_map>
#include <utility>

namespace flow::inspect {
using namespace flow::detail;

enum class Style { Actor, Coroutine, Task, Fiber, Operation, Other };
char const* nameOf(Style style);

/// A line of the source; `line` is 0 if the line is unknown.
struct Place {
    std::string file;
    std::uint32_t line = 0;
};

struct Code {
    std::size_t number = 0; // the position in the order of the first look-ups
    Style style = Style::Other;
    std::string name;
    void const* waits = nullptr; // the flow::actor::WaitLines of an actor
    Describe describe = nullptr; // the function of an operation that describes itself
    // These functions are null unless the code resumes a fiber:
    char const* (*nameOfFiber)(Waiter const* frame) = nullptr;
    std::source_location const* (*placeOfFiber)(Waiter const* frame) = nullptr;
    std::pair<void const*, void const*> (*stackOfFiber)(Waiter const* frame) = nullptr;
};

class Codes {
public:
    Code const& of(void const* code);
    Code const& of(Waiter const* frame) { return of(reinterpret_cast<void const*>(frame->resume)); }
    /// Returns the style. Tasks and forks have blocks of kForeignClass, unlike coroutines that return a Future.
    Style styleOf(Waiter const* frame);
    /// Returns the name. Each fiber has a name of its own.
    std::string nameOf(Waiter const* frame);
    /// Returns the line at which `frame` waits.
    Place placeOf(Waiter const* frame);
    /// Returns style, name and place in one line.
    std::string titleOf(Waiter const* frame);
    /// Returns the number of an actor's suspension, or the line that the frame stores; 0 for all others.
    std::uint32_t suspensionOf(Waiter const* frame);
    /// Returns the used part of the stack of a fiber that waits; nulls for a running fiber and for all other frames.
    std::pair<void const*, void const*> stackOf(Waiter const* frame) {
        Code const& code = of(frame);
        return code.stackOfFiber ? code.stackOfFiber(frame) : std::pair<void const*, void const*>();
    }

private:
    /// Returns the line that the frame of a fiber, and in checked builds of a coroutine, stores; null for all others.
    std::source_location const* keptPlaceOf(Waiter const* frame);

    // The key is the code. nondeterminism: it is never iterated over.
    std::unordered_map<void const*, Code> codes_;
};

} // namespace flow::inspect
