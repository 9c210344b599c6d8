// Traces, profiles and samples: each takes some seconds. A trace or a profile runs on the shown loop.

#include "flow/base/detail/sentence.h"
#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "flow/inspect/detail/signal_sampler.h"
#include "flow/inspect/detail/step_profile.h"
#include "flow/trace/recorder.h"
#include "flow/wait/delay.h"
#include "net/detail/console_answers.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace flow::console {
namespace {

constexpr double kLongestTrace = 60;

/// Returns the number in "seconds=0.5", or 1 for an empty query; nothing for other queries and above kLongestTrace.
std::optional<double> secondsOf(std::string_view query) {
    constexpr std::string_view kKey = "seconds=";
    if (query.empty())
        return 1.0;
    if (!query.starts_with(kKey))
        return std::nullopt;
    std::string text(query.substr(kKey.size()));
    char* end = nullptr;
    double seconds = std::strtod(text.c_str(), &end);
    bool isNumber = !text.empty() && end == text.c_str() + text.size();
    return isNumber && seconds > 0 && seconds <= kLongestTrace ? std::optional(seconds) : std::nullopt;
}

/// A running recording, which costs time. While `flag` is set, a second one is refused; the destructor clears it.
struct Recording {
    Recording(Shared c, std::atomic<bool>& f) : console(std::move(c)), flag(f) {}
    Recording(Recording const&) = delete;
    Recording& operator=(Recording const&) = delete;
    ~Recording() { flag = false; }
    Shared console;
    std::atomic<bool>& flag; // may be a member of *console
};
using RunningRecording = std::shared_ptr<Recording>;

constinit std::atomic<bool> isSampled{false}; // the process has one SignalSampler

Future<Answer> traceAnswer(RunningRecording recording, double seconds) {
    trace::Recorder recorder(Loop::current(), {.name = recording->console->name, .bytes = std::size_t{4} << 20});
    co_await delay(seconds);
    co_return Answer{.type = "application/octet-stream", .body = recorder.bytes()};
}

Future<Answer> profileAnswer([[maybe_unused]] RunningRecording recording, double seconds, bool countsAllocations) {
    StepProfile profile(Loop::current(), countsAllocations);
    co_await delay(seconds);
    co_return Answer{.type = "application/json", .body = profile.json()};
}

/// A temporary folder, which is removed with its contents.
struct Folder {
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "millrace-samples-XXXXXX").string();
        if (!::mkdtemp(name.data()))
            throw withPieces(io_error(), {"make the folder \"", name, "\": ", systemText(errno)});
        path = name;
    }
    Folder(Folder const&) = delete;
    Folder& operator=(Folder const&) = delete;
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    std::filesystem::path path;
};

std::string contentOf(std::string const& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the size of /proc/self/maps, a newline, that file, and for each sample the number of words and the words.
Future<Answer> samplesAnswer([[maybe_unused]] RunningRecording recording, double seconds) {
    Folder folder;
    std::string file = (folder.path / "samples").string();
    {
        SignalSampler sampler(file);
        co_await delay(seconds);
    }
    std::string maps = contentOf(file + ".maps"), words;
    std::ifstream samples(file, std::ios::binary);
    for (std::uint64_t count = 0; samples.read(reinterpret_cast<char*>(&count), sizeof count) && count != 0;) {
        std::size_t at = words.size();
        words.resize(at + (count + 1) * sizeof count);
        std::memcpy(words.data() + at, &count, sizeof count);
        samples.read(words.data() + at + sizeof count, static_cast<std::streamsize>(count * sizeof count));
    }
    co_return Answer{.type = "application/octet-stream", .body = format("%zu\n", maps.size()) + maps + words};
}

} // namespace

Future<Answer> recordedAnswer(Shared console, std::string_view path, std::string_view query) {
    constexpr std::string_view kAllocations = "&allocations=1";
    bool countsAllocations = path == "/profile" && query.ends_with(kAllocations);
    if (countsAllocations)
        query.remove_suffix(kAllocations.size());
    std::optional<double> seconds = secondsOf(query);
    if (!seconds)
        return Answer{.status = "400 Bad Request", .body = format("seconds: a number up to %g\n", kLongestTrace)};
    std::atomic<bool>& flag = path == "/samples" ? isSampled : console->isRecording;
    if (flag.exchange(true))
        return Answer{.status = "503 Service Unavailable", .body = "it is traced, profiled or sampled already\n"};
    auto recording = std::make_shared<Recording>(console, flag);
    if (path == "/samples")
        return samplesAnswer(std::move(recording), *seconds);
    if (path == "/trace")
        return answerOfLoop(console, [=, seconds = *seconds] { return traceAnswer(recording, seconds); });
    return answerOfLoop(console,
                        [=, seconds = *seconds] { return profileAnswer(recording, seconds, countsAllocations); });
}

} // namespace flow::console
