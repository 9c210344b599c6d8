// Trace events, injected faults, the stack, temporary files and knobs under their old names.
#include "flow/BooleanParam.h"
#include "flow/FaultInjection.h"
#include "flow/IAsyncFile.h"
#include "flow/Knobs.h"
#include "flow/Platform.h"
#include "flow/Trace.h"
#include "flow/UnitTest.h"
#include "flow/flow.h"
#include "flow/sim/sim_loop.h"
#include <csignal>
#include <sys/wait.h>
#include "flow/actorcompiler.h" // This must be the last #include.

enum Color { Red, Green };
FORMAT_TRACEABLE(Color, "color %d");

static bool has(std::string const& text, std::string const& part) {
    return text.find(part) != std::string::npos;
}

ACTOR Future<Void> traced(Future<Void> go) {
    wait(go);
    TraceEvent("Here").detail("A", 1).backtrace();
    return Void();
}
ACTOR Future<Void> outer(Future<Void> go) {
    wait(traced(go));
    return Void();
}

static void describe(BaseTraceEvent& event) {
    event.detail("Color", Green);
}

static void events() {
    flow::TraceMemory trace;
    flow::SimLoop simulation;
    Promise<Void> go;
    Future<Void> all = outer(go.getFuture());
    go.send(Void());
    ASSERT(all.isReady() && trace.lines().size() == 1);
    ASSERT(has(trace.lines()[0], R"("A":1,"Backtrace":"addr2line -e /)"));
    std::string chain = trace.lines()[0].substr(trace.lines()[0].find(R"("AsyncStack":")"));
    ASSERT(chain.find("traced") < chain.find(" runs\\n  awaited by ") && has(chain, "outer"));

    trace.clear();
    for (int i = 0; i < 200; ++i)
        TraceEvent("Sampled").sample(0.5).detail("I", i);
    ASSERT(trace.lines().size() > 50 && trace.lines().size() < 150 && has(trace.lines()[0], R"("SampleRate":0.5,"I":)"));
    trace.clear();
    TraceEvent("Off").sample(0, false).detail("A", 1);
    {
        TraceEvent event(SevWarn, "Described");
        describe(event);
    }
    ASSERT(trace.lines().size() == 1 && has(trace.lines()[0], R"("Color":"color 1")"));
    TraceEvent never;
    never.detail("A", 1).log();
    ASSERT(trace.lines().size() == 1 && selectTraceFormatter("json") && selectTraceClockSource("now"));
    ASSERT(trace.lines().size() == 1 && validateTraceFormat("json") && validateTraceClockSource("now"));
    ASSERT(!validateTraceFormat("xml") && !selectTraceFormatter("xml") && !selectTraceClockSource("realtime"));
    ASSERT(trace.lines().size() == 3 && has(trace.lines()[1], R"("UnrecognizedTraceFormat","Format":"xml")"));
    ASSERT(has(trace.lines()[2], R"("UnrecognizedTraceClockSource","Source":"realtime")"));
}

static void traceFile() {
    platform::TmpFile place("/tmp ");
    std::string name = basename(place.getFileName());
    ASSERT(!traceFileIsOpen() && place.destroyFile());
    openTraceFile(NetworkAddress(), TRACE_DEFAULT_ROLL_SIZE, TRACE_DEFAULT_MAX_LOGS_SIZE, "/tmp", name, "first");
    ASSERT(traceFileIsOpen());
    addUniversalTraceField("Zone", "a");
    TraceEvent("One").detail("N", 1);
    setTraceLogGroup("second");
    TraceEvent("Two");
    closeTraceFile();
    ASSERT(!traceFileIsOpen());
    std::string lines = readFileBytes("/tmp/" + name + ".json", 10000);
    for (std::size_t at; (at = lines.find("\"DateTime\"")) != lines.npos;)
        lines.erase(at, lines.find("\"Severity\"", at) - at);
    ASSERT(deleteFile("/tmp/" + name + ".json"));
    ASSERT_EQ(lines, "{\"Severity\":10,\"Type\":\"One\",\"N\":1,\"LogGroup\":\"first\",\"Zone\":\"a\"}\n"
                     "{\"Severity\":10,\"Type\":\"Two\",\"LogGroup\":\"second\",\"Zone\":\"a\"}\n");
}

/// Every place is one where something rare happens.
struct Always final : flow::BuggifySource {
    bool buggify(char const*, unsigned, double) override { return true; }
    double const* findKnob(std::string const&) const override { return nullptr; }
};

static int readPage() {
    try {
        INJECT_FAULT(io_error, "readPage");
    } catch (Error& e) {
        return e.isInjectedFault() ? e.code() : -1;
    }
    return SHOULD_INJECT_FAULT("answer");
}

static void faults() {
    flow::TraceMemory trace;
    ASSERT(faultInjectionActivated && readPage() == 0 && trace.lines().empty());
    Always always;
    flow::setBuggifySource(&always);
    ASSERT_EQ(readPage(), error_code_io_error);
    ASSERT(SHOULD_INJECT_FAULT("answer") && trace.lines().size() == 2);
    ASSERT(has(trace.lines()[0], R"("Severity":20,"Type":"FaultInjected","Context":"readPage","File":")"));
    ASSERT(has(trace.lines()[0], R"("ErrorCode":1510)") && has(trace.lines()[1], R"("Context":"answer")"));
    enableFaultInjection(false);
    ASSERT(readPage() == 0 && trace.lines().size() == 2);
    enableFaultInjection(true);
    flow::setBuggifySource(nullptr);
}

static int callbacks = 0;

/// How a process ends in which the signal comes, and what it says before.
static std::pair<int, std::string> endBy(int signal) {
    int ends[2];
    ASSERT(pipe(ends) == 0);
    fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        registerCrashHandlerCallback([] { printf("callback %d\n", ++callbacks); });
        registerCrashHandlerCallback([] { printf("callback %d\n", ++callbacks); });
        registerCrashHandler();
        flow::TraceFile trace("/dev/stdout");
        raise(signal);
        _exit(99);
    }
    close(ends[1]);
    std::string said;
    for (char text[4096]; ssize_t size = read(ends[0], text, sizeof text);)
        said.append(text, static_cast<size_t>(size));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return { WIFSIGNALED(status) ? WTERMSIG(status) : -1, said };
}

static void crashes() {
    auto [signal, said] = endBy(SIGFPE);
    ASSERT(signal == SIGFPE && has(said, "callback 1\ncallback 2\n"));
    ASSERT(has(said, "SIGNAL: Floating point exception (8)\nTrace: addr2line -e /"));
    ASSERT(has(said, R"("Severity":40,"Type":"Crash","Signal":8,"Name":"Floating point exception","Trace":"addr2line)"));
    auto [user, saidByUser] = endBy(SIGUSR2);
    ASSERT(user == SIGUSR2 && has(saidByUser, "SIGNAL: User defined signal 2 (12)\n") && !has(saidByUser, "Trace: "));
    ASSERT(has(saidByUser, R"("Severity":10,"Type":"ProcessTerminated")"));
}

static void stack() {
    void* addresses[30];
    size_t count = platform::raw_backtrace(addresses, 30);
    ASSERT(count > 1 && count < 30);
    std::string command = platform::format_backtrace(addresses, static_cast<int>(count));
    ASSERT(has(command, "addr2line -e /") && has(platform::get_backtrace(), " -p -C -f -i 0x"));
}

static void temporaryFiles() {
    std::string name;
    {
        platform::TmpFile file, other("/tmp", "mine");
        name = file.getFileName();
        ASSERT(fileExists(name) && fileSize(name) == 0 && basename(name).starts_with("fdbtmp-"));
        ASSERT(other.getFileName().starts_with("/tmp/mine-"));
        uint8_t bytes[10];
        file.write(reinterpret_cast<uint8_t const*>("hello"), 5);
        file.append(reinterpret_cast<uint8_t const*>(", you"), 5);
        ASSERT(file.read(bytes, 10) == 10 && std::string(bytes, bytes + 10) == "hello, you");
        file.write(reinterpret_cast<uint8_t const*>("bye"), 3);
        ASSERT(fileSize(name) == 3 && std::abs(static_cast<double>(fileModifiedTime(name) - time(nullptr))) < 100);
        ASSERT(other.destroyFile() && !other.destroyFile());
    }
    ASSERT(!fileExists(name) && fileModifiedTime(name) == 0);
    int code = 0;
    try {
        platform::TmpFile("/tmp/none/of/these");
    } catch (Error& e) {
        code = e.code();
    }
    ASSERT_EQ(code, error_code_io_error);
}

struct ServerKnobs : KnobsImpl<ServerKnobs> {
    int BATCH;
    bool SIMULATED;
    ServerKnobs(Randomize randomize, IsSimulated simulated) { initialize(randomize, simulated); }
    void initialize(Randomize randomize, IsSimulated simulated) {
        initKnob(BATCH, randomize ? 1 : 1000, "BATCH");
        initKnob(SIMULATED, bool(simulated), "SIMULATED");
    }
};

static void knobs() {
    ServerKnobs knobs(Randomize::False, IsSimulated::False);
    ASSERT(knobs.BATCH == 1000 && !knobs.SIMULATED && knobs.setKnob("batch", "50") && knobs.BATCH == 50);
    knobs.reset(Randomize::True, IsSimulated::True);
    ASSERT(knobs.BATCH == 1 && knobs.SIMULATED && knobs.setKnob("batch", "50") && knobs.BATCH == 50);
}

int main() {
    events();
    traceFile();
    faults();
    stack();
    crashes();
    temporaryFiles();
    knobs();
    printf("all\n");
    return 0;
}
