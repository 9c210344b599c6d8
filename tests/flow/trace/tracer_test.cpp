#include "flow/trace/tracer.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/trace/trace_event.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/plain_event.h"
#include "tests/flow/support/throws.h"

#include <doctest/doctest.h>

#include <limits>

using namespace flow;
using namespace flow::trace;
using namespace flow::test;

namespace tracer_test {
namespace {

struct Spans final : SpanReceiver {
    void take(SpanData&& span) noexcept override { all.push_back(std::move(span)); }
    std::vector<SpanData> all;
};

SpanContext parentOf(bool isSampled) {
    SpanContext parent;
    parent.traceId = UID(1, std::numeric_limits<std::uint64_t>::max());
    parent.spanId = 7;
    parent.isSampled = isSampled;
    parent.state = "a=1";
    return parent;
}

Future<Void> below(RequestContext here) {
    Span span(here, "below", SpanKind::Client);
    co_await delay(0.5);
    Span last(span.context(), "last");
    last.error(timed_out());
}

} // namespace

TEST_CASE("sampler: ratio goes by the trace id, and parentBased() by the parent") {
    SpanContext sampled = parentOf(true), other = parentOf(false);
    CHECK(Sampler::always().samples(&other, other.traceId));
    CHECK_FALSE(Sampler::never().samples(&sampled, sampled.traceId));
    CHECK(Sampler().samples(&sampled, sampled.traceId));
    CHECK_FALSE(Sampler().samples(&other, other.traceId));
    CHECK(Sampler().samples(nullptr, other.traceId));
    Sampler half = Sampler::ratio(0.5);
    CHECK(half.samples(nullptr, UID(5, std::uint64_t(1) << 62)));
    CHECK_FALSE(half.samples(nullptr, UID(5, std::uint64_t(1) << 63)));
    CHECK_FALSE(half.samples(&sampled, sampled.traceId));
    CHECK(half.parentBased().samples(&sampled, sampled.traceId));
    CHECK(Sampler::ratio(1).samples(nullptr, sampled.traceId));
    CHECK_FALSE(Sampler::ratio(0).samples(nullptr, UID(1, 0)));
    DeterministicRandom random(1);
    int count = 0;
    for (int i = 0; i < 10'000; ++i)
        count += Sampler::ratio(0.25).samples(nullptr, random.randomUniqueID());
    CHECK(count > 2300);
    CHECK(count < 2700);
}

TEST_CASE("sampler: a wrong ratio is refused with a sentence") {
    for (double wrong : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
        CHECK_THROWS_AS(Sampler::ratio(wrong), Error);
    try {
        Sampler::ratio(2);
    } catch (Error& error) {
        CHECK(std::string(error.what()).find("ratio") != std::string::npos);
        CHECK(std::string(error.what()).find("from 0 to 1") != std::string::npos);
    }
}

TEST_CASE("span: children have the trace of their parent, their own times, and the error") {
    Balance balance;
    SimLoop loop;
    Spans spans;
    Tracer tracer(spans);
    auto body = [&]() -> Future<Void> {
        Span root = tracer.begin("root", SpanKind::Server, parentOf(true));
        root.attribute("text", "a").attribute("number", 7u).attribute("real", 0.5).attribute("flag", true);
        root.attribute("text", "b").event("half", {{"part", 1}});
        Future<Void> working = below(root.context());
        co_await std::move(working);
        co_await delay(1.0);
    };
    loop.run(body());
    REQUIRE(spans.all.size() == 3);
    SpanData const &last = spans.all[0], &middle = spans.all[1], &root = spans.all[2];
    CHECK(root.parentId == 7);
    CHECK(middle.parentId == root.context.spanId);
    CHECK(last.parentId == middle.context.spanId);
    for (SpanData const& each : spans.all) {
        CHECK(each.context.traceId == parentOf(true).traceId);
        CHECK(each.context.state == "a=1");
        CHECK(each.context.isSampled);
    }
    CHECK(root.end - root.begin == 1'500'000'000);
    CHECK(middle.end - middle.begin == 500'000'000);
    CHECK(root.begin == std::int64_t(1577836800) * 1'000'000'000);
    CHECK(root.kind == SpanKind::Server);
    CHECK(middle.kind == SpanKind::Client);
    REQUIRE(root.attributes.size() == 4);
    CHECK(std::get<std::string>(root.attributes[0].value) == "b");
    CHECK(std::get<std::int64_t>(root.attributes[1].value) == 7);
    CHECK(std::get<double>(root.attributes[2].value) == 0.5);
    CHECK(std::get<bool>(root.attributes[3].value));
    CHECK(root.events.at(0).name == "half");
    CHECK(root.status == SpanStatus::Unset);
    CHECK(last.status == SpanStatus::Error);
    CHECK(last.events.at(0).name == "exception");
    CHECK(std::get<std::string>(last.events.at(0).attributes.at(0).value) == "timed_out");
}

TEST_CASE("span: without a sample nothing is recorded, and the ids are there to be passed on") {
    Balance balance;
    Spans spans;
    Tracer tracer(spans);
    Span root = tracer.begin("root", SpanKind::Server, parentOf(false));
    CHECK_FALSE(root.isRecording());
    Span child(root.context(), "child");
    CHECK_FALSE(child.attribute("a", 1).event("b").error("c").isRecording());
    SpanContext const& context = child.context().find(kCurrentSpan)->context;
    CHECK(context.traceId == parentOf(false).traceId);
    CHECK(context.spanId != 7);
    CHECK_FALSE(context.isSampled);
    CHECK_FALSE(Span(RequestContext(), "no trace").isRecording());
    root = Span();
    CHECK(spans.all.empty());
}

TEST_CASE("span: other values of the request stay, and the log has the trace id") {
    Spans spans;
    Tracer tracer(spans);
    Span root = tracer.begin("root", SpanKind::Internal, parentOf(true), RequestContext().with(kRequestId, "a81"));
    Span child(root.context(), "child");
    TraceMemory log;
    TraceEvent("Paid").request(child.context());
    CHECK(plainEvent(log.lines().at(0)) ==
          R"({"Severity":10,"Type":"Paid","Trace":"0000000000000001ffffffffffffffff","Request":"a81"})");
}

TEST_CASE("span: nothing is added after the end, beyond the limit, or without the tracer") {
    Balance balance;
    Spans spans;
    {
        std::optional<Tracer> tracer(std::in_place, spans, Sampler::always());
        Span first = tracer->begin("first"), second = tracer->begin("second");
        for (int i = 0; i < 130; ++i)
            first.attribute("a" + std::to_string(i), i).event("e");
        first.end();
        first.attribute("late", 1).event("late").error("late").end();
        first.name("late");
        Span moved = std::move(second);
        tracer.reset();
        CHECK_FALSE(moved.isRecording());
        CHECK_FALSE(Span(moved.context(), "child").isRecording());
    }
    REQUIRE(spans.all.size() == 1);
    CHECK(spans.all[0].name == "first");
    CHECK(spans.all[0].attributes.size() == SpanRef::kMost);
    CHECK(spans.all[0].droppedAttributes == 2);
    CHECK(spans.all[0].events.size() == SpanRef::kMost);
    CHECK(spans.all[0].droppedEvents == 2);
    CHECK(spans.all[0].status == SpanStatus::Unset);
}

TEST_CASE("span: a cancel ends the span, and is no failure") {
    Balance balance;
    SimLoop loop;
    Spans spans;
    Tracer tracer(spans);
    auto work = [](Span span) -> Future<Void> {
        try {
            co_await Never();
        } catch (Error& error) {
            span.error(error);
            throw;
        }
    };
    Future<Void> working = work(tracer.begin("work"));
    working.cancel();
    REQUIRE(spans.all.size() == 1);
    CHECK(spans.all[0].status == SpanStatus::Unset);
    CHECK(spans.all[0].attributes.at(0).key == "cancelled");
}

TEST_CASE("span: the ids of a simulation come from its seed, and others differ") {
    Spans spans;
    auto idOf = [&] { return Tracer(spans).begin("a").context().find(kCurrentSpan)->context.traceId; };
    UID first, second;
    for (UID* id : {&first, &second}) {
        SimLoop loop;
        setThreadLocalDeterministicRandomSeed(5);
        *id = idOf();
    }
    CHECK(first == second);
    CHECK(idOf() != idOf());
}

} // namespace tracer_test
