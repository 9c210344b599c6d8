// The trace of a request goes with its calls, in a process and from one process to another.
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "net/rpc/service.h"
#include "net/transport.h"
#include "tests/flow/support/balance.h"
#include "tests/net/rpc/two_processes.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace flow;
using namespace flow::net;
using flow::test::TwoProcesses;

namespace call_span_test {
namespace {

using trace::SpanKind;

struct Look {
    using Reply = std::string; // the traceparent and the tracestate of the handler's context
    static constexpr char const* name = "test/look";
    std::string what;
};
struct Plain {
    using Reply = int;
    static constexpr char const* name = "test/plain";
    int number = 0;
};

struct Spans final : trace::SpanReceiver {
    void take(trace::SpanData&& span) noexcept override { all.push_back(std::move(span)); }
    trace::SpanData const& of(SpanKind kind) const {
        auto found = std::find_if(all.begin(), all.end(), [&](auto const& each) { return each.kind == kind; });
        REQUIRE(found != all.end());
        return *found;
    }
    std::vector<trace::SpanData> all;
};

Future<std::string> look(Look look, RequestContext here) {
    co_await delay(0.1);
    if (look.what == "fail")
        throw attribute_not_found();
    trace::CurrentSpan const* current = here.find(trace::kCurrentSpan);
    co_return current ? current->context.traceparent() + " " + current->context.state : "none";
}
Look const kAny{};

int plain(Plain plain) {
    return plain.number + 1;
}

Future<Void> serveIn(trace::Tracer* tracer) {
    rpc::ServeOptions options;
    options.tracer = tracer;
    co_await rpc::serve(rpc::Node::current(), options, look, plain);
}

trace::SpanContext parentOf(bool isSampled) {
    trace::SpanContext parent;
    parent.traceId = UID(1, 2);
    parent.spanId = 7;
    parent.isSampled = isSampled;
    parent.state = "a=1,b=2";
    return parent;
}

} // namespace

TEST_CASE("call span: the server gets the trace of the client, and its handler is a span below") {
    test::Balance balance;
    Spans spans;
    TwoProcesses::run(
        [&]() -> Future<Void> {
            trace::Tracer tracer(spans);
            co_await serveIn(&tracer);
        },
        [&]() -> Future<Void> {
            trace::Tracer tracer(spans);
            Address server = TwoProcesses::server();
            {
                trace::Span root = tracer.begin("root", SpanKind::Internal, parentOf(true));
                std::string seen = co_await rpc::call(server, kAny, root.context());
                CHECK(seen.ends_with("-01 a=1,b=2"));
                REQUIRE(spans.all.size() == 2);
                trace::SpanData const &client = spans.of(SpanKind::Client), &handler = spans.of(SpanKind::Server);
                CHECK(client.name == "test/look");
                CHECK(handler.parentId == client.context.spanId);
                CHECK(handler.context.traceparent() + " a=1,b=2" == seen);
                CHECK(handler.context.traceId == UID(1, 2));
                spans.all.clear();
                Plain request{1};
                int number = co_await rpc::call(server, request, root.context());
                CHECK(number == 2);
                CHECK(spans.of(SpanKind::Server).name == "test/plain");
                spans.all.clear();
                Look fail{"fail"};
                ErrorOr<std::string> failed = co_await rpc::tryCall(server, fail, root.context());
                CHECK(failed.isError(error_code_attribute_not_found));
                CHECK(spans.of(SpanKind::Client).status == trace::SpanStatus::Error);
                CHECK(spans.of(SpanKind::Server).status == trace::SpanStatus::Error);
            }
            spans.all.clear();
            std::string seen = co_await rpc::call(server, kAny); // a trace of its own
            CHECK(seen.ends_with("-01 "));
            CHECK(spans.of(SpanKind::Server).parentId == 0);
            CHECK(spans.all.size() == 1);
        });
}

TEST_CASE("call span: without a sample or a tracer the ids go on, and calls without a trace send no frame more") {
    test::Balance balance;
    Spans spans;
    TwoProcesses::run([] { return serveIn(nullptr); },
                      [&]() -> Future<Void> {
                          trace::Tracer tracer(spans);
                          Address server = TwoProcesses::server();
                          trace::Span root = tracer.begin("root", SpanKind::Internal, parentOf(false));
                          std::string seen = co_await rpc::call(server, kAny, root.context());
                          CHECK(seen.starts_with("00-00000000000000010000000000000002-"));
                          CHECK(seen.ends_with("-00 a=1,b=2"));
                          auto const& counters = rpc::Node::current().counters();
                          std::uint64_t before = counters.framesSent;
                          seen = co_await rpc::call(server, kAny);
                          CHECK(seen == "none");
                          CHECK(counters.framesSent - before == 1);
                          seen = co_await rpc::call(server, kAny, RequestContext().with(kRequestId, "a81"));
                          CHECK(seen == "none");
                          CHECK(counters.framesSent - before == 2);
                          CHECK(spans.all.empty());
                      });
}

TEST_CASE("call span: a call that is sent again after the end of its connection has its trace again") {
    test::Balance balance;
    Spans spans;
    TwoProcesses::run([] { return serveIn(nullptr); },
                      [&]() -> Future<Void> {
                          trace::Tracer tracer(spans);
                          trace::Span root = tracer.begin("root", SpanKind::Internal, parentOf(true));
                          Future<std::string> asking = rpc::call(TwoProcesses::server(), kAny, root.context());
                          co_await delay(0.05);
                          TwoProcesses::killServer();
                          co_await delay(1.0);
                          TwoProcesses::restartServer();
                          std::string seen = co_await std::move(asking);
                          CHECK(seen.starts_with("00-00000000000000010000000000000002-"));
                          Future<std::string> dropped = rpc::call(TwoProcesses::server(), kAny, root.context());
                          co_await delay(0.05);
                          dropped.cancel();
                          REQUIRE(spans.all.size() == 2);
                          CHECK(spans.all[1].status == trace::SpanStatus::Unset);
                      });
}

TEST_CASE("call span: a call of the same process, on sockets") {
    test::Balance balance;
    Spans spans;
    RealLoop loop;
    loop.run([](Spans* spans) -> Future<Void> {
        rpc::Node node;
        Future<Void> listening = node.bind(Address(0x7F000001, 0), Address(0x7F000001, 0));
        trace::Tracer tracer(*spans);
        Future<Void> serving = rpc::serve(node, {.tracer = &tracer}, look);
        trace::Span root = tracer.begin("root");
        RequestContext here = root.context().with(kRequestId, "a81");
        std::string seen = co_await rpc::call(node.getLocalAddress(), kAny, here);
        CHECK(spans->of(SpanKind::Server).parentId == spans->of(SpanKind::Client).context.spanId);
    }(&spans));
}

namespace {

std::string traceFrame(std::string message) {
    std::string out;
    std::size_t begin = beginFrame(out, UID(kWellKnown, kTraceOfCall), 0);
    out += message;
    finishFrame(out, begin, true);
    return out;
}
std::string lookFrame(std::uint64_t reply) {
    ObjectWriter writer(AssumeVersion(currentProtocolVersion()));
    writer << rpc::Call<Look>::file_identifier;
    writer.writeRecord([&] {
        writer << Look();
        writer.writeRecord([&] { writer << reply; });
    });
    std::string out;
    std::size_t begin = beginFrame(out, rpc::Call<Look>::at({}).token, reply);
    out += writer.toString().toString();
    finishFrame(out, begin, true);
    return out;
}

} // namespace

TEST_CASE("call span: frames with a wrong trace, or with that of another call, end nothing") {
    test::Balance balance;
    std::vector<std::string> seen;
    RealLoop loop;
    loop.run([](std::vector<std::string>* seen) -> Future<Void> {
        rpc::Node node;
        Future<Void> listening = node.bind(Address(0x7F000001, 0), Address(0x7F000001, 0));
        auto note = [seen](Look, RequestContext here) {
            trace::CurrentSpan const* current = here.find(trace::kCurrentSpan);
            seen->push_back(current ? current->context.traceparent() : "none");
            return std::string();
        };
        Future<Void> serving = rpc::serve(node, note);
        Reference<Connection> connection = co_await net::transport().connect(node.getLocalAddress(), {});
        std::string const number("\x05\0\0\0\0\0\0\0", 8), other("\x06\0\0\0\0\0\0\0", 8);
        std::string const parent = parentOf(true).traceparent();
        std::string all = greetingBytes({currentProtocolVersion(), true});
        for (std::string const& message : {std::string(), std::string("\x05"), number, number + "x", number + " ",
                                           number + parent + "-", other + parent, number + "-" + std::string(5000, '='),
                                           number + parent, number + parent + " ?", number + parent + " a=1"})
            all += traceFrame(message) + lookFrame(5);
        all += lookFrame(5);
        co_await connection->write(StringRef(all));
        while (seen->size() < 12)
            co_await delay(0.001);
    }(&seen));
    for (std::size_t i = 0; i < seen.size(); ++i)
        CHECK(seen[i] == (i >= 8 && i < 11 ? parentOf(true).traceparent() : "none"));
}

} // namespace call_span_test
