#include "net/console.h"

#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/trace/metrics.h"
#include "flow/wait/delay.h"
#include "net/transport.h"

#include <doctest/doctest.h>

#include <string>
#include <sys/stat.h>
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
    std::string answer = co_await ask(at, "GET " + page + " HTTP/1.1\r\nHost: x\r\n\r\n");
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

    Future<std::string> trace = get(at, "/trace?seconds=0.05");
    loop.run(delay(0.02));
    CHECK(has(loop.run(get(at, "/trace")), "503 "));
    std::string recorded = loop.run(trace);
    CHECK(recorded.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(has(recorded, "the \"main\" loop"));
    CHECK(has(recorded, "timer"));
    Future<std::string> profile = get(at, "/profile?seconds=0.03&allocations=1");
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
    CHECK(console::listen(std::string(200, 'x')).isError());
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
