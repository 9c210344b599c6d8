// The main of programs that link millrace::bench.
#include "flow/testing/detail/bench_runner.h"

int main(int argc, char** argv) {
    return flow::benchMain(argc, argv);
}
