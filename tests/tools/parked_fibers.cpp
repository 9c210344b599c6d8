// For check_fibers.py: fibers of two threads that wait at several depths; then the program stops.
#include "flow/combine/all.h"
#include "flow/combine/race.h"
#include "flow/fiber/fiber.h"
#include "flow/loop/real_loop.h"

#include <csignal>
#include <thread>
#include <vector>

using namespace flow;

namespace {

Future<Void> const never = Never();

[[gnu::noinline]] int waitDeep(int levels) {
    if (levels == 0) {
        fiber::wait(never);
        return 1;
    }
    int found = waitDeep(levels - 1);
    asm volatile("" : "+r"(found)); // no tail call
    return found + 1;
}

[[gnu::noinline]] void raceForEver() {
    (void)fiber::wait(race(never, delay(1000.0)));
    asm volatile("");
}

std::vector<Future<Void>> start() {
    std::vector<Future<Void>> all;
    all.push_back(fiber::spawn([] { waitDeep(3); }, {256 << 10, "three levels"}));
    all.push_back(fiber::spawn([] { waitDeep(30); }, {512 << 10, "thirty levels"}));
    all.push_back(fiber::spawn([] { raceForEver(); }, {.name = "races"}));
    return all;
}

} // namespace

int main() {
    RealLoop loop;
    std::vector<Future<Void>> mine = start();
    std::thread([] {
        RealLoop other;
        Future<Void> sleeper = fiber::spawn([] { fiber::sleep(1000.0); }, {.name = "sleeper"});
        Future<Void> stops = fiber::spawn([] { std::raise(SIGTRAP); }, {.name = "stops"});
    }).join();
}
