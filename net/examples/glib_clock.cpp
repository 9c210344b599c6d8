// glib_clock [PORT]: a server of Millrace in a program of GLib: one thread, and GLib's loop drives both. A timer of
// GLib ticks, and each client gets a line for each tick. SIGTERM and SIGINT end the program.
//
//     $ glib_clock 4500 &
//     listening at 127.0.0.1:4500
//     $ nc 127.0.0.1 4500
//     tick 8

#include "flow/base/format.h"
#include "flow/sync/broadcast.h"
#include "net/examples/program.h"

#include <glib-unix.h>

using namespace flow;
using namespace flow::net;

namespace {

struct Clock {
    RealLoop& loop;
    GMainLoop* glib = g_main_loop_new(nullptr, FALSE);
    int count = 0;
    Broadcast<int> ticks{16};
};

Future<Void> tell(Clock* clock, Reference<Connection> client, Event* ending) {
    Broadcast<int>::Receiver ticks = clock->ticks.subscribe();
    for (;;) {
        auto next = co_await race(ticks.receive(), ending->wait());
        if (next.index() == 1)
            co_return;
        std::string line = format("tick %d\n", std::get<0>(next).value);
        co_await client->write(StringRef(line));
    }
}

Future<Void> serveClients(Clock* clock, std::string port) {
    auto serveOne = [clock](Reference<Connection> client, Event* ending) { return tell(clock, client, ending); };
    Future<Void> serving = serve(port, serveOne);
    co_await std::move(serving);
    clock->loop.stop();
}

gboolean onReadable(int, GIOCondition, gpointer data) noexcept {
    auto* clock = static_cast<Clock*>(data);
    if (clock->loop.runReady())
        g_main_loop_quit(clock->glib);
    return G_SOURCE_CONTINUE;
}

/// post() makes the waiters run as steps of our loop, and makes the loop's descriptor readable.
gboolean onTick(gpointer data) noexcept {
    auto* clock = static_cast<Clock*>(data);
    clock->loop.post([clock] { clock->ticks.send(++clock->count); });
    return G_SOURCE_CONTINUE;
}

} // namespace

int main(int argc, char** argv) {
    RealLoop loop;
    Clock clock{loop};
    Future<Void> serving = serveClients(&clock, argc > 1 ? argv[1] : "0");
    g_unix_fd_add(loop.descriptor(), G_IO_IN, onReadable, &clock);
    g_timeout_add(50, onTick, &clock);
    if (!serving.isReady()) // otherwise it has failed
        g_main_loop_run(clock.glib);
    g_main_loop_unref(clock.glib);
    return serving.isError() ? 1 : 0;
}
