#include "flow/diag/machine_stack.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <unistd.h>

namespace flow {
namespace {

constexpr int kMostCalls = 100;

/// Returns the path of an object's file. For the program, l_name is empty: its path is the target of /proc/self/exe.
std::string fileOf(link_map const& object) {
    if (object.l_name[0] != '\0')
        return object.l_name;
    char path[PATH_MAX];
    ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
    return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : "/proc/self/exe";
}

} // namespace

[[gnu::noinline]] std::string machineStack() {
    void* returns[kMostCalls];
    int count = ::backtrace(returns, kMostCalls);
    void** end = returns + count;
    void** caller = std::find(returns, end, __builtin_return_address(0)); // a sanitizer adds calls in front of it
    return machineStack(caller, static_cast<std::size_t>(end - caller));
}

std::string machineStack(void* const* returns, std::size_t count) {
    std::string command;
    link_map const* first = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
        if (!returns[i]) // some unwinders put a null pointer at the end of the stack
            continue;
        char const* call = static_cast<char const*>(returns[i]) - 1; // the return address may be in the next function
        Dl_info info;
        link_map* object = nullptr;
        if (!::dladdr1(call, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) || !object)
            continue;
        if (!first) {
            first = object;
            command = "addr2line -e " + fileOf(*object) + " -p -C -f -i";
        }
        if (object != first)
            continue;
        char address[32];
        std::snprintf(address, sizeof address, " %#zx", reinterpret_cast<std::uintptr_t>(call) - object->l_addr);
        command += address;
    }
    return command;
}

} // namespace flow
