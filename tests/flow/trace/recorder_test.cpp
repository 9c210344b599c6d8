#include "flow/trace/recorder.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <unistd.h>

using namespace flow;

// What the bytes mean is checked by tests/tools/check_perfetto.py.

namespace {

Future<Void> recordedActor(int times) {
    for (int i = 0; i < times; ++i)
        co_await delay(0.0001);
    trace::mark("nearly done");
}
Future<Void> failingActor() {
    co_await delay(0);
    throw operation_failed();
}

bool has(std::string const& bytes, char const* text) {
    return bytes.find(text) != std::string::npos;
}

} // namespace

TEST_CASE("recorder: steps, timers, errors, cancels and marks are in the trace") {
    RealLoop loop;
    trace::Recorder recorder(loop, {.name = "the loop of this test"});
    loop.run(recordedActor(3));
    CHECK_THROWS_AS(loop.run(failingActor()), Error);
    {
        Future<Void> dropped = recordedActor(1000);
    }
    std::string bytes = recorder.bytes();
    for (char const* text :
         {"recordedActor", "timer", "nearly done", "error operation_failed in ", "the loop of this test"})
        CHECK_MESSAGE(has(bytes, text), text);
    CHECK(has(bytes, "cancel "));
    CHECK(recorder.bytes().size() == doctest::Approx(bytes.size()).epsilon(0.01)); // it goes on
}

TEST_CASE("recorder: the ring keeps what is newest, in bounded memory") {
    RealLoop loop;
    trace::Recorder recorder(loop, {.bytes = 64 * 32});
    trace::mark("an old mark");
    for (int i = 0; i < 1000; ++i)
        loop.run(delay(0));
    trace::mark("a new mark");
    std::string bytes = recorder.bytes();
    CHECK(!has(bytes, "an old mark"));
    CHECK(has(bytes, "a new mark"));
    CHECK(bytes.size() < 64 * 200);
}

TEST_CASE("recorder: what is over is recorded no more") {
    RealLoop loop;
    {
        auto first = std::make_unique<trace::Recorder>(loop);
        trace::Recorder second(loop);
        trace::mark("for both");
        CHECK(has(first->bytes(), "for both"));
        first.reset();
        trace::mark("for one");
        CHECK(has(second.bytes(), "for both"));
        CHECK(has(second.bytes(), "for one"));
    }
    trace::mark("for none");
    loop.run(delay(0));
}

TEST_CASE("recorder: begins and ends within a step") {
    RealLoop loop;
    std::string bytes;
    auto recordsItself = [&]() -> Future<Void> {
        co_await delay(0);
        auto recorder = std::make_unique<trace::Recorder>(loop);
        co_await recordedActor(1);
        co_await delay(0);
        bytes = recorder->bytes();
        recorder.reset();
        co_await delay(0);
    };
    loop.run(recordsItself());
    CHECK(has(bytes, "recordedActor"));
    CHECK(has(bytes, "timer"));
}

TEST_CASE("recorder: a simulated loop gives the same bytes each time but for what tells traces apart") {
    auto record = [] {
        SimLoop loop;
        trace::Recorder recorder(loop);
        loop.run(recordedActor(10));
        return recorder.bytes().size();
    };
    CHECK(record() == record());
}

TEST_CASE("recorder: writes a file, and says if it cannot") {
    RealLoop loop;
    trace::Recorder recorder(loop);
    loop.run(recordedActor(1));
    auto saidOf = [&](char const* path) -> std::string {
        try {
            recorder.writeTo(path);
        } catch (Error const& error) {
            return error.what();
        }
        return "";
    };
    CHECK(saidOf("/nowhere/at/all") == "open \"/nowhere/at/all\": No such file or directory");
    CHECK(saidOf("/dev/full") == "write \"/dev/full\": No space left on device");
    std::string path = "recorder_test." + std::to_string(::getpid()) + ".pftrace";
    recorder.writeTo(path);
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    CHECK(has(text.str(), "recordedActor"));
    std::remove(path.c_str());
}
