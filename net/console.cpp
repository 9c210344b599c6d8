// A small HTTP server, with its own thread and loop, serves all consoles of the process. Each connection carries one
// request: serve() checks the user (for the Unix socket), reads the header within kSeconds, and calls answerTo(), which
// chooses the page. The thread never waits for another thread without a time limit, so it answers even while a step
// keeps the shown loop busy. answerOfLoop() calls a function on the shown loop; if the loop does not start it within
// kPatience, the answer is 503 and names the running step. Traces and profiles run in a coroutine on that loop, to
// their end even if the client has left. At most one trace or profile of a loop, and one recording of samples, runs at
// a time (Recording).
//
// The future of listen() owns an Opened on the shown loop. ~Opened() waits until the thread has dropped the server;
// after that the thread does not use the loop.

#include "net/console.h"

#include "flow/base/format.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/inspect/pending_report.h"
#include "flow/inspect/running_steps.h"
#include "flow/threads/loop_pool.h"
#include "flow/threads/on_loop.h"
#include "flow/threads/run_blocking.h"
#include "flow/threads/thread_promise.h"
#include "flow/trace/loop_metrics.h"
#include "flow/wait/delay.h"
#include "net/detail/console_answers.h"
#include "net/detail/console_request.h"
#include "net/detail/serve_aside.h"
#include "net/real/detail/real_socket.h"

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace flow::console {
using namespace flow::net;
namespace {

constexpr double kSeconds = 5; // the time limit for a client to send its request, and again to take the answer
constexpr std::size_t kLongestRequest = 8192;

Answer pendingAnswer(PendingFormat format) {
    Answer answer;
    if (format == PendingFormat::Json)
        answer.type = "application/json";
    dumpPending(answer.body, {.format = format});
    return answer;
}

Future<Answer> answerTo(Shared console, std::string head) {
    ConsoleRequest request;
    std::optional<Answer> refused = readRequest(head, request);
    if (!refused && !console->isFull) // a web page cannot connect to a Unix socket
        refused = refuseForeign(head, console->hosts);
    if (refused)
        return *std::move(refused);
    std::string_view path = request.path;
    if (path == "/metrics")
        return metricsAnswer();
    if (console->isFull) {
        if (path == "/metrics.json")
            return figuresAnswer(console);
        if (path == "/pending")
            return answerOfLoop(console, [] { return pendingAnswer(PendingFormat::Text); });
        if (path == "/pending.json")
            return answerOfLoop(console, [] { return pendingAnswer(PendingFormat::Json); });
        if (path == "/running")
            return runBlocking([] { return Answer{.body = runningSteps()}; }); // addr2line is slow
        if (path == "/trace" || path == "/profile" || path == "/samples")
            return recordedAnswer(console, path, request.query);
    }
    return Answer{.status = "404 Not Found", .body = "there is no such page\n"};
}

bool isSameUser(Connection& connection) {
    auto* socket = dynamic_cast<RealSocket*>(&connection);
    ucred peer{};
    socklen_t size = sizeof peer;
    return socket && ::getsockopt(socket->descriptor(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           peer.uid == ::geteuid();
}

Future<Void> serve(Shared console, Reference<Connection> client) {
    if (console->isFull && !isSameUser(*client))
        co_return;
    auto first = co_await race(client->readUntil("\r\n\r\n"_sr, kLongestRequest), delay(kSeconds));
    if (first.index() == 1)
        co_return;
    Answer answer = co_await answerTo(console, std::get<0>(first).toString());
    std::string text = format("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
                              answer.status, answer.type, answer.body.size()) +
                       answer.body;
    auto written = co_await race(client->write(StringRef(text)), delay(kSeconds));
    if (written.index() == 1)
        client->abort();
}

Reference<Listener> listenAt(std::string const& path) {
    Reference<Listener> listener = transport().listen(Address::unixPath(path));
    if (::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0)
        throw platform_error();
    return listener;
}

/// Serves connections until an error, and sends the error to the shown loop.
Future<Void> serveAll(Reference<Listener> listener, Shared console, ThreadPromise<Void> failed) {
    auto serveOne = [console](Reference<Connection> client) { return serve(console, std::move(client)); };
    Future<Void> serving = serveAside(std::move(listener), serveOne, Future<Void>(Never()), 0);
    try {
        co_await std::move(serving);
    } catch (Error const& error) {
        failed.sendError(error);
    }
}

/// Returns the thread of all consoles. The thread ends when the last pointer to it is destroyed.
std::shared_ptr<LoopPool> consoleThread() {
    struct Kept {
        std::mutex mutex;
        std::weak_ptr<LoopPool> thread;
    };
    static auto* const kept = new Kept;
    std::lock_guard lock(kept->mutex);
    std::shared_ptr<LoopPool> thread = kept->thread.lock();
    if (!thread)
        kept->thread = thread = std::make_shared<LoopPool>(LoopPoolOptions{.loops = 1, .names = "console"});
    return thread;
}

/// Calls call() on another loop, and blocks until it has ended. Rethrows its exception.
template <class Call>
void callAndWait(flow::Loop& loop, Call& call) {
    std::promise<void> done;
    std::future<void> isDone = done.get_future();
    loop.post(
        [&call, done = std::move(done)]() mutable {
            try {
                call();
                done.set_value();
            } catch (...) {
                done.set_exception(std::current_exception());
            }
        },
        TaskPriority::Max);
    isDone.get();
}

class Opened {
public:
    template <class Listen>
    Opened(Shared console, Listen const& listen, ThreadPromise<Void> failed)
        : console_(std::move(console)), metrics_(LoopMetrics::shared(console_->name)), thread_(consoleThread()) {
        console_->name = metrics_->name();
        auto open = [&] { console_->serving = serveAll(listen(), console_, std::move(failed)); };
        callAndWait((*thread_)[0], open);
    }
    Opened(Opened const&) = delete;
    Opened& operator=(Opened const&) = delete;
    ~Opened() {
        auto close = [this] { console_->serving = Future<Void>(); };
        callAndWait((*thread_)[0], close);
    }

private:
    Shared console_;
    std::shared_ptr<LoopMetrics> metrics_;
    std::shared_ptr<LoopPool> thread_;
};

Future<Void> keepOpen([[maybe_unused]] std::unique_ptr<Opened> opened, Future<Void> failure) {
    co_await std::move(failure);
}

template <class Listen>
Future<Void> open(Shared console, Listen listen) {
    try {
        console->loop.useMachines("network");
        ThreadPromise<Void> failed;
        Future<Void> failure = failed.getFuture();
        return keepOpen(std::make_unique<Opened>(std::move(console), listen, std::move(failed)), std::move(failure));
    } catch (...) {
        return currentError();
    }
}

} // namespace

Future<Answer> answerOfLoop(Shared console, std::function<Future<Answer>()> make) {
    enum State { Waiting, Begun, GivenUp };
    auto state = std::make_shared<std::atomic<int>>(Waiting);
    auto call = [state, make = std::move(make)] { return state->exchange(Begun) == GivenUp ? Answer{} : make(); };
    Future<Answer> asked = onLoop(console->loop, std::move(call), TaskPriority::Max);
    auto first = co_await race(asked, delay(kPatience));
    if (first.index() == 0)
        co_return std::get<0>(std::move(first));
    if (state->exchange(GivenUp) == Waiting) {
        Answer busy = busyAnswer(*console);
        co_return busy;
    }
    Answer answer = co_await asked;
    co_return answer;
}

Future<Void> listen(std::string path, std::string loop) {
    return open(Shared(new Console{flow::Loop::current(), std::move(loop), true}),
                [path = std::move(path)] { return listenAt(path); });
}

Future<Void> servePrometheus(Address at, std::string loop, std::vector<std::string> hosts) {
    for (std::string const& host : hosts)
        if (host.empty() || host.find_first_of(":/ \t\r\n") != host.npos)
            return wrongOption("servePrometheus()", "hosts", '"' + host + '"', "a name has no port, scheme or space");
    return open(Shared(new Console{flow::Loop::current(), std::move(loop), false, std::move(hosts)}),
                [at] { return transport().listen(at); });
}

} // namespace flow::console
