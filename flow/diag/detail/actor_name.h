#pragma once
// actorName(): the name of an actor in its source, from the symbol of the function that resumes the actor.
//
//     actorName("flow::actor::Actor<int, MyClass::FetchActorState, ...>::resumeActor(flow::Waiter*)", ...)
//         == "MyClass::fetch"
//     actorName("flow::Future<int> (anonymous namespace)::map<int>(int) [clone .resume]", ...) == "map"
//
// For messages about actors. Undoes the changes of actorc and the compilers, and leaves out the types of parameters and
// template arguments. Other symbols keep their name.

#include <functional>
#include <string>

namespace flow {

/// Returns the name. hasFunction(name) returns true if the program has a function `name` in any scope. It decides
/// between actors `fetch` and `Fetch`: both have a class that begins with "Fetch".
std::string actorName(std::string const& symbol, std::function<bool(std::string const&)> const& hasFunction);

/// Returns true if `symbol` is a function named `name`, in any scope, and no constructor.
bool isFunctionNamed(std::string const& symbol, std::string const& name);

} // namespace flow
