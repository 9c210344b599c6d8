// The console: a small HTTP server on the loop that it shows. Each connection is one request: serve() checks the user
// (for the Unix socket), reads the header within kSeconds, and calls answerTo(), which chooses the page. Figures and
// pending computations are read without a wait. Traces, profiles and samples run for some seconds in a coroutine, while
// the loop works on. At most one trace or profile, and one recording of samples, runs at a time (Recording). The future
// of listen() owns the requests: dropping the future cancels them.

#include "net/console.h"

#include "flow/base/format.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/inspect/detail/signal_sampler.h"
#include "flow/inspect/detail/step_profile.h"
#include "flow/inspect/pending_report.h"
#include "flow/trace/loop_metrics.h"
#include "flow/trace/metrics.h"
#include "flow/trace/recorder.h"
#include "flow/wait/delay.h"
#include "net/real/detail/real_socket.h"
#include "net/real/real_network.h"
#include "net/serve.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace flow::console {
using namespace flow::net;
namespace {

constexpr double kSeconds = 5; // the time limit for a client to send its request, and again to take the answer
constexpr std::size_t kLongestRequest = 8192;
constexpr double kLongestTrace = 60;

struct Console {
    Console(std::string name, bool full) : loop(std::move(name)), isFull(full), metrics(flow::Loop::current()) {}

    std::string loop;
    bool isFull; // false: there is only the page for Prometheus
    LoopMetrics metrics;
    bool isRecording = false;
    bool isSampled = false;
};
using Shared = std::shared_ptr<Console>;

struct Answer {
    char const* status = "200 OK";
    char const* type = "text/plain; charset=utf-8";
    std::string body = {};
};

void appendNetwork(std::string& out, std::string_view loop) {
    auto* network = dynamic_cast<RealNetwork*>(flow::Loop::current().service<Transport>());
    if (!network)
        return;
    LoopCounters counters = network->counters();
    std::string label = prometheusLabel("loop", loop);
    auto counter = [&](std::string_view name, std::uint64_t value, std::string const& more) {
        appendPrometheus(out, name, "counter", label + "," + more, static_cast<double>(value));
    };
    counter("millrace_poller_calls_total", counters.polls.waits, prometheusLabel("call", "wait"));
    counter("millrace_poller_calls_total", counters.polls.changes, prometheusLabel("call", "change"));
    counter("millrace_socket_calls_total", counters.sockets.reads, prometheusLabel("call", "read"));
    counter("millrace_socket_calls_total", counters.sockets.writes, prometheusLabel("call", "write"));
    counter("millrace_socket_calls_in_vain_total", counters.sockets.emptyReads, prometheusLabel("call", "read"));
    counter("millrace_socket_calls_in_vain_total", counters.sockets.blockedWrites, prometheusLabel("call", "write"));
    counter("millrace_socket_bytes_total", counters.sockets.bytesRead, prometheusLabel("call", "read"));
    counter("millrace_socket_bytes_total", counters.sockets.bytesWritten, prometheusLabel("call", "write"));
}

Answer pendingAnswer(PendingFormat format) {
    Answer answer;
    if (format == PendingFormat::Json)
        answer.type = "application/json";
    dumpPending(answer.body, {.format = format});
    return answer;
}

/// Returns the number in "seconds=0.5", or 1 for an empty query. Returns nothing for any other query, and for a number
/// above kLongestTrace.
std::optional<double> secondsOf(std::string_view query) {
    constexpr std::string_view kKey = "seconds=";
    if (query.empty())
        return 1.0;
    if (!query.starts_with(kKey))
        return std::nullopt;
    std::string text(query.substr(kKey.size()));
    char* end = nullptr;
    double seconds = std::strtod(text.c_str(), &end);
    bool isNumber = !text.empty() && end == text.c_str() + text.size();
    return isNumber && seconds > 0 && seconds <= kLongestTrace ? std::optional(seconds) : std::nullopt;
}

/// Sets a flag while a recording runs. Recording costs time, so a second recording is refused meanwhile.
struct Recording {
    Recording(Shared c, bool Console::* f) : console(std::move(c)), flag(f) { *console.*flag = true; }
    Recording(Recording const&) = delete;
    Recording& operator=(Recording const&) = delete;
    ~Recording() { *console.*flag = false; }
    Shared console;
    bool Console::* flag;
};

Future<Answer> traceAnswer(Shared console, double seconds) {
    Recording recording(console, &Console::isRecording);
    trace::Recorder recorder(Loop::current(), {.name = console->loop, .bytes = std::size_t{4} << 20});
    co_await delay(seconds);
    co_return Answer{.type = "application/octet-stream", .body = recorder.bytes()};
}

Future<Answer> profileAnswer(Shared console, double seconds, bool countsAllocations) {
    Recording recording(console, &Console::isRecording);
    StepProfile profile(Loop::current(), countsAllocations);
    co_await delay(seconds);
    co_return Answer{.type = "application/json", .body = profile.json()};
}

/// A temporary folder, which is removed with its contents.
struct Folder {
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "millrace-samples-XXXXXX").string();
        if (!::mkdtemp(name.data()))
            throw io_error();
        path = name;
    }
    Folder(Folder const&) = delete;
    Folder& operator=(Folder const&) = delete;
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    std::filesystem::path path;
};

