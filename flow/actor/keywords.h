// The keywords of actors, for tools that read an .actor.cpp without actorc: editors and analysers. This file has no
// include guard on purpose: flow/actorcompiler.h includes it last, and flow/unactorcompiler.h undefines the keywords.
//
// actorc defines POST_ACTOR_COMPILER in the code that it emits: there the macros are THIS and THIS_ADDR, the address of
// the running actor, as a pointer and as an integer. Editors see the keywords as macros of C++: a wait is a function
// that gives the value, a choose is an endless loop, and a when is a loop that never runs. A struct behind DESCR has no
// fields for the editor. The build defines NO_INTELLISENSE, which leaves most of these macros out.

#undef THIS
#undef THIS_ADDR

#ifdef POST_ACTOR_COMPILER

#define THIS this__
#define THIS_ADDR reinterpret_cast<std::uintptr_t>(THIS)

#else

#define THIS nullptr
#define THIS_ADDR std::uintptr_t(0)
#undef loop
#define loop while (true)

#ifndef NO_INTELLISENSE

#ifdef __clang__
// actorc reports unused names, missing values (a state always has one) and missing returns, so clang need not.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused"
#pragma clang diagnostic ignored "-Wunused-parameter"
#pragma clang diagnostic ignored "-Wuninitialized"
#pragma clang diagnostic ignored "-Wreturn-type"
#endif

#define ACTOR
#define SWIFT_ACTOR
#define UNCANCELLABLE
#define flow_allow_discard maybe_unused
#define DESCR ::flow::UnknownDescriptor descriptor__(void*);
#define state
#define choose while (true)
#define when(...) for (__VA_ARGS__; false;)

#endif
#endif
