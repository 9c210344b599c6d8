#pragma once
// Code: a function that resumes computations, with its name, its style and the lines of its waits.
//
//     Codes codes;
//     Code const& code = codes.of(frame);            // for any frame of this thread
//     code.name; code.style; codes.placeOf(frame);   // "fetch", Style::Actor, {"fetch.actor.cpp", 12}
//
// Names come from the symbol table, which is read once for each function. An actor that actorc compiled to a state
// machine has a table of the lines at which it waits. Fibers, coroutines and tasks keep the line of their wait. Other
// computations have no line. In a stripped program a name is an address.

#include "flow/core/description.h"
#include "flow/core/frame.h"

#include <optional>
#include <source_location>
#include <string>
#include <unordered_map>
#include <utility>

namespace flow::inspect {
using namespace flow::detail;

enum class Style { Actor, Coroutine, Task, Fiber, Operation, Other };
char const* nameOf(Style style);

/// A line of the source; `line` is 0 if it is unknown.
struct Place {
    std::string file;
    std::uint32_t line = 0;
};

struct Code {
    std::size_t number = 0; // the position in the order of first use
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
    /// Returns the name; for a fiber, the name of this fiber.
    std::string nameOf(Waiter const* frame);
    Place placeOf(Waiter const* frame);
    /// Returns for example "actor fetch at fetch.actor.cpp:12". A number that is not 0 stands behind the name.
    std::string titleOf(Waiter const* frame, std::size_t number = 0);
    /// Returns the number of an actor's suspension, or the line that the frame stores; 0 for other frames.
    std::uint32_t suspensionOf(Waiter const* frame);
    /// Returns the used part of the stack of a waiting fiber; nulls for other frames.
    std::pair<void const*, void const*> stackOf(Waiter const* frame) {
        Code const& code = of(frame);
        return code.stackOfFiber ? code.stackOfFiber(frame) : std::pair<void const*, void const*>();
    }

private:
    /// Returns the line that the frame of a fiber or of a coroutine stores; nothing for other frames.
    std::optional<std::source_location> keptPlaceOf(Waiter const* frame);

    // The key is the code. nondeterminism: no code iterates over this map.
    std::unordered_map<void const*, Code> codes_;
};

} // namespace flow::inspect
