// A program to look into, for check_console.py: inspected SOCKET runs until its input ends. With a further argument,
// one step keeps its loop busy until then.
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "net/console.h"

#include <atomic>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace flow;

namespace {

Future<Void> patientActor() {
    co_await delay(1000);
}
Future<Void> tickingActor() {
    for (;;) {
        co_await delay(0.001);
        for (double until = timer() + 0.0002; timer() < until;) { // so that samples find it
        }
    }
}
std::atomic<bool> isEnded{false};

Future<Void> starvingActor() {
    co_await delay(0.1);
    while (!isEnded) {
    }
}
Future<Void> crunchingActor() {
    co_await delay(0);
    for (double until = timer() + 0.02; timer() < until;) {
    }
}

} // namespace

int main(int count, char** arguments) {
    if (count < 2)
        return 2;
    RealLoop loop;
    Future<Void> serving = console::listen(arguments[1], "inspected");
    std::vector<Future<Void>> patient;
    for (int i = 0; i < 7; ++i)
        patient.push_back(patientActor());
    Future<Void> ticking = tickingActor(), crunching = crunchingActor();
    Future<Void> starving = count > 2 ? starvingActor() : Future<Void>(Void());
    WorkGuard guard(loop);
    std::thread input([&] {
        char byte;
        while (::read(STDIN_FILENO, &byte, 1) > 0) {
        }
        isEnded = true;
        loop.stop();
    });
    if (::write(STDOUT_FILENO, "ready\n", 6) == 6)
        loop.run();
    input.join();
}
