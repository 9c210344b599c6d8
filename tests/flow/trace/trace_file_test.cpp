// The files of TraceFile: when lines are written, rotation, full disks, fork, and MILLRACE_LOG.

#include "flow/base/error.h"
#include "flow/sim/sim_loop.h"
#include "flow/trace/sink.h"
#include "flow/trace/trace_event.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/file_text.h"
#include "tests/flow/support/sanitizers.h"
#include "tests/flow/support/temporary_directory.h"

#include <doctest/doctest.h>

#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace flow;
using flow::test::countOf, flow::test::fileText;

namespace {

struct TraceFolder : test::TemporaryDirectory {
    std::string file(char const* name = "t") const { return path() + '/' + name; }
};

/// Starts this program again with MILLRACE_LOG, for the test case "trace file: with MILLRACE_LOG". Returns the standard
/// error.
std::string runWithLog(std::string const& log, std::string const& path) {
    char program[PATH_MAX] = "";
    CHECK(::readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    std::string command = "MILLRACE_LOG='" + log + "' MILLRACE_TEST_TRACE='" + path + "' '" + program +
                          "' --no-skip --test-case='trace file: with MILLRACE_LOG' 2>&1 >/dev/null";
    std::FILE* output = ::popen(command.c_str(), "r");
    REQUIRE(output);
    std::string text;
    char buffer[4096];
    for (std::size_t size; (size = std::fread(buffer, 1, sizeof buffer, output)) > 0;)
        text.append(buffer, size);
    CHECK(::pclose(output) == 0);
    return text;
}

} // namespace

TEST_CASE("trace file: a line is written soon, while this thread does something else") {
    TraceFolder folder;
    TraceFile trace(folder.file());
    for (int i = 1; i <= 2; ++i) { // twice: the thread that wrote the first line may have ended
        TraceEvent("Waits").detail("Number", i);
        while (countOf(fileText(folder.file()), "\n") < static_cast<std::size_t>(i))
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(countOf(fileText(folder.file()), R"("Number":2})") == 1);
}

TEST_CASE("trace file: a burst that stops is counted when its second is over, while the program does nothing") {
    TraceFolder folder;
    TraceFile trace({.path = folder.file(), .burst = 2});
    for (int i = 0; i < 5; ++i)
        TraceEvent(SevError, "Flood"); // written at once: no line waits for the thread that writes the count
    while (countOf(fileText(folder.file()), "\n") < 3)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::string text = fileText(folder.file());
    CHECK(countOf(text, "\"Flood\"}") == 2);
    CHECK(countOf(text, R"("Type":"TraceEventsSuppressed","SuppressedType":"Flood","SuppressedEventCount":3})") == 1);
}

TEST_CASE("trace file: the burst of a simulation is counted by its next event, or at the end") {
    TraceFolder folder;
    {
        SimLoop loop;
        TraceFile trace({.path = folder.file(), .burst = 1});
        for (int i = 0; i < 4; ++i)
            TraceEvent("Flood");
        TraceEvent("Other");
        trace.flush();
        CHECK(countOf(fileText(folder.file()), "\n") == 2);
    }
    std::string text = fileText(folder.file());
    CHECK(countOf(text, "2020-01-01T00:00:00.000000Z") == 3);
    CHECK(countOf(text, R"("SuppressedType":"Flood","SuppressedEventCount":3})") == 1);
}

// ThreadSanitizer lets no child of a program with several threads start a thread.
#if !MILLRACE_UNDER_TSAN
TEST_CASE("trace file: exit() writes the lines of all files") {
    TraceFolder folder;
    test::runInChild([&] {
        TraceFile trace({.path = folder.file(), .burst = 1});
        for (int i = 0; i < 5000; ++i)
            TraceEvent("BeforeExit");
        std::exit(0);
    });
    CHECK(countOf(fileText(folder.file()), "\"BeforeExit\"}\n") == 1);
    CHECK(countOf(fileText(folder.file()), "\"SuppressedEventCount\":4999}\n") == 1);
}

TEST_CASE("trace file: a child of fork() writes its own lines only, once") {
    TraceFolder folder;
    {
        TraceFile trace(folder.file());
        TraceEvent("OfTheParent");
        test::runInChild([&] {
            TraceEvent("OfTheChild");
            trace.flush();
        });
        CHECK(countOf(fileText(folder.file()), "OfTheChild") == 1);
    }
    CHECK(countOf(fileText(folder.file()), "OfTheParent") == 1);
}
#endif

TEST_CASE("trace file: text for people") {
    TraceFolder folder;
    {
        TraceFile trace({.path = folder.file(), .format = TraceFormat::Text});
        TraceEvent(SevWarn, "ReadFailed").detail("Peer", "a b");
    }
    CHECK(fileText(folder.file()).ends_with("Z WARN  tests/flow/trace ReadFailed Peer=\"a b\"\n"));
}

TEST_CASE("trace file: a full file is kept under another name, and the oldest is removed") {
    TraceFolder folder;
    {
        TraceFile trace({.path = folder.file(), .rotateBytes = 1000, .keep = 2});
        for (int i = 0; i < 200; ++i)
            TraceEvent("Many").detail("Number", i);
    }
    std::string all;
    for (char const* name : {"t.2", "t.1", "t"}) {
        std::string text = fileText(folder.file(name));
        CHECK(text.size() <= 1000);
        CHECK(!text.empty());
        CHECK(text.ends_with("}\n"));
        all += text;
    }
    CHECK_FALSE(std::filesystem::exists(folder.file("t.3")));
    std::size_t at = 0; // the last lines are there, in order
    for (int i = 195; i < 200; ++i) {
        at = all.find("\"Number\":" + std::to_string(i) + "}", at);
        CHECK(at != std::string::npos);
    }
}

TEST_CASE("trace file: rotation without old files, and a line that is longer than a file") {
    TraceFolder folder;
    TraceFile trace({.path = folder.file(), .rotateBytes = 400, .keep = 0});
    TraceEvent("Short");
    TraceEvent("Long").detail("Text", std::string(1000, 'x'));
    trace.flush();
    CHECK(countOf(fileText(folder.file()), "\n") == 1);
    CHECK(fileText(folder.file()).size() > 1000);
    TraceEvent("Next");
    trace.flush();
    CHECK(countOf(fileText(folder.file()), "Next") == 1);
    CHECK(fileText(folder.file()).size() < 400);
    CHECK_FALSE(std::filesystem::exists(folder.file("t.1")));
}

TEST_CASE("trace file: rotation by age") {
    TraceFolder folder;
    TraceFile trace({.path = folder.file(), .rotateSeconds = 1e-9});
    for (char const* name : {"One", "Two", "Three"}) { // a file without a line is not rotated
        TraceEvent event(name);
        event.log();
        trace.flush();
    }
    CHECK(countOf(fileText(folder.file()), "Three") == 1);
    CHECK(countOf(fileText(folder.file("t.1")), "Two") == 1);
    CHECK(countOf(fileText(folder.file("t.2")), "One") == 1);
    CHECK_FALSE(std::filesystem::exists(folder.file("t.3")));
}

TEST_CASE("trace file: threads rotate one file, and lose no line") {
    TraceFolder folder;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            TraceFile trace({.path = folder.file(), .rotateBytes = 4000, .keep = 500});
            for (int i = 0; i < 250; ++i) {
                TraceEvent("FromAThread").detail("Number", i);
                if (i % 10 == 0)
                    trace.flush();
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    std::size_t lines = 0;
    for (auto const& each : std::filesystem::directory_iterator(folder.path())) {
        CHECK(each.file_size() <= 4000);
        lines += countOf(fileText(each.path()), "}\n");
    }
    CHECK(lines == 1000);
}

TEST_CASE("trace file: threads write on while others rotate, rename and reopen the file") {
    TraceFolder folder;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            TraceFile trace({.path = folder.file(), .rotateBytes = 20'000, .keep = 500});
            for (int i = 0; i < 200; ++i) {
                TraceEvent("FromAThread").detail("Number", i);
                if (i % 50 != 49)
                    continue;
                if (t == 0) { // another thread may rotate the file at the same time
                    std::error_code ignored;
                    std::filesystem::rename(folder.file(), folder.file(("moved" + std::to_string(i)).c_str()), ignored);
                }
                trace.reopen();
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    std::size_t lines = 0;
    for (auto const& each : std::filesystem::directory_iterator(folder.path()))
        lines += countOf(fileText(each.path()), "}\n");
    CHECK(lines == 800);
}

TEST_CASE("trace file: reopen goes on in a new file after another program has renamed the old one") {
    TraceFolder folder;
    TraceFile trace(folder.file());
    TraceEvent("Before");
    std::filesystem::rename(folder.file(), folder.file("old"));
    trace.reopen();
    TraceEvent("After");
    trace.flush();
    CHECK(countOf(fileText(folder.file("old")), "Before") == 1);
    CHECK(countOf(fileText(folder.file()), "After") == 1);
    std::filesystem::remove(folder.file());
    std::filesystem::create_directory(folder.file());
    std::string said;
    try {
        trace.reopen();
    } catch (Error const& error) {
        said = error.what();
    }
    CHECK(said == "open the trace file \"" + folder.file() + "\": Is a directory");
    TraceEvent("IntoTheOldFile");
    trace.flush();
    CHECK(trace.lostEvents() == 0);
}

TEST_CASE("trace file: a full disk loses events, and an event says how many") {
    TraceFolder folder;
    std::filesystem::create_symlink("/dev/full", folder.file());
    TraceFile trace(folder.file());
    TraceEvent("Lost");
    TraceEvent("LostToo");
    trace.flush();
    TraceEvent(SevError, "AlsoLost");
    CHECK(trace.lostEvents() == 3);
    std::filesystem::remove(folder.file());
    trace.reopen();
    TraceEvent("There");
    trace.flush();
    std::string text = fileText(folder.file());
    CHECK(countOf(text, R"("Area":"flow/trace","Severity":30,"Type":"TraceEventsLost","Count":3})") == 1);
    CHECK(countOf(text, "\n") == 2);
    TraceEvent("Again");
    trace.flush();
    CHECK(countOf(fileText(folder.file()), "TraceEventsLost") == 1);
    CHECK(trace.lostEvents() == 3);
}

TEST_CASE("trace file: a disk that is full within a line") {
    TraceFolder folder;
    test::Death child = test::runInChild([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        rlimit limit{};
        ::getrlimit(RLIMIT_FSIZE, &limit);
        TraceFile trace(folder.file());
        TraceEvent(SevError, "Before");
        rlimit small{static_cast<rlim_t>(fileText(folder.file()).size() + 50), limit.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
        TraceEvent(SevError, "Torn");
        bool isWhole = fileText(folder.file()).ends_with("\"Before\"}\n");
        ::setrlimit(RLIMIT_FSIZE, &limit);
        TraceEvent(SevError, "Whole");
        return isWhole ? static_cast<int>(trace.lostEvents()) : -1;
    });
    CHECK(child.status == 1);
    std::string text = fileText(folder.file());
    CHECK(countOf(text, "\n") == 3);
    CHECK(text.starts_with("{\"DateTime\""));
    CHECK(countOf(text, "}\n{\"DateTime\"") == 2);
    CHECK(countOf(text, "\"Count\":1}\n") == 1);
    CHECK(countOf(text, "\"Whole\"}\n") == 1);
}

TEST_CASE("trace file: an uncaught error of the constructor ends the program with its sentence") {
    TraceFolder folder;
    auto openIn = [&](std::string const& path, int keep) {
        return test::runInChild([&] { // on a thread, since doctest would catch the error
            std::thread([&] { TraceFile trace({.path = path, .keep = keep}); }).join();
        });
    };
    test::Death noFolder = openIn("/no such folder/trace", 9), wrong = openIn(folder.file(), -1);
    CHECK(noFolder.aborted());
    CHECK_MESSAGE(noFolder.says("open the trace file \"/no such folder/trace\": No such file or directory"),
                  noFolder.text);
    CHECK(wrong.aborted());
    CHECK_MESSAGE(wrong.says("TraceFileOptions: keep is -1; it must not be negative"), wrong.text);
}

TEST_CASE("trace file: wrong options") {
    TraceFolder folder;
    auto saidOf = [&](TraceFileOptions options) -> std::string {
        options.path = folder.file();
        try {
            TraceFile trace(options);
        } catch (Error const& error) {
            return error.what();
        }
        return "";
    };
    CHECK(saidOf({.keep = -1}) == "TraceFileOptions: keep is -1; it must not be negative");
    CHECK(saidOf({.burst = -2}) == "TraceFileOptions: burst is -2; it must not be negative");
    CHECK(saidOf({.rotateSeconds = -0.5}) == "TraceFileOptions: rotateSeconds is -0.5; it must not be negative");
    TraceEvent("Nowhere");
    CHECK_FALSE(std::filesystem::exists(folder.file()));
    CHECK_THROWS_AS(TraceFile("/no such folder/trace"), Error);
}

// Runs only when runWithLog() starts it.
TEST_CASE("trace file: with MILLRACE_LOG" * doctest::skip()) {
    char const* path = std::getenv("MILLRACE_TEST_TRACE");
    constexpr TraceArea kShop("shop");
    TraceEvent("WithoutASink");
    TraceEvent(kShop, SevDebug, "OfTheShop");
    TraceEvent(SevDebug, "TooSmall");
    std::thread([] { TraceEvent("OfAThread"); }).join();
    if (!path || *path == '\0')
        return;
    TraceFile trace(path, SevError);
    TraceEvent("InTheFile");
    TraceEvent(kShop, SevDebug, "InTheFileToo");
}

TEST_CASE("trace file: MILLRACE_LOG shows events on standard error, and sets the levels of files") {
    TraceFolder folder;
    std::string said = runWithLog("info,shop=debug", "");
    CHECK(countOf(said, "\n") == 3);
    CHECK(said.starts_with(R"({"DateTime":")"));
    CHECK(countOf(said, R"("Area":"shop","Severity":5,"Type":"OfTheShop"})") == 1);
    CHECK(countOf(said, "OfAThread") == 1);
    said = runWithLog("shop=debug,text", folder.file());
    CHECK(countOf(said, " INFO  tests/flow/trace WithoutASink\n") == 1);
    CHECK(countOf(said, " DEBUG shop OfTheShop\n") == 1);
    CHECK(countOf(said, "InTheFile") == 0);
    CHECK(countOf(fileText(folder.file()), "InTheFile") == 2);
    CHECK(fileText(folder.file()).starts_with("{"));
}

TEST_CASE("trace file: wrong words of MILLRACE_LOG are named once, and the others hold") {
    std::string said = runWithLog("off,net=loud,shop=debug,txet", "");
    CHECK(
        said.starts_with("flow: MILLRACE_LOG has wrong words, which do nothing: \"net=loud\", \"txet\"; each word must "
                         "be debug, info, warn, error, off, AREA=LEVEL, text or json\n"));
    CHECK(countOf(said, "\n") == 2);
    CHECK(countOf(said, "OfTheShop") == 1);
    CHECK(runWithLog("off", "").empty());
    CHECK(runWithLog("", "").empty());
}
