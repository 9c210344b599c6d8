#pragma once
// The name of the function at an address, read from the symbol table of the running program.
//
//     char name[128];
//     symbolName(code, name, sizeof name);                                             // "MyClass::find(Key)"
//     actorNameAt(reinterpret_cast<void*>(frame->resume), name, sizeof name);          // "MyClass::fetch"
//
// Reads the ELF file, so that functions with internal linkage have names as well; meant for messages, not for fast
// paths (it reads the file at each call). A stripped program gives the address in hexadecimal.

#include <cstddef>

namespace flow {

/// Writes a null-terminated name of at most `size - 1` bytes. Never throws; thread-safe.
void symbolName(const void* code, char* out, std::size_t size) noexcept;

/// The same for code of an actor or a coroutine, with the name that it has in its source (flow/diag/actor_name.h).
void actorNameAt(const void* code, char* out, std::size_t size) noexcept;

} // namespace flow
