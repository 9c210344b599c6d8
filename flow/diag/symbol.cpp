// From an address to a name. withSymbol() gets the file that holds the address from the dynamic linker, maps it, and
// searches its symbol table, which also has functions with internal linkage. demangle() makes the name in the source
// from the symbol, also for symbols with `requires` clauses, which libstdc++ cannot read before gcc 14. actorName()
// (actor_name.h) then undoes the changes that actorc and the compilers make to the name of an actor.
//
// Nothing is cached. Offsets are checked against the file's size. Without memory or a symbol, the name is the address.

#include "flow/diag/detail/symbol.h"

#include "flow/diag/detail/actor_name.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace flow {
namespace {

/// A file mapped for reading; empty if the file cannot be mapped.
class MappedFile {
public:
    explicit MappedFile(const char* path) {
        int fd = ::open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return;
        struct stat info;
        if (::fstat(fd, &info) == 0 && info.st_size > 0) {
            void* mapped = ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
            if (mapped != MAP_FAILED) {
                data_ = static_cast<const char*>(mapped);
                size_ = static_cast<std::size_t>(info.st_size);
            }
        }
        ::close(fd);
    }
    ~MappedFile() {
        if (data_)
            ::munmap(const_cast<char*>(data_), size_);
    }
    MappedFile(MappedFile const&) = delete;
    MappedFile& operator=(MappedFile const&) = delete;

    /// Returns `count` objects at `offset`; null if the file is too short.
    template <class T>
    const T* at(std::uint64_t offset, std::uint64_t count = 1) const {
        if (offset > size_ || count > (size_ - offset) / sizeof(T))
            return nullptr;
        return reinterpret_cast<const T*>(data_ + offset);
    }

private:
    const char* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Calls visit(symbol, mangled name) for each symbol of the file, until visit() returns false.
template <class Visit>
void forEachSymbol(MappedFile const& file, Visit visit) {
    auto* header = file.at<Elf64_Ehdr>(0);
    if (!header)
        return;
    auto* sections = file.at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
    for (unsigned i = 0; sections && i < header->e_shnum; ++i) {
        if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header->e_shnum)
            continue;
        std::uint64_t count = sections[i].sh_size / sizeof(Elf64_Sym);
        auto* symbols = file.at<Elf64_Sym>(sections[i].sh_offset, count);
        auto const& strings = sections[sections[i].sh_link];
        for (std::uint64_t k = 0; symbols && k < count; ++k) {
            if (symbols[k].st_name >= strings.sh_size)
                continue;
            auto* name = file.at<char>(strings.sh_offset + symbols[k].st_name);
            if (name && !visit(symbols[k], name))
                return;
        }
    }
}

template <class Visit>
void forEachFunction(MappedFile const& file, Visit visit) {
    forEachSymbol(file, [&](Elf64_Sym const& symbol, char const* name) {
        return ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || visit(symbol, name);
    });
}

/// Returns the mangled name of the function that covers `address` (relative to the load base), or "".
std::string findSymbol(MappedFile const& file, std::uint64_t address) {
    std::string found;
    forEachFunction(file, [&](Elf64_Sym const& symbol, char const* name) {
        if (address < symbol.st_value || address >= symbol.st_value + symbol.st_size)
            return true;
        found = name;
        return false;
    });
    return found;
}

/// Returns the demangled name; empty if libstdc++ cannot read it.
std::string readName(std::string const& mangled) {
    int status = 0;
    std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status),
                                                std::free);
    return status == 0 ? text.get() : "";
}

/// Demangles a symbol with `requires` clauses. clang puts a Q before each clause, which libstdc++ before gcc 14 cannot
/// read. Clauses at the end are cut off. If a clause follows the template arguments, the result has no parameter types.
std::string readConstrainedName(std::string const& mangled) {
    for (std::size_t at = mangled.find('Q'); at != mangled.npos; at = mangled.find('Q', at + 1)) {
        // If this Q is a letter of an identifier, readName() cannot read the part before it.
        for (const char* end : {"", "EEvv", "Evv"}) { // the last two add "void " as a result, and "(...)"
            std::string found = readName(mangled.substr(0, at) + end);
            if (found.empty())
                continue;
            found = found.substr(*end && found.starts_with("void ") ? 5 : 0);
            return *end ? found.substr(0, found.rfind('(')) : found;
        }
    }
    return "";
}

