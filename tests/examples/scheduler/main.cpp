// scheduler [SECONDS]: runs three jobs for so long, or until SIGINT or SIGTERM, and prints what it has counted.

#include "scheduler.h"

#include "flow/base/parse_number.h"
#include "flow/inspect/watchdog.h"
#include "flow/trace/loop_metrics.h"

#include <csignal>
#include <cstdio>

using namespace flow;

Future<Void> backup() {
    co_await delay(0.1);
}

Future<Void> report() {
    static int calls = 0;
    co_await delay(0.1);
    if (++calls % 3 != 0) // two of three attempts fail
        throw io_error();
}

Future<Void> hang() {
    co_await Future<Void>(Never());
}

int main(int argc, char** argv) {
    std::optional<double> seconds = argc > 1 ? parseNumber<double>(argv[1]) : 3600;
    if (argc > 2 || !seconds || !(*seconds >= 0)) {
        std::fprintf(stderr, "usage: scheduler [SECONDS]\n");
        return 2;
    }
    Scheduler scheduler;
    scheduler.add({.name = "backup", .interval = 0.5, .timeout = 1, .attempts = 1, .run = backup});
    scheduler.add({.name = "report", .interval = 1, .timeout = 1, .attempts = 5, .run = report});
    scheduler.add({.name = "hang", .interval = 1, .timeout = 0.2, .attempts = 2, .run = hang});

    RealLoop loop;
    auto metrics = LoopMetrics::shared("main"); // the loop's own: tasks, timers, memory, actors that keep it busy
    Watchdog watch({.after = 10}); // reports a step that does not end, and lets SIGTERM end the program then
    Future<Void> stop = success(keep(signals({SIGINT, SIGTERM}))) || Future<Void>(delay(*seconds));
    loop.run(scheduler.run(stop, 1.0));
    std::printf("%s%s", scheduler.metrics().c_str(), prometheusText(metrics->figures(), "main").c_str());
}
