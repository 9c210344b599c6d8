#include "greet.h"
#include <cstdio>
using namespace flow;
#include "flow/actorcompiler.h" // must be the last include

ACTOR Future<int> greet(std::string const& name, int const& times) {
    state int i = 0; // lives as long as the actor
    for (; i < times; i++) {
        std::printf("hello %s %d\n", name.c_str(), i + 1);
        wait(delay(0.1));
    }
    return i;
}