/// Returns the position behind the name of a concept that begins at `at`; npos if there is none. Examples of names:
/// "8Sendable", "NS_8SendableE", "St14convertible_to".
std::size_t endOfConcept(std::string_view mangled, std::size_t at) {
    bool isNested = at < mangled.size() && mangled[at] == 'N';
    at += isNested;
    while (at < mangled.size() && mangled[at] != 'E') {
        std::size_t digits = std::min(mangled.find_first_not_of("0123456789", at), mangled.size());
        if (digits != at) {
            std::size_t size = mangled.size(); // if the number is too large
            std::from_chars(mangled.data() + at, mangled.data() + digits, size);
            at = digits + size;
            if (!isNested)
                return at <= mangled.size() ? at : mangled.npos;
        } else if (mangled.substr(at).starts_with("St")) {
            at += 2;
        } else if (mangled[at] == 'S') { // a name that has occurred before: S_, S0_, S1_, ...
            at = std::min(mangled.find('_', at), mangled.size() - 1) + 1;
        } else {
            break;
        }
    }
    return isNested && at < mangled.size() && mangled[at] == 'E' ? at + 1 : mangled.npos;
}

/// Removes what clang writes of `auto` parameters of templates, and of concepts before parameters. libstdc++ before
/// gcc 14 cannot read these parts.
std::string withoutKinds(std::string mangled) {
    constexpr std::string_view kAuto = "TnDa", kConcept = "Tk", kPackOfConcept = "TpTk";
    for (std::size_t at; (at = mangled.find(kAuto)) != mangled.npos;)
        mangled.erase(at, kAuto.size());
    for (std::size_t at = 0; (at = mangled.find(kConcept, at)) != mangled.npos;) {
        std::size_t end = endOfConcept(mangled, at + kConcept.size());
        if (end == mangled.npos) {
            at += kConcept.size();
            continue;
        }
        if (at >= 2 && std::string_view(mangled).substr(at - 2).starts_with(kPackOfConcept))
            at -= 2;
        mangled.erase(at, end - at);
    }
    return mangled;
}

std::string demangle(std::string const& mangled) {
    // Cuts off the suffix of a coroutine's part, such as ".resume", after demangling: gcc's names have dots inside too.
    std::string result = readName(mangled);
    if (result.empty())
        result = readName(withoutKinds(mangled));
    if (result.empty())
        result = readConstrainedName(withoutKinds(mangled));
    if (result.empty())
        return mangled.substr(0, mangled.find('.'));
    result.resize(std::min(result.find(" requires "), result.size())); // the libstdc++ of gcc 14 reads the clauses
    return result.substr(0, result.find(" [clone"));
}

bool hasFunction(MappedFile const& file, std::string const& name) {
    std::string mangled = std::to_string(name.size()) + name; // the form of the name inside a symbol
    bool found = false;
    forEachFunction(file, [&](Elf64_Sym const&, char const* symbol) {
        if (std::strstr(symbol, mangled.c_str()))
            found = isFunctionNamed(demangle(symbol), name);
        return !found;
    });
    return found;
}

/// Calls `use(file, load base, mangled symbol)` for the file of the function at `code`, if it has a symbol.
template <class Use>
void withSymbol(const void* code, Use use) noexcept {
    Dl_info info;
    link_map* object = nullptr;
    if (!::dladdr1(code, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) || !info.dli_fname)
        return;
    try {
        // For the program itself, dli_fname is argv[0], which is not always a path.
        bool isProgram = object && object->l_name[0] == '\0';
        MappedFile file(isProgram ? "/proc/self/exe" : info.dli_fname);
        auto* header = file.at<Elf64_Ehdr>(0);
        auto base = header && header->e_type == ET_DYN ? reinterpret_cast<std::uintptr_t>(info.dli_fbase) : 0;
        std::string symbol = findSymbol(file, reinterpret_cast<std::uintptr_t>(code) - base);
        if (!symbol.empty())
            use(file, base, symbol);
    } catch (...) { // out of memory: the address is the name
    }
}

