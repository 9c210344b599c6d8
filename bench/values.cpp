// What else programs are made of, each used once in a pass: callbacks, memory, bytes, traces, metrics, errors with
// names, clocks.

#include "bench/run.h"
#include "flow/base/assert_macros.h"
#include "flow/core/callback.h"
#include "flow/core/future.h"
#include "flow/core/stream.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/arena.h"
#include "flow/memory/binary.h"
#include "flow/memory/reference.h"
#include "flow/memory/standalone.h"
#include "flow/memory/vector_ref.h"
#include "flow/sim/sim_loop.h"
#include "flow/trace/code_probe.h"
#include "flow/trace/metrics.h"
#include "flow/trace/sink.h"
#include "flow/trace/trace_event.h"
#include "flow/trace/tracer.h"

#include <string_view>

namespace {

using namespace flow;
using bench::Run;

FLOW_ERROR(benchmark_refused, 10001, "the benchmark's own error");

struct Nothing {};

template <class State, bool (*use)(State&)>
void repeat(Run* run) {
    SimLoop loop;
    State state;
    while (run->next())
        run->expect(use(state));
}

struct Told final : Callback<int>, SingleCallback<int> {
    void fire(int const&) override { told = true; }
    void fire(int&&) override { told = true; }
    bool told = false;
};

bool tellOfFuture(Nothing&) {
    Told told;
    Promise<int> promise;
    promise.getFuture().addCallbackAndClear(static_cast<Callback<int>*>(&told));
    promise.send(1);
    return told.told;
}

struct Numbers {
    PromiseStream<int> stream;
};

bool tellOfStream(Numbers& numbers) {
    Told told;
    numbers.stream.getFuture().addCallbackAndClear(static_cast<SingleCallback<int>*>(&told));
    numbers.stream.send(1);
    return told.told;
}

bool takeFromArena(Nothing&) {
    Arena arena;
    auto* bytes = new (arena) std::uint8_t[40];
    flow::Benchmark::keep(bytes);
    return bytes != nullptr;
}

bool copyText(Nothing&) {
    Standalone<StringRef> key = "a key of twenty byte"_sr;
    flow::Benchmark::keep(key);
    return key.size() == 20;
}

bool fillVector(Nothing&) {
    Standalone<VectorRef<int>> numbers;
    for (int i = 0; i < 8; ++i)
        numbers.push_back(numbers.arena(), i);
    flow::Benchmark::keep(numbers);
    return numbers.size() == 8;
}

bool writeBytes(Nothing&) {
    BinaryWriter writer{Unversioned()};
    writer << std::int64_t{7} << "a key of twenty byte"_sr << true;
    Standalone<StringRef> bytes = writer.toValue();
    flow::Benchmark::keep(bytes);
    return bytes.size() == 8 + 4 + 20 + 1;
}

struct Written {
    Standalone<StringRef> bytes = [] {
        BinaryWriter writer{Unversioned()};
        writer << std::int64_t{7} << "a key of twenty byte"_sr << true;
        return writer.toValue();
    }();
};

bool readBytes(Written& written) {
    BinaryReader reader(written.bytes, Unversioned());
    std::int64_t number = 0;
    StringRef text;
    bool flag = false;
    reader >> number >> text >> flag;
    return flag && text.size() == 20;
}

struct Counted : ReferenceCounted<Counted> {};

bool refer(Nothing&) {
    Reference<Counted> first = makeReference<Counted>();
    Reference<Counted> second = first;
    flow::Benchmark::keep(second);
    return first == second;
}

bool draw(Nothing&) {
    return deterministicRandom()->randomInt(0, 100) < 100;
}

bool traceNowhere(Nothing&) {
    TraceEvent("Benchmark").detail("Number", 7);
    return true;
}

struct Discard final : TraceSink {
    Discard() : TraceSink(SevInfo) {}
    ~Discard() override = default;
    void write(std::string_view line, Severity) override { bytes += line.size(); }
    void flush() override {}
    std::size_t bytes = 0;
};

bool trace(Discard& sink) {
    TraceEvent("Benchmark").detail("Number", 7).detail("Text", "abc");
    return sink.bytes != 0;
}

struct OtherArea {
    TraceMemory sink{"info,net=debug"};
};

/// An event of SevDebug, which another area writes.
bool traceOtherArea(OtherArea& other) {
    TraceEvent(SevDebug, "Benchmark").detail("Number", 7);
    return other.sink.lines().empty();
}

/// A file that costs the kernel nothing.
struct NullFile {
    TraceFile file{"/dev/null"};
};

bool traceToFile(NullFile& sink) {
    TraceEvent("Benchmark").detail("Number", 7).detail("Text", "abc");
    flow::Benchmark::keep(sink);
    return true;
}

struct NoReceiver final : trace::SpanReceiver {
    void take(trace::SpanData&&) noexcept override {}
};

/// Requests of traces that are not sampled.
struct Unsampled {
    NoReceiver receiver;
    trace::Tracer tracer{receiver, trace::Sampler::ratio(0).parentBased()};
    std::string_view parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
};

bool beginTrace(Unsampled& all) {
    RequestContext here = all.tracer.open({}, trace::SpanKind::Server, nullptr, {});
    flow::Benchmark::keep(here);
    return !trace::spanOf(here).isRecording();
}

bool beginBelowTraceparent(Unsampled& all) {
    flow::Benchmark::keep(all);
    std::optional<trace::SpanContext> parent = trace::SpanContext::parse(all.parent);
    RequestContext here = all.tracer.open({}, trace::SpanKind::Server, &*parent, {});
    flow::Benchmark::keep(here);
    return !trace::spanOf(here).isRecording();
}

bool probe(Nothing&) {
    FLOW_CODE_PROBE(true, "a benchmark has run");
    return true;
}

bool throwNamed(Nothing&) {
    try {
        throw benchmark_refused();
    } catch (Error const& error) {
        return error.code() == error_code_benchmark_refused;
    }
}

bool assertNear(Nothing&) {
    double volatile number = 1.5; // with gcc DoNotOptimize() would lose it
    FLOW_ASSERT_NEAR(number, 1.5, 0.01);
    return true;
}

template <double (*clock)()>
bool readClock(Nothing&) {
    return clock() > 0;
}

struct Metered {
    metrics::Counter counter{"counted_total", "What was counted.", {{"kind", "order"}}};
    metrics::Gauge gauge{"open", "What is open."};
    metrics::Histogram histogram{"seconds", "How long it took.", metrics::powers(0.001, 2, 12)};
};

bool count(Metered& all) {
    all.counter.add();
    return all.counter.value() != 0;
}

bool gauge(Metered& all) {
    all.gauge.set(3);
    flow::Benchmark::keep(all);
    return all.gauge.value() == 3;
}

bool observe(Metered& all) {
    all.histogram.observe(0.5);
    return all.histogram.sum() != 0;
}

bool writeMetrics(Metered&) {
    return !metrics::text().empty();
}

const bench::PeerStyle style(bench::kLibrary, {
                                                  {"Callback", repeat<Nothing, tellOfFuture>},
                                                  {"SingleCallback", repeat<Numbers, tellOfStream>},
                                                  {"Arena", repeat<Nothing, takeFromArena>},
                                                  {"Standalone", repeat<Nothing, copyText>},
                                                  {"VectorRef", repeat<Nothing, fillVector>},
                                                  {"BinaryWriter", repeat<Nothing, writeBytes>},
                                                  {"BinaryReader", repeat<Written, readBytes>},
                                                  {"Reference", repeat<Nothing, refer>},
                                                  {"deterministicRandom", repeat<Nothing, draw>},
                                                  {"TraceEvent_off", repeat<Nothing, traceNowhere>},
                                                  {"TraceEvent", repeat<Discard, trace>},
                                                  {"TraceEvent_other_area", repeat<OtherArea, traceOtherArea>},
                                                  {"TraceEvent_file", repeat<NullFile, traceToFile>},
                                                  {"Tracer_not_sampled", repeat<Unsampled, beginTrace>},
                                                  {"Tracer_traceparent", repeat<Unsampled, beginBelowTraceparent>},
                                                  {"CODE_PROBE", repeat<Nothing, probe>},
                                                  {"FLOW_ERROR", repeat<Nothing, throwNamed>},
                                                  {"ASSERT_NEAR", repeat<Nothing, assertNear>},
                                                  {"wallTime", repeat<Nothing, readClock<wallTime>>},
                                                  {"machineTime", repeat<Nothing, readClock<machineTime>>},
                                                  {"Counter", repeat<Metered, count>},
                                                  {"Gauge", repeat<Metered, gauge>},
                                                  {"Histogram", repeat<Metered, observe>},
                                                  {"metrics_text", repeat<Metered, writeMetrics>},
                                              });

} // namespace
