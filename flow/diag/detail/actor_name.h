#pragma once
// actorName(): the name that an actor has in its source, found from the symbol of the function that resumes the actor.
//
//     actorName("flow::actor::Actor<int, MyClass::FetchActorState, ...>::resumeActor(flow::Waiter*)", ...)
//         == "MyClass::fetch"
//     actorName("flow::Future<int> (anonymous namespace)::map<int>(int) [clone .resume]", ...) == "map"
//
// The function is for messages about actors. It undoes the changes of actorc and the compilers to a name, and leaves
// out the types of parameters and the arguments of templates. Any other symbol keeps its name.

#include <functional>
#include <string>

namespace flow {

/// Returns the name. hasFunction(name) says whether the program has a function of that name, in any scope. The answer
/// decides between two actors `fetch` and `Fetch`, since both have a class that begins with "Fetch".
std::string actorName(std::string const& symbol, std::function<bool(std::string const&)> const& hasFunction);

/// True if `symbol` is a function with the name `name`, in any scope, and no constructor.
bool isFunctionNamed(std::string const& symbol, std::string const& name);

} // namespace flow
