#include "net/console.h"

#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/trace/loop_metrics.h"
#include "flow/trace/metrics.h"
#include "flow/wait/delay.h"
#include "net/transport.h"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using namespace flow;
using namespace flow::net;

namespace {

std::string socketPath() {
    static int count = 0;
    return format("/tmp/millrace_console_test.%d.%d", static_cast<int>(::getpid()), ++count);
}

Future<std::string> readReply(Reference<Connection> connection) {
    std::string all;
    for (;;) {
        Bytes some = co_await connection->read();
        if (some.empty())
            co_return all;
        all += some.toString();
    }
}
Future<std::string> ask(Address at, std::string request) {
    Reference<Connection> client = co_await transport().connect(at);
    co_await client->write(StringRef(request));
    std::string answer = co_await readReply(client);
    co_return answer;
}
Future<std::string> get(Address at, std::string page) {
    std::string answer = co_await ask(at, "GET " + page + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    co_return answer;
}

bool has(std::string const& text, char const* part) {
    return text.find(part) != std::string::npos;
}

Future<Void> waitBriefly() {
    for (int i = 0; i < 5; ++i)
        co_await delay(0.002);
}
Future<Void> waitingActor() {
    co_await delay(1000);
}

/// Asks with calls that block, on a thread without a loop.
std::string getBlocking(std::string const& path, std::string const& page) {
    int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un to = {};
    to.sun_family = AF_UNIX;
    path.copy(to.sun_path, sizeof to.sun_path - 1);
    std::string request = "GET " + page + " HTTP/1.1\r\nHost: x\r\n\r\n", all;
    if (::connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 &&
        ::send(socket, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
        char some[4096];
        for (ssize_t size; (size = ::recv(socket, some, sizeof some, 0)) > 0;)
            all.append(some, static_cast<std::size_t>(size));
    }
    ::close(socket);
    return all;
}

std::atomic<bool> isCrunching, isAsked;

Future<Void> crunchingActor() {
    co_await delay(0);
    isCrunching = true;
    while (!isAsked)
        ::usleep(100);
}

bool hasConsoleThread() {
    for (auto const& each : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::ifstream file(each.path() / "comm");
        std::getline(file, name);
        if (name == "console0")
            return true;
    }
    return false;
}

} // namespace

TEST_CASE("console: serves figures, what is pending and a trace") {
    RealLoop loop;
    std::string path = socketPath();
    Future<Void> serving = console::listen(path, "the \"main\" loop");
    Future<Void> waiting = waitingActor();
    Address at = Address::unixPath(path);

    flow::metrics::Counter jobs("jobs_total", "Jobs.");
    jobs.add(3);
    std::string metrics = loop.run(get(at, "/metrics"));
    CHECK(has(metrics, "jobs_total 3\n"));
    CHECK(metrics.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(has(metrics, "# TYPE millrace_steps_total counter\nmillrace_steps_total{loop=\"the \\\"main\\\" loop\"} "));
    CHECK(has(metrics, "millrace_poller_calls_total"));
    CHECK(has(metrics, "millrace_memory_bytes"));
    std::string json = loop.run(get(at, "/metrics.json"));
    CHECK(has(json, "\"loop\":\"the \\\"main\\\" loop\""));
    CHECK(has(json, "\"timers\":"));
    std::string pending = loop.run(get(at, "/pending"));
    CHECK(has(pending, "computations are pending"));
    CHECK(has(pending, "waitingActor"));
    CHECK(has(loop.run(get(at, "/pending.json")), "\"pending\":"));

    Future<std::string> trace = get(at, "/trace?seconds=0.5");
    loop.run(delay(0.02));
    CHECK(has(loop.run(get(at, "/trace")), "503 "));
    std::string recorded = loop.run(trace);
    CHECK(recorded.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(has(recorded, "the \"main\" loop"));
    CHECK(has(recorded, "timer"));
    Future<std::string> profile = get(at, "/profile?seconds=0.03&allocations=1");
    while (!profile.isReady()) // the request is read by another thread
        loop.run(waitBriefly());
    std::string measured = loop.run(profile);
    CHECK(has(measured, "\"countsAllocations\":true"));
    CHECK(has(measured, "waitBriefly"));
}

TEST_CASE("console: what is no request, or none that it has, gets an answer that says so") {
    RealLoop loop;
    std::string path = socketPath();
    Future<Void> serving = console::listen(path);
    Address at = Address::unixPath(path);
    CHECK(has(loop.run(get(at, "/")), "404 "));
    CHECK(has(loop.run(get(at, "/metricsx")), "404 "));
    for (char const* bad : {"/trace?seconds=0", "/trace?seconds=61", "/trace?seconds=1x",
                            "/trace?seconds=", "/trace?second=1", "/trace?seconds=nan", "/trace?seconds=-1"})
        CHECK_MESSAGE(has(loop.run(get(at, bad)), "400 "), bad);
    CHECK(has(loop.run(ask(at, "POST /metrics HTTP/1.1\r\n\r\n")), "405 "));
    CHECK(has(loop.run(ask(at, "nonsense\r\n\r\n")), "400 "));
    CHECK(has(loop.run(ask(at, "\r\n\r\n")), "400 "));
    CHECK(has(loop.run(ask(at, std::string("GET \0 HTTP/1.1\r\n\r\n", 18))), "404 "));
    Future<std::string> tooLong = ask(at, std::string(100'000, 'x'));
    try {
        std::string answer = loop.run(tooLong);
        CHECK(answer == "");
    } catch (Error const& error) { // unread bytes reset the connection
        CHECK(isConnectionError(error));
    }
    Future<std::string> leaves = get(at, "/trace?seconds=1");
    loop.run(delay(0.02));
    leaves = Future<std::string>();
    CHECK(has(loop.run(get(at, "/metrics")), "200 OK"));
    CHECK_FALSE(serving.isReady());
}

TEST_CASE("console: the socket is this user's alone, and one that was left behind is replaced") {
    RealLoop loop;
    std::string path = socketPath();
    {
        Future<Void> serving = console::listen(path);
        struct stat info;
        REQUIRE(::stat(path.c_str(), &info) == 0);
        CHECK((info.st_mode & 0777) == 0600);
        Future<Void> second = console::listen(path);
        REQUIRE(second.isError());
        CHECK(second.getError() == address_in_use());
        // As after a program was killed: the file is still there, and nothing listens.
        REQUIRE(::link(path.c_str(), (path + ".left").c_str()) == 0);
    }
    CHECK(::access(path.c_str(), F_OK) != 0);
    Future<Void> again = console::listen(path + ".left");
    CHECK_FALSE(again.isReady());
    CHECK(has(loop.run(get(Address::unixPath(path + ".left"), "/metrics")), "200 OK"));
    CHECK(console::listen("/nowhere/at/all").isError());
    std::string tooLong(200, 'x');
    Future<Void> refused = console::listen(tooLong);
    REQUIRE(refused.isError());
    CHECK(refused.getError() == connection_string_invalid());
    CHECK(refused.getError().what() ==
          "a path of a Unix socket has at most 107 bytes; this one has 200: \"" + tooLong + '"');
}

TEST_CASE("console: a page for Prometheus, and nothing else, at an address") {
    RealLoop loop;
    Reference<Listener> free = transport().listen(Address(0x7F000001, 0));
    Address at = free->localAddress();
    CHECK(console::servePrometheus(at).isError());
    free->close();
    Future<Void> serving = console::servePrometheus(at, "main");
    REQUIRE_FALSE(serving.isReady());
    CHECK(has(loop.run(get(at, "/metrics")), "millrace_turns_total{loop=\"main\"}"));
    CHECK(has(loop.run(get(at, "/pending")), "404 "));
    CHECK(has(loop.run(get(at, "/trace")), "404 "));
}

TEST_CASE("console: answers while a step keeps its loop busy") {
    RealLoop loop;
    std::string path = socketPath();
    Future<Void> serving = console::listen(path, "main");
    flow::metrics::Counter jobs("jobs_total", "Jobs.");
    flow::metrics::Gauge unread("unread", "Needs the loop.", [] { return 1.0; });
    jobs.add(3);
    isCrunching = isAsked = false;
    std::string metrics, running, json, pending;
    std::thread client([&] {
        while (!isCrunching)
            std::this_thread::yield();
        metrics = getBlocking(path, "/metrics");
        running = getBlocking(path, "/running");
        json = getBlocking(path, "/metrics.json");
        pending = getBlocking(path, "/pending");
        isAsked = true;
    });
    loop.run(crunchingActor());
    client.join();
    CHECK(metrics.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(has(metrics, "\njobs_total 3\n"));
    CHECK(has(metrics, "\nmillrace_steps_total{loop=\"main\"} "));
    CHECK(has(metrics, "\nmillrace_running_step_seconds{loop=\"main\"} "));
    CHECK_FALSE(has(metrics, "\nmillrace_running_step_seconds{loop=\"main\"} 0\n"));
    CHECK_FALSE(has(metrics, "unread"));
    CHECK(has(metrics, "\nprocess_open_fds "));
    CHECK(running.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(has(running, "the loop main has run a step of "));
    CHECK(has(running, "crunchingActor"));
    CHECK(json.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(has(json, "\"running\":"));
    CHECK(pending.starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
    CHECK(has(pending, "crunchingActor"));
    CHECK(has(pending, "\r\n\r\nthe loop main has run a step of "));
    std::string after = loop.run(get(Address::unixPath(path), "/metrics"));
    CHECK(has(after, "\nunread 1\n"));
    CHECK(has(after, "\nmillrace_open_sockets{loop=\"main\"} "));
    CHECK(has(loop.run(get(Address::unixPath(path), "/pending")), "200 OK"));
}

TEST_CASE("console: two loops are on one page") {
    std::atomic<Loop*> other = nullptr;
    std::thread thread([&] {
        RealLoop loop;
        WorkGuard guard(loop);
        auto figures = LoopMetrics::shared("worker");
        flow::metrics::Counter jobs("jobs_total", "Jobs.");
        flow::metrics::Gauge queue("queue", "Orders that wait.", [] { return 4.0; });
        jobs.add(10);
        loop.post([&] { other = &loop; });
        loop.run();
    });
    while (!other)
        std::this_thread::yield();
    RealLoop loop;
    std::string path = socketPath();
    Future<Void> serving = console::listen(path, "main");
    flow::metrics::Counter jobs("jobs_total", "Jobs.");
    flow::metrics::Gauge queue("queue", "Orders that wait.", [] { return 3.0; });
    jobs.add(1);
    std::string page;
    do // a busy machine may not let the loops answer in time
        page = loop.run(get(Address::unixPath(path), "/metrics"));
    while (!has(page, "\nqueue 7\n"));
    CHECK(has(page, "\njobs_total 11\n"));
    CHECK(has(page, "\nmillrace_steps_total{loop=\"worker\"} "));
    CHECK(has(page, "\nmillrace_steps_total{loop=\"main\"} "));
    CHECK(has(page, "\nmillrace_timers{loop=\"worker\"} 0\n"));
    CHECK(has(page, "\nmillrace_loop_latency_seconds_count{loop=\"worker\"} "));
    CHECK(page.find("# TYPE millrace_steps_total ") == page.rfind("# TYPE millrace_steps_total "));
    other.load()->stop();
    thread.join();
}

TEST_CASE("console: one thread for all consoles, which ends with the last one") {
    RealLoop loop;
    while (hasConsoleThread()) // of the test before
        ::usleep(1000);
    Future<Void> first = console::listen(socketPath());
    Future<Void> second = console::listen(socketPath());
    CHECK(hasConsoleThread());
    first = Future<Void>();
    CHECK(hasConsoleThread());
    second = Future<Void>();
    CHECK(console::listen("/nowhere/at/all").isError());
    while (hasConsoleThread()) // the system removes a thread shortly after its end
        ::usleep(1000);
}

TEST_CASE("console: pages of foreign sites cannot read the page for Prometheus") {
    RealLoop loop;
    Reference<Listener> free = transport().listen(Address(0x7F000001, 0));
    Address at = free->localAddress();
    free->close();
    Future<Void> serving = console::servePrometheus(at, "main", {"scraped.example"});
    auto answer = [&](std::string const& fields) {
        return loop.run(ask(at, "GET /metrics HTTP/1.1\r\n" + fields + "\r\n\r\n"));
    };
    CHECK(has(answer("Host: scraped.example:9100"), "200 OK"));
    CHECK(has(answer("Host: " + at.toString()), "200 OK"));
    CHECK(answer("Host: evil.example").starts_with("HTTP/1.1 403 Forbidden\r\n"));
    CHECK(has(answer("Host: localhost\r\nSec-Fetch-Site: cross-site"), "403 "));
    CHECK(has(answer("Host: localhost\r\nOrigin: http://evil.example"), "403 "));
    Future<Void> wrong = console::servePrometheus(at, "main", {"http://a"});
    REQUIRE(wrong.isError());
    CHECK(wrong.getError() == invalid_option_value());
}
