// For check_debug.py: computations of each style that wait, and values of the types that the debuggers print; then the
// program stops.
#include "flow/fiber/fiber.h"
#include "flow/flow.h"
#include "flow/loop/real_loop.h"
#include "flow/tasks/task.h"

#include <csignal>
#include <thread>

#include "flow/actorcompiler.h" // must be last

using namespace flow;

namespace {

struct LargeState {
    char bytes[8000];
};
/// Where the compiler says how a frame is aligned, there is padding in front of the cell, or of a task's.
struct alignas(64) AlignedState {
    char bytes[64];
};

Future<int> answerLater(Future<int> question) {
    int answer = co_await question; // line of the wait of answerLater
    co_return answer + 1;
}
Future<Void> sendLater(PromiseStream<int> stream, Future<Void> go) {
    AlignedState large = {};
    asm volatile("" : : "r"(&large) : "memory");
    co_await go;
    asm volatile("" : : "r"(&large) : "memory");
    stream.send(1);
}
Task<> taskBelow(Context, Future<Void> go) {
    co_await go; // line of the wait of taskBelow
}
Fork<> forkBelow(Context, Future<Void> go) {
    AlignedState large = {};
    asm volatile("" : : "r"(&large) : "memory");
    co_await go;
    asm volatile("" : : "r"(&large) : "memory");
}
Task<> taskWaits(Context, Future<Void> go) {
    Fork<> fork = forkBelow(co_await context(), go);
    co_await taskBelow(co_await context(), go);
    co_await destroyForks();
}
Task<> taskJoins(Context, Future<Void> go) {
    Fork<> one = forkBelow(co_await context(), go), two = forkBelow(co_await context(), go);
    co_await destroyForks();
}
Future<Void> waitLarge(Future<Void> go) { // its block is beyond the size classes
    LargeState large = {};
    asm volatile("" : : "r"(&large) : "memory");
    co_await go;
    asm volatile("" : : "r"(&large) : "memory");
}

} // namespace

ACTOR Future<int> askTwice(Future<Void> go, Future<int> question) {
    wait(go);
    choose {
        when(int answer = wait(answerLater(question))) { // line of the second wait of askTwice
            return answer;
        }
        when(wait(delay(1000.5))) {
            return 0;
        }
    }
}
ACTOR static Future<int> readOne(FutureStream<int> stream) {
    int read = waitNext(stream);
    return read;
}
ACTOR Future<Void> holdLock(Mutex* mutex) {
    state Mutex::Lock lock = wait(mutex->lock());
    wait(Never());
    return Void();
}

// What the debuggers are asked to print.
static Future<int> pendingFuture, invalidFuture;
static Future<std::string> readyFuture;
static Future<Void> failedFuture;
static Promise<int> openPromise;
static PromiseStream<int> queuedStream;
static FutureStream<int> queuedReader;
[[gnu::used]] static StringRef text = "plain\n"_sr;
static Standalone<StringRef> owned("owned"_sr);
static VectorRef<int> numbers;
static Standalone<VectorRef<StringRef>> strings;

int main() {
    RealLoop real;
    Promise<int> question;
    Promise<Void> start, go;
    Future<int> asked = askTwice(start.getFuture(), question.getFuture());
    PromiseStream<int> stream;
    Future<int> read = readOne(stream.getFuture());
    Future<Void> sends = sendLater(std::exchange(stream, {}), go.getFuture());
    Mutex mutex;
    Future<Void> holds = holdLock(&mutex), waits = holdLock(&mutex);
    Future<Void> large = waitLarge(go.getFuture());
    Future<Void> sleeps = fiber::spawn([] { fiber::sleep(2000.0); }, {.name = "sleeper"}); // line of the sleep
    Future<Void> waitsForTask = flow::start(taskWaits(Environment(), go.getFuture()));
    Future<Void> waitsForForks = flow::start(taskJoins(Environment(), go.getFuture()));
    real.run(delay(0));
    start.send(Void());
    pendingFuture = answerLater(asked);
    openPromise = question;
    readyFuture = std::string("ready");
    queuedReader = queuedStream.getFuture();
    for (int i : {3, 5, 8})
        queuedStream.send(i);
    Arena arena;
    for (int i : {13, 21})
        numbers.push_back(arena, i);
    strings.push_back_deep(strings.arena(), "one"_sr);
    Promise<Void> failing;
    failedFuture = failing.getFuture();
    failing.sendError(end_of_stream());
    std::raise(SIGTRAP);
}
