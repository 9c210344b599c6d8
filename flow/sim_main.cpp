// The main of programs that link millrace::sim_main.
#include "flow/sim/simulation.h"

int main(int argc, char** argv) {
    return flow::simulationMain(argc, argv);
}
