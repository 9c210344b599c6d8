#include "flow/diag/machine_stack.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <execinfo.h>
#include <filesystem>
#include <string>

namespace {

[[gnu::noinline]] std::string stackOfInner() {
    std::string stack = flow::machineStack();
    asm volatile("" : : "r"(&stack));
    return stack;
}
[[gnu::noinline]] std::string stackOfOuter() {
    std::string stack = stackOfInner();
    asm volatile("" : : "r"(&stack));
    return stack;
}

std::string outputOf(std::string const& command) {
    std::string output;
    std::FILE* pipe = ::popen(command.c_str(), "r");
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;)
        output += static_cast<char>(c);
    ::pclose(pipe);
    return output;
}

} // namespace

TEST_CASE("machine_stack: a command for the calls in the program, the innermost first") {
    std::string command = stackOfOuter();
    std::string begin = "addr2line -e " + std::filesystem::read_symlink("/proc/self/exe").string() + " -p -C -f -i 0x";
    REQUIRE(command.substr(0, begin.size()) == begin);
    if (std::system("command -v addr2line >/dev/null") != 0)
        return;
    std::string calls = outputOf(command);
    std::size_t inner = calls.find("stackOfInner"), outer = calls.find("stackOfOuter");
    INFO(calls);
    CHECK(calls.find("machineStack") == std::string::npos);
    CHECK(inner < outer);
    CHECK(outer < calls.find("\nmain"));
}

TEST_CASE("machine_stack: addresses of others") {
    CHECK(flow::machineStack(nullptr, 0).empty());
    void* nowhere = nullptr;
    CHECK(flow::machineStack(&nowhere, 1).empty());
    void* returns[2];
    REQUIRE(::backtrace(returns, 2) == 2);
    std::string one = flow::machineStack(returns, 1), two = flow::machineStack(returns, 2);
    CHECK(two.size() > one.size());
    CHECK(two.starts_with(one));
}
