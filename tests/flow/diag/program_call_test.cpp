#include "flow/diag/detail/program_call.h"

#include <doctest/doctest.h>
#include <functional>
#include <string>

// The line is shown in tests/flow/core/caller_test.cpp and tests/install/test_misuse.py.

[[gnu::noinline]] flow::ProgramCall findsItself() {
    flow::ProgramCall found = flow::findProgramCall(false);
    CHECK(found.place.empty());
    return found;
}

namespace flow {
[[gnu::noinline]] static ProgramCall findsItsCaller() {
    ProgramCall found = findProgramCall(false);
    CHECK(found.place.empty());
    return found;
}
} // namespace flow

[[gnu::noinline]] flow::ProgramCall callsLibraries() {
    std::function<flow::ProgramCall()> call = &flow::findsItsCaller;
    flow::ProgramCall found = call();
    CHECK(found.place.empty());
    return found;
}

TEST_CASE("program call: the innermost function that is neither of the library nor of C++") {
    CHECK(findsItself().function == "findsItself()");
    CHECK(callsLibraries().function == "callsLibraries()");
    CHECK(findsItself().command.starts_with("addr2line -Cfie '/"));
}

TEST_CASE("program call: which files are the library's") {
    std::string here = __FILE__;
    std::string root = here.substr(0, here.rfind("tests/flow/"));
    CHECK(flow::isOfLibrary(root + "flow/combine/all.h"));
    CHECK(flow::isOfLibrary(root + "net/connection.cpp"));
    CHECK(flow::isOfLibrary("/usr/include/millrace/flow/combine/all.h"));
    CHECK(!flow::isOfLibrary(here));
    CHECK(!flow::isOfLibrary("/home/me/flow/combine/all.h"));
}
