// The main of programs that link millrace::test_main.
#include "flow/testing/detail/runner.h"

int main(int argc, char** argv) {
    return flow::testMain(argc, argv);
}