std::string contentOf(std::string const& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the size of /proc/self/maps in decimal, a newline, that file, and for each sample a count and so many words.
Future<Answer> samplesAnswer(Shared console, double seconds) {
    Recording recording(console, &Console::isSampled);
    Folder folder;
    std::string file = (folder.path / "samples").string();
    {
        SignalSampler sampler(file);
        co_await delay(seconds);
    }
    std::string maps = contentOf(file + ".maps"), words;
    std::ifstream samples(file, std::ios::binary);
    for (std::uint64_t count = 0; samples.read(reinterpret_cast<char*>(&count), sizeof count) && count != 0;) {
        std::size_t at = words.size();
        words.resize(at + (count + 1) * sizeof count);
        std::memcpy(words.data() + at, &count, sizeof count);
        samples.read(words.data() + at + sizeof count, static_cast<std::streamsize>(count * sizeof count));
    }
    co_return Answer{.type = "application/octet-stream", .body = format("%zu\n", maps.size()) + maps + words};
}

/// Answers /trace, /profile and /samples. `query` is empty or "seconds=S"; for a profile "&allocations=1" may follow.
Future<Answer> recordedAnswer(Shared console, std::string_view path, std::string_view query) {
    constexpr std::string_view kAllocations = "&allocations=1";
    bool countsAllocations = path == "/profile" && query.ends_with(kAllocations);
    if (countsAllocations)
        query.remove_suffix(kAllocations.size());
    std::optional<double> seconds = secondsOf(query);
    if (!seconds)
        return Answer{.status = "400 Bad Request", .body = format("seconds: a number up to %g\n", kLongestTrace)};
    if (path == "/samples" ? console->isSampled : console->isRecording)
        return Answer{.status = "503 Service Unavailable", .body = "it is traced, profiled or sampled already\n"};
    if (path == "/samples")
        return samplesAnswer(console, *seconds);
    return path == "/trace" ? traceAnswer(console, *seconds) : profileAnswer(console, *seconds, countsAllocations);
}

Future<Answer> answerTo(Shared console, std::string request) {
    std::string_view line = std::string_view(request).substr(0, request.find("\r\n"));
    std::size_t methodEnd = line.find(' ');
    std::size_t targetEnd = line.find(' ', methodEnd + 1);
    if (methodEnd == line.npos || targetEnd == line.npos || line.substr(targetEnd + 1, 7) != "HTTP/1.")
        co_return Answer{.status = "400 Bad Request", .body = "this is no request of HTTP\n"};
    if (line.substr(0, methodEnd) != "GET")
        co_return Answer{.status = "405 Method Not Allowed", .body = "only GET\n"};
    std::string_view target = line.substr(methodEnd + 1, targetEnd - methodEnd - 1);
    std::string_view path = target.substr(0, target.find('?'));
    std::string_view query = path.size() < target.size() ? target.substr(path.size() + 1) : std::string_view();
    if (path == "/metrics") {
        std::string page = prometheusText(console->metrics.figures(), console->loop);
        appendNetwork(page, console->loop);
        page += metrics::text();
        co_return Answer{.type = "text/plain; version=0.0.4", .body = std::move(page)};
    }
    if (console->isFull) {
        if (path == "/metrics.json")
            co_return Answer{.type = "application/json",
                             .body = jsonText(console->metrics.figures(), console->loop) + "\n"};
        if (path == "/pending")
            co_return pendingAnswer(PendingFormat::Text);
        if (path == "/pending.json")
            co_return pendingAnswer(PendingFormat::Json);
        if (path == "/trace" || path == "/profile" || path == "/samples") {
            Answer answer = co_await recordedAnswer(console, path, query);
            co_return answer;
        }
    }
    co_return Answer{.status = "404 Not Found", .body = "there is no such page\n"};
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

Future<Void> serveAll(Reference<Listener> listener, Shared console) {
    return serveUntil(
        std::move(listener), [console](Reference<Connection> client) { return serve(console, std::move(client)); },
        Future<Void>(Never()), 0);
}

} // namespace

Future<Void> listen(std::string path, std::string loop) {
    try {
        return serveAll(listenAt(path), std::make_shared<Console>(std::move(loop), true));
    } catch (...) {
        return currentError();
    }
}

Future<Void> servePrometheus(Address at, std::string loop) {
    try {
        return serveAll(transport().listen(at), std::make_shared<Console>(std::move(loop), false));
    } catch (...) {
        return currentError();
    }
}

} // namespace flow::console
