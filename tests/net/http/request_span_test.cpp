// The spans of requests, from a client through servers to the next one.
#include "flow/coro/coroutine.h"
#include "flow/trace/sink.h"
#include "flow/wait/delay.h"
#include "net/http/client.h"
#include "net/http/detail/client_connection.h"
#include "net/http/metrics.h"
#include "net/http/router.h"
#include "tests/net/http/http_support.h"
#include "tests/net/serve_suite.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace flow;
using namespace flow::net;
using namespace flow::net::http;
using namespace flow::test;

namespace request_span_test {
namespace {

using trace::SpanData;
using trace::SpanKind;
using trace::SpanStatus;

constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kParent[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

struct Spans final : trace::SpanReceiver {
    void take(SpanData&& span) noexcept override { all.push_back(std::move(span)); }
    SpanData const& named(std::string const& name, SpanKind kind) const {
        auto found = std::find_if(all.begin(), all.end(),
                                  [&](SpanData const& each) { return each.name == name && each.kind == kind; });
        REQUIRE(found != all.end());
        return *found;
    }
    std::vector<SpanData> all;
};

std::string valueOf(SpanData const& span, std::string const& key) {
    for (trace::Attribute const& each : span.attributes)
        if (each.key == key)
            return std::visit([](auto const& value) { return toText(value); }, each.value);
    return "none";
}

/// Answers with the fields that a server gets from a client.
Future<Response> tellTrace(Request request) {
    Response response;
    response.body = std::string(request.headers.get("traceparent", "none")) + " " +
                    std::string(request.headers.get("tracestate", "none"));
    co_return response;
}

std::string urlOf(HttpServer const& server, std::string const& target) {
    return "http://" + server.listener->localAddress().toString() + target;
}

Future<std::string> bodyOf(Future<Response> asking) {
    Response response = co_await std::move(asking);
    Future<std::string> reading = response.body.text(1000);
    std::string text = co_await std::move(reading);
    co_return text;
}

/// Asks the other server, in the trace of the request.
Future<Response> askOther(Request request, Client* client, std::string url) {
    Request further;
    further.context = request.context;
    Response response;
    Future<std::string> asking = bodyOf(client->send(std::move(further), url));
    std::string text = co_await std::move(asking);
    response.body = std::move(text);
    co_return response;
}

/// A trace begins in a client, and goes through two servers.
Future<Void> followThroughTwoServers(bool isHttp2) {
    Spans spans;
    trace::Tracer tracer(spans);
    ServerOptions options;
    options.tracer = &tracer;
    Router last;
    last.add("GET", "/last/{id}", tellTrace);
    HttpServer second(HandlerToTheEnd(last), options);
    Client client({.plainHttp2 = isHttp2});
    std::string url = urlOf(second, "/last/7?secret=1");
    Router middle;
    middle.add("POST", "/first", [&](Request request) { return askOther(std::move(request), &client, url); });
    HttpServer first(HandlerToTheEnd(middle), options);
    {
        trace::Span root = tracer.begin("job");
        Request request;
        request.method = "POST";
        request.context = root.context();
        Future<std::string> asking = bodyOf(client.send(std::move(request), urlOf(first, "/first")));
        std::string text = co_await std::move(asking);
        CHECK(text.ends_with("-01 none"));
    }
    co_await delay(1.0); // the servers have ended their exchanges
    REQUIRE(spans.all.size() == 5);
    SpanData const &job = spans.named("job", SpanKind::Internal), &post = spans.named("POST", SpanKind::Client),
                   &atFirst = spans.named("POST /first", SpanKind::Server), &get = spans.named("GET", SpanKind::Client),
                   &atLast = spans.named("GET /last/{id}", SpanKind::Server);
    SpanData const* chain[] = {&job, &post, &atFirst, &get, &atLast};
    for (int i = 1; i < 5; ++i) {
        CHECK(chain[i]->parentId == chain[i - 1]->context.spanId);
        CHECK(chain[i]->context.traceId == job.context.traceId);
        CHECK(chain[i]->begin >= chain[i - 1]->begin);
        CHECK(chain[i]->status == SpanStatus::Unset);
    }
    CHECK(valueOf(atLast, "http.route") == "/last/{id}");
    CHECK(valueOf(atLast, "url.path") == "/last/7");
    CHECK(valueOf(atLast, "http.response.status_code") == "200");
    CHECK(valueOf(atLast, "network.protocol.version") == (isHttp2 ? "2" : "1.1"));
    CHECK(valueOf(get, "url.full") == url.substr(0, url.find('?')));
    CHECK(valueOf(get, "http.response.status_code") == "200");
}

/// What a client may send, and what becomes of it: never an error.
Future<Void> readFields() {
    Spans spans;
    trace::Tracer tracer(spans);
    ServerOptions options;
    options.tracer = &tracer;
    Handler handler = [](Request request) -> Future<Response> {
        trace::CurrentSpan const* current = request.context.find(trace::kCurrentSpan);
        Response response;
        response.body = current->context.traceId.toString() + " " + current->context.state;
        co_return response;
    };
    HttpServer server(handler, options);
    Reference<Connection> client = co_await server.connect();
    std::string const parent = std::string("TraceParent: ") + kParent + "\r\n";
    std::string taken[] = {parent, parent + "tracestate: a=1\r\nTraceState: b=2\r\n", parent + "tracestate: ?\r\n"};
    std::string states[] = {"", "a=1,b=2", ""};
    for (int i = 0; i < 3; ++i) {
        Received received = co_await ask(client, get("/", "Connection: keep-alive\r\nTraceLevel1: x\r\n" + taken[i]));
        CHECK(received.body == std::string(kTrace) + " " + states[i]);
    }
    std::string broken[] = {"",
                            "traceparent:\r\n",
                            "traceparent: x\r\n",
                            "tracestate: a=1\r\n",
                            parent + parent,
                            "traceparent: 00-00000000000000000000000000000000-00f067aa0ba902b7-01\r\n",
                            "traceparent: ff" + std::string(kParent).substr(2) + "\r\n",
                            "traceparent: " + std::string(5000, '-') + "\r\n",
                            "traceparent: \x80\xff\r\n"};
    std::vector<std::string> seen;
    for (std::string const& lines : broken) {
        Received received = co_await ask(client, get("/", lines));
        CHECK(received.status == 200);
        CHECK(received.body.size() == 33);
        CHECK_FALSE(received.body.starts_with(kTrace));
        CHECK(std::find(seen.begin(), seen.end(), received.body) == seen.end());
        seen.push_back(received.body);
    }
    CHECK(spans.all.size() == 12);
    CHECK(spans.all.back().parentId == 0);
}

Future<Void> passOnWithoutSample() {
    Spans spans;
    trace::Tracer tracer(spans, trace::Sampler::never());
    ServerOptions options;
    options.tracer = &tracer;
    HttpServer second(tellTrace);
    Client client;
    HttpServer first(
        Handler([&](Request request) { return askOther(std::move(request), &client, urlOf(second, "/")); }), options);
    Reference<Connection> connection = co_await first.connect();
    Received received = co_await ask(connection, get("/", std::string("traceparent: ") + kParent + "\r\n"));
    CHECK(received.body.starts_with(std::string("00-") + kTrace));
    CHECK(received.body.ends_with("-00 none"));
    Future<std::string> asking = bodyOf(client.get(urlOf(second, "/")));
    std::string text = co_await std::move(asking);
    CHECK(text == "none none"); // a request without a trace
    CHECK(spans.all.empty());
}

Future<Void> tellErrors() {
    Spans spans;
    trace::Tracer tracer(spans);
    ServerMetrics metrics({.accessLog = true});
    ServerOptions options;
    options.tracer = &tracer;
    metrics.watch(options);
    Handler handler = [](Request request) -> Future<Response> {
        if (request.target == "/never")
            co_await Never();
        trace::spanOf(request.context).attribute("user", "Ann").event("read");
        throw io_error();
    };
    HttpServer server(handler, options);
    TraceMemory log;
    Received received = co_await ask(co_await server.connect(), get("/fails?secret=1"));
    CHECK(received.status == 500);
    {
        Reference<Connection> client = co_await server.connect();
        co_await client->write(Bytes(StringRef(get("/never"))));
        co_await delay(0.2);
        client->abort();
    }
    co_await delay(0.2);
    REQUIRE(spans.all.size() == 2);
    CHECK(spans.all[0].name == "GET");
    CHECK(spans.all[0].status == SpanStatus::Error);
    CHECK(valueOf(spans.all[0], "error.type") == "500");
    CHECK(valueOf(spans.all[0], "user") == "Ann");
    CHECK(spans.all[0].events.at(0).name == "read");
    CHECK(spans.all[1].status == SpanStatus::Error);
    CHECK(valueOf(spans.all[1], "http.response.status_code") == "none");
    std::string trace = R"("Trace":")" + spans.all[0].context.traceId.toString();
    auto isLogged = [&](std::string_view type, std::string_view path) {
        return std::any_of(log.lines().begin(), log.lines().end(), [&](std::string const& line) {
            return line.find(type) != line.npos && line.find(trace) != line.npos && line.find(path) != line.npos;
        });
    };
    CHECK(isLogged(R"("Type":"HttpRequest")", R"("Target":"/fails?secret=1")"));
    CHECK(isLogged(R"("Type":"ErrorDropped")", R"("Method":"GET","Path":"/fails",)"));
    // A client gets an error for its request.
    Client client({.connectTimeout = 1});
    trace::Span root = tracer.begin("root");
    Request request;
    request.context = root.context();
    request.method = "BREW";
    Future<std::string> asking = bodyOf(client.send(std::move(request), "http://127.0.0.1:1/"));
    ErrorOr<std::string> failed = co_await tryGet(std::move(asking));
    CHECK(failed.isError());
    REQUIRE(spans.all.size() == 3);
    CHECK(spans.all[2].name == "HTTP");
    CHECK(valueOf(spans.all[2], "http.request.method") == "_OTHER");
    CHECK(spans.all[2].status == SpanStatus::Error);
    CHECK(spans.all[2].events.at(0).name == "exception");
    // The line of an error has the path also if nothing else wants it.
    ServerOptions plain;
    plain.tracer = &tracer;
    HttpServer other(handler, plain);
    Received refused = co_await ask(co_await other.connect(), get("/other?secret=2"));
    CHECK(refused.status == 500);
    trace = R"("Trace":")" + spans.all.back().context.traceId.toString();
    CHECK(isLogged(R"("Type":"ErrorDropped")", R"("Method":"GET","Path":"/other",)"));
}

} // namespace

TEST_CASE("request span: a trace goes from a client through servers to the next one") {
    onEachNetwork([] { return followThroughTwoServers(false); });
}

TEST_CASE("request span: a trace goes through HTTP/2") {
    if (flow::net::http::detail::kSpeaksHttp2)
        onSimulatedNetwork([] { return followThroughTwoServers(true); });
}

TEST_CASE("request span: a broken traceparent begins a new trace, and is no error") {
    onSimulatedNetwork(readFields);
}

TEST_CASE("request span: without a sample nothing is recorded, and the next server is told so") {
    onSimulatedNetwork(passOnWithoutSample);
}

TEST_CASE("request span: errors, ends of connections, and the access log") {
    onSimulatedNetwork(tellErrors);
}

} // namespace request_span_test
