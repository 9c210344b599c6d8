// Writes traces for check_perfetto.py: traced FOLDER.
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/world_recorder.h"
#include "flow/trace/mark.h"
#include "flow/trace/recorder.h"
#include "flow/wait/delay.h"

#include <string>

using namespace flow;

namespace {

Future<Void> tracedStep(TaskPriority priority) {
    co_await delay(0, priority);
}
Future<Void> tracedActor() {
    for (int i = 0; i < 10; ++i) {
        co_await tracedStep(TaskPriority::DefaultYield);
        co_await delay(0.0005);
    }
    trace::mark("ten steps");
    Loop::current().run(tracedStep(TaskPriority::Default)); // a task in a task
}
Future<Void> failingActor() {
    co_await delay(0);
    throw io_error();
}
Future<Void> endlessActor() {
    for (;;)
        co_await delay(0.25);
}

void record(std::string const& path) {
    RealLoop one;
    trace::Recorder first(one, {.name = "first"});
    one.run(tracedActor());
    Future<Void> failing = failingActor();
    try {
        one.run(failing);
    } catch (Error const&) {
    }
    {
        Future<Void> cancelled = endlessActor();
    }
    std::string bytes = first.bytes();
    RealLoop two;
    trace::Recorder second(two, {.name = "second", .bytes = 2048}); // what is old is gone
    two.run(tracedActor());
    trace::writeFile(path, bytes + second.bytes());
}

void recordWorld(std::string const& path) {
    World world(3);
    WorldRecorder recorder(world);
    world.start({.name = "server", .main = endlessActor});
    world.start({.name = "client", .main = endlessActor});
    world.run(delay(2));
    world.injected(FaultKind::processReboot, 0);
    world.reboot(*world.processes()[0], 1);
    world.run(delay(3));
    recorder.writeTo(path);
}

} // namespace

int main(int count, char** arguments) {
    if (count != 2)
        return 2;
    record(std::string(arguments[1]) + "/loops.pftrace");
    recordWorld(std::string(arguments[1]) + "/world.pftrace");
}
