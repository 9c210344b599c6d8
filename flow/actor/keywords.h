// The keywords of actors, for everything that reads an .actor.cpp before actorc has: editors, clangd, static analysis.
// No include guard on purpose: flow/actorcompiler.h includes it last in each file.
//
// actorc defines POST_ACTOR_COMPILER in what it emits, and nothing is defined there. In the source itself the keywords
// become macros under which the file parses as C++: a wait is a function that gives the value, a choose an if, a when a
// loop that never runs. What DESCR describes has, for the editor, no fields.

#ifndef POST_ACTOR_COMPILER

#define ACTOR
#define SWIFT_ACTOR
#define UNCANCELLABLE
#define DESCR ::flow::UnknownDescriptor descriptor__(void*);
#define state
#define loop while (true)
#define choose if (true)
#define when(...) for (__VA_ARGS__; false;)

#endif
