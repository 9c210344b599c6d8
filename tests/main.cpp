// The entry point of flow_tests: doctest finds the cases of every file linked in.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "flow/base/error.h"
#include "flow/base/random.h"

#include <cstdlib>

/// An error that nothing caught is printed by name.
REGISTER_EXCEPTION_TRANSLATOR(flow::Error const& error) {
    return error.name();
}

/// ThreadSanitizer calls it. The tests request more memory than there is, to get std::bad_alloc.
extern "C" const char* __tsan_default_options() {
    return "allocator_may_return_null=1";
}

int main(int argc, char** argv) {
    if (!std::getenv("MILLRACE_ERROR_ORIGINS"))
        flow::Error::recordOrigins(false);          // the first origin of a line needs memory, which some tests count
    flow::setThreadLocalDeterministicRandomSeed(1); // otherwise the first RealLoop would draw a seed
    return doctest::Context(argc, argv).run();
}
