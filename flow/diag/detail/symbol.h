#pragma once
// The name of the function at an address, read from the symbol table of the running program.
//
//     char name[128];
//     symbolName(code, name, sizeof name);                                             // "MyClass::find(Key)"
//     actorNameAt(reinterpret_cast<void*>(frame->resume), name, sizeof name);          // "MyClass::fetch"
//
// Each call reads the ELF file: use it for messages, not on fast paths. Functions with internal linkage have names too.
// For a stripped program the name is the address in hexadecimal.

#include <cstddef>
#include <string>

namespace flow {

/// Writes the name of the function at `code`, null-terminated, in at most `size` bytes. Never throws; thread-safe.
void symbolName(const void* code, char* out, std::size_t size) noexcept;

/// Like symbolName(), but writes the name of the actor or coroutine in its source (actor_name.h).
void actorNameAt(const void* code, char* out, std::size_t size) noexcept;

/// Writes a command that prints the function and the line of the code, "addr2line -Cfie 'FILE' ADDRESS", or the address
/// if the code is in no known function. Writes at most `size` bytes, with the null.
void lineCommand(const void* code, char* out, std::size_t size) noexcept;

/// Returns the linker's name of the function at `code`; empty if there is none.
std::string mangledSymbol(const void* code) noexcept;

/// Returns the function or object with a symbol that begins with `mangled`, in the file that holds `code`; null if
/// there is none. Of several local symbols, returns the one in the translation unit of the function at `code`.
const void* addressOfSymbol(const void* code, std::string const& mangled) noexcept;

/// Returns the static member `name` of the class of the member function at `code`; null if there is none. `function` is
/// the name of that member function.
const void* staticMember(const void* code, const char* function, const char* name) noexcept;

/// Returns the name of the symbol `mangled` in the source, as symbolName() writes it.
std::string demangled(std::string const& mangled);

} // namespace flow
