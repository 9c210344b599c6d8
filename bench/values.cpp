// What else programs are made of, each used once in a pass: callbacks, memory, bytes, traces.

#include "bench/run.h"

namespace {

using namespace flow;
using bench::Run;

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
    benchmark::DoNotOptimize(bytes);
    return bytes != nullptr;
}

bool copyText(Nothing&) {
    Standalone<StringRef> key = "a key of twenty byte"_sr;
    benchmark::DoNotOptimize(key);
    return key.size() == 20;
}

bool fillVector(Nothing&) {
    Standalone<VectorRef<int>> numbers;
    for (int i = 0; i < 8; ++i)
        numbers.push_back(numbers.arena(), i);
    benchmark::DoNotOptimize(numbers);
    return numbers.size() == 8;
}

bool writeBytes(Nothing&) {
    BinaryWriter writer{Unversioned()};
    writer << std::int64_t{7} << "a key of twenty byte"_sr << true;
    Standalone<StringRef> bytes = writer.toValue();
    benchmark::DoNotOptimize(bytes);
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
    benchmark::DoNotOptimize(second);
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

bool probe(Nothing&) {
    CODE_PROBE(true, "a benchmark has run");
    return true;
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
                                                  {"CODE_PROBE", repeat<Nothing, probe>},
                                              });

} // namespace