/// Writes the result of `name(file, demangled symbol)`, or the address if there is no symbol.
template <class Name>
void write(const void* code, char* out, std::size_t size, Name name) noexcept {
    std::snprintf(out, size, "%p", code);
    withSymbol(code, [&](MappedFile const& file, std::uintptr_t, std::string const& symbol) {
        std::snprintf(out, size, "%s", name(file, demangle(symbol)).c_str());
    });
}

} // namespace

void symbolName(const void* code, char* out, std::size_t size) noexcept {
    write(code, out, size, [](MappedFile const&, std::string const& symbol) { return symbol; });
}

void actorNameAt(const void* code, char* out, std::size_t size) noexcept {
    write(code, out, size, [](MappedFile const& file, std::string const& symbol) {
        return actorName(symbol, [&](std::string const& name) { return hasFunction(file, name); });
    });
}

void lineCommand(const void* code, char* out, std::size_t size) noexcept {
    std::snprintf(out, size, "%p", code);
    withSymbol(code, [&](MappedFile const&, std::uintptr_t base, std::string const&) {
        char path[4096];
        ssize_t length = ::readlink("/proc/self/exe", path, sizeof path - 1);
        path[std::max<ssize_t>(length, 0)] = '\0';
        Dl_info info;
        link_map* object = nullptr;
        bool isProgram = !::dladdr1(code, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) || !object ||
                         object->l_name[0] == '\0';
        char const* file = isProgram ? path : info.dli_fname;
        if (!std::strchr(file, '\'')) // a shell could not read such a quoted name
            std::snprintf(out, size, "addr2line -Cfie '%s' %#zx", file, reinterpret_cast<std::uintptr_t>(code) - base);
    });
}

std::string mangledSymbol(const void* code) noexcept {
    std::string found;
    withSymbol(code, [&](MappedFile const&, std::uintptr_t, std::string const& symbol) { found = symbol; });
    return found;
}

const void* addressOfSymbol(const void* code, std::string const& mangled) noexcept {
    const void* found = nullptr;
    withSymbol(code, [&](MappedFile const& file, std::uintptr_t base, std::string const&) {
        // In the table, local symbols come after the STT_FILE symbol of their translation unit.
        std::uintptr_t address = reinterpret_cast<std::uintptr_t>(code) - base;
        std::uintptr_t ofFile = 0;
        bool isFileOfCode = false;
        forEachSymbol(file, [&](Elf64_Sym const& symbol, char const* name) {
            int type = ELF64_ST_TYPE(symbol.st_info);
            if (type == STT_FILE) {
                if (isFileOfCode && ofFile != 0)
                    return false;
                isFileOfCode = false;
                ofFile = 0;
            }
            if (type == STT_FUNC && address - symbol.st_value < symbol.st_size)
                isFileOfCode = true;
            bool isUsed = symbol.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_OBJECT);
            if (isUsed && std::strncmp(name, mangled.c_str(), mangled.size()) == 0) {
                ofFile = symbol.st_value;
                found = reinterpret_cast<const void*>(base + symbol.st_value);
            }
            return !(isFileOfCode && ofFile != 0);
        });
    });
    return found;
}

const void* staticMember(const void* code, const char* function, const char* name) noexcept {
    try {
        std::string symbol = mangledSymbol(code);
        std::size_t at = symbol.rfind(std::to_string(std::strlen(function)) + function);
        if (at == std::string::npos)
            return nullptr;
        return addressOfSymbol(code, symbol.substr(0, at) + std::to_string(std::strlen(name)) + name + "E");
    } catch (...) {
        return nullptr;
    }
}

std::string demangled(std::string const& mangled) {
    return demangle(mangled);
}

} // namespace flow
