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
#include <string>

namespace flow {

/// Writes a null-terminated name of at most `size - 1` bytes. Never throws; thread-safe.
void symbolName(const void* code, char* out, std::size_t size) noexcept;

/// symbolName() for code of an actor or a coroutine, with the name that it has in its source (flow/diag/actor_name.h).
void actorNameAt(const void* code, char* out, std::size_t size) noexcept;

/// Writes a command that prints the function and the line of the code, "addr2line -Cfie 'FILE' ADDRESS", or the address
/// if it is in no known function. At most `size - 1` bytes.
void lineCommand(const void* code, char* out, std::size_t size) noexcept;

/// The symbol of the function at an address with the linker's name; empty if there is none.
std::string mangledSymbol(const void* code) noexcept;

/// The function or object with a symbol that begins with `mangled`, in the file of the program that holds `code`. If
/// several translation units have a local one, it is that of the unit with the function at `code`. Null if there is
/// none.
const void* addressOfSymbol(const void* code, std::string const& mangled) noexcept;

/// The static member `name` of the class with the member `function` at `code`. Null if there is none.
const void* staticMember(const void* code, const char* function, const char* name) noexcept;

/// The symbol in the form of the source, as symbolName() writes it.
std::string demangled(std::string const& mangled);

} // namespace flow
