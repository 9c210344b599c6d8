// A program with global names that frameworks often use.
#include <cstdio>

#include "flow/sim.h"
#include "flow/actorcompiler.h" // This must be the last #include.

struct Cell {
    int value;
};
struct Link {
    Cell* to;
};
struct Waiter {
    Future<Cell> cell;
};
class Loop {};
enum class Exit { Yes, No };
struct Frame {
    int number;
};
template <class T>
struct Task {
    T result;
};
struct Pending {};
struct Delay {};
struct Yield {};
struct Race {};
struct Result {};
struct Heap {};
struct Callee {};
using Kind = int;
namespace detail {
int park(int x) {
    return x + 1;
}
} // namespace detail
namespace coro {
int self = 3;
}
namespace memory {
int allocate = 4;
}
int run(Frame f) {
    return f.number;
}
int publish(int x) {
    return -x;
}
int opaque = 5;
int start = 6;
int pending = 7;
int finish(Exit e) {
    return e == Exit::Yes;
}

ACTOR Future<Task<int>> work(Frame frame, Future<Cell> cell, Link link) {
    state Waiter waiter;
    state Pending nothing;
    state int self = run(frame);
    state Exit exit = Exit::Yes;
    waiter.cell = cell;
    Cell c = wait(waiter.cell);
    state Task<int> task;
    task.result = c.value + link.to->value + self + finish(exit) + publish(opaque) + start + pending;
    task.result += detail::park(coro::self) + memory::allocate;
    choose {
        when(wait(delay(1.0, TaskPriority::Low))) { printf("delayed\n"); }
        when(Cell never = wait(Future<Cell>(Never()))) { task.result = never.value; }
    }
    try {
        wait(yield(TaskPriority::Low));
        throw io_error();
    } catch (Error& e) {
        printf("caught %d\n", e.code());
    }
    return task;
}

int main() {
    flow::SimLoop simulation;
    Cell target{ 10 };
    Future<Task<int>> f = work(Frame{ 2 }, Cell{ 1 }, Link{ &target });
    g_network->run();
    printf("result %d\n", f.get().result);
    return 0;
}
