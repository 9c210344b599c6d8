#include "greet.h"
#include <cstdio>

int main() {
    flow::RealLoop loop;
    int greeted = loop.run(greet("world", 3));
    std::printf("greeted %d times\n", greeted);
}
