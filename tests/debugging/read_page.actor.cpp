// For flow/docs/debugging.md: an error that nothing catches, raised where the page is read.
#include "flow/flow.h"
#include "flow/loop/real_loop.h"

#include "flow/actorcompiler.h" // must be last

using namespace flow;

ACTOR Future<int> readPage(int number) {
    wait(delay(0));
    if (number > 2)
        throw io_error();
    return 100 * number;
}

ACTOR Future<int> sumOfPages(int count) {
    state int sum = 0;
    state int i = 1;
    for (; i <= count; ++i) {
        int bytes = wait(readPage(i));
        sum += bytes;
    }
    return sum;
}

int main() {
    RealLoop real;
    return real.run(sumOfPages(3)) == 0;
}
