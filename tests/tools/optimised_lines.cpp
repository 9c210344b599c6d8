// Compiled with the options of a release build: reports have the lines of coroutines and tasks there too. Prints the
// title that is missing; then its exit code is 1.

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/inspect/pending_report.h"
#include "flow/loop/real_loop.h"
#include "flow/sync/semaphore.h"
#include "flow/tasks/context.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"

#include <cstdio>
#include <string>

using namespace flow;

namespace {

constexpr int kSums = __LINE__ + 4;
Future<int> sums(Future<int> number) {
    int sum = co_await number;
    sum += co_await number;
    co_await delay(1000);
    co_return sum;
}
constexpr int kPasses = __LINE__ + 2;
Future<int> passes(Future<int> number, Propagate = {}) {
    int sum = co_await sums(number);
    co_return sum;
}
constexpr int kRaces = __LINE__ + 4;
template <class T>
Future<Void> races(Future<T> number) {
    co_await race(number, delay(1000));
    co_await race(Future<Void>(Never()), delay(1000));
}
constexpr int kLocks = __LINE__ + 3;
Future<Void> locks(Mutex* mutex) {
    Mutex::Lock lock = co_await mutex->lock();
    Mutex::Lock again = co_await mutex->lock();
}
constexpr int kWorks = __LINE__ + 3;
Task<> works(Context, Future<int> number) {
    co_await number;
    co_await delay(1000);
}

bool says(std::string const& text, std::string const& title, int line) {
    std::string whole = title + " at optimised_lines.cpp:" + std::to_string(line) + " waits for ";
    bool found = text.find(whole) != std::string::npos;
    if (!found)
        std::printf("there is no \"%s\" in\n%s", whole.c_str(), text.c_str());
    return found;
}

} // namespace

int main() {
    RealLoop loop;
    Mutex mutex;
    Promise<int> number;
    Future<int> sum = passes(number.getFuture());
    Future<Void> race = races(number.getFuture()), lock = locks(&mutex);
    Future<Void> work = start(works(Environment(), number.getFuture()));
    number.send(1);
    std::string text;
    dumpPending(text);
    bool isRight = says(text, "coroutine sums", kSums) && says(text, "coroutine passes", kPasses) &&
                   says(text, "coroutine races", kRaces) && says(text, "coroutine locks", kLocks) &&
                   says(text, "task works", kWorks);
    return isRight ? 0 : 1;
}
