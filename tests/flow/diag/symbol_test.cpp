#include "flow/diag/detail/symbol.h"

#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>

namespace {

[[gnu::noinline]] int aFunctionWithInternalLinkage(int number) {
    asm volatile("" : "+r"(number));
    return number + 1;
}

std::string nameOf(const void* code) {
    char name[256];
    flow::symbolName(code, name, sizeof name);
    return name;
}

template <class Function>
const void* codeOf(Function* function) {
    return reinterpret_cast<const void*>(function);
}

} // namespace

namespace symbols_test {

[[gnu::noinline]] void external(std::string const& text) {
    asm volatile("" : : "r"(&text));
}

} // namespace symbols_test

TEST_CASE("symbol: functions with internal and external linkage have names") {
    CHECK(nameOf(codeOf(&aFunctionWithInternalLinkage)).find("aFunctionWithInternalLinkage(int)") != std::string::npos);
    CHECK(nameOf(codeOf(&symbols_test::external)).find("symbols_test::external(") == 0);
}

TEST_CASE("symbol: an address inside a function names it") {
    auto* inside = static_cast<const char*>(codeOf(&aFunctionWithInternalLinkage)) + 1;
    CHECK(nameOf(inside).find("aFunctionWithInternalLinkage") != std::string::npos);
}

TEST_CASE("symbol: the command for its line is right about the place of the code") {
    char command[4200];
    flow::lineCommand(codeOf(&aFunctionWithInternalLinkage), command, sizeof command);
    REQUIRE(std::string_view(command).starts_with("addr2line -Cfie '/"));
    FILE* output = ::popen(command, "r");
    REQUIRE(output);
    char said[512] = "";
    CHECK(std::fgets(said, sizeof said, output));
    ::pclose(output);
    CHECK(std::string(said).find("aFunctionWithInternalLinkage") != std::string::npos);
}

TEST_CASE("symbol: of a function with constraints") {
    CHECK(flow::demangled("_ZN4flow7ErrorOrIiEC2ENS_5ErrorEQntsr3stdE7same_asIT_S2_E")
              .starts_with("flow::ErrorOr<int>::ErrorOr(flow::Error)"));
    std::string found = flow::demangled("_ZN1W6QueuesIiLi1EQgtstT_Li1EEEiS1_");
    CHECK_MESSAGE(found.find("W::Queues<int, 1>") != found.npos, found); // gcc 14 names the result, too
    CHECK_MESSAGE(found.find("requires") == found.npos, found);
    found = flow::demangled("_Z6QueuesIiQgtstT_Li1EEiS0_");
    CHECK_MESSAGE(found.find("Queues<int>") != found.npos, found);
    CHECK_MESSAGE(found.find("requires") == found.npos, found);
    CHECK(flow::demangled("_Z6QueuesQ") == "Queues");
    CHECK(flow::demangled("_Z99QueuesQ") == "_Z99QueuesQ");
}

TEST_CASE("symbol: of a function of a template with auto parameters") {
    std::string found = flow::demangled("_Z4callITnDaXadL_Z3onevEETnDaXadL_Z3twovEEEvv");
    CHECK_MESSAGE(found.starts_with("void call<"), found);
    CHECK_MESSAGE(found.find("one") != found.npos, found);
}

TEST_CASE("symbol: of a function of a template with concepts before its parameters") {
    std::string found = flow::demangled(
        "_ZN4flow5retryITkNS_12CanBeAwaitedEZ4mainE3$_0Qsr3stdE14is_invocable_vIRT_EEENS_6FutureINS_6detail9OperandOf"
        "INSt12remove_cvrefIS2_E4typeEE5ValueEEENS_11RetryPolicyES2_NS_9PropagateENS_12ExplicitVoidESt15source_"
        "location");
    CHECK_MESSAGE(found.find("flow::retry<") != found.npos, found);
    found = flow::demangled("_ZN4flow3allITpTkNS_12CanBeAwaitedEJNS_6FutureIiEES2_EQnesZT_Li0EEEvDpS3_");
    CHECK_MESSAGE(found.find("flow::all<flow::Future<int>, flow::Future<int>") != found.npos, found);
    found = flow::demangled("_Z4callITk8SendableiEvT_");
    CHECK_MESSAGE(found.find("void call<int>(int)") == 0, found);
    CHECK(flow::demangled("_Z4callITk99SendableiEvT_") == "_Z4callITk99SendableiEvT_");
    CHECK(flow::demangled("_Z4callITkNS_8SendablX") == "_Z4callITkNS_8SendablX");
    CHECK(flow::demangled("_Z4callITkN") == "_Z4callITkN");
    CHECK(flow::demangled("_Z4callITk") == "_Z4callITk");
}

TEST_CASE("symbol: what is no function gives the address") {
    int local = 0;
    for (const void* address : {static_cast<const void*>(nullptr), static_cast<const void*>(&local)}) {
        char expected[32];
        std::snprintf(expected, sizeof expected, "%p", address);
        CHECK(nameOf(address) == expected);
    }
}

TEST_CASE("symbol: never writes more than it may") {
    char name[8];
    std::memset(name, '#', sizeof name);
    flow::symbolName(codeOf(&symbols_test::external), name, 6);
    CHECK(std::string(name) == "symbo");
    CHECK(name[6] == '#');
    flow::symbolName(codeOf(&symbols_test::external), name, 1);
    CHECK(name[0] == '\0');
    CHECK(name[1] == 'y');
    flow::symbolName(codeOf(&symbols_test::external), nullptr, 0);
}

// Run by the next test only.
TEST_CASE("symbol: print own name" * doctest::skip()) {
    std::fprintf(stderr, "%s\n", nameOf(codeOf(&aFunctionWithInternalLinkage)).c_str());
}

TEST_CASE("symbol: names are found whatever the program was called, and from any directory") {
    flow::test::Death child = flow::test::runInChild([] {
        char path[4096];
        ssize_t length = ::readlink("/proc/self/exe", path, sizeof path - 1);
        path[length < 0 ? 0 : length] = '\0';
        if (::chdir("/") != 0)
            return;
        ::execl(path, "flow_tests_by_another_name", "--no-skip", "--test-case=symbol: print own name",
                static_cast<char*>(nullptr));
    });
    INFO(child.text);
    CHECK(child.says("aFunctionWithInternalLinkage"));
}
