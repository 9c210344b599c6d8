#pragma once
// The state of a console, and its answers. All functions are called on the console thread, which has a loop.

#include "flow/core/future.h"
#include "net/detail/console_request.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#pragma push_macro("loop") // a keyword of actors, which programs of Flow leave defined
#undef loop

namespace flow::console {

inline constexpr double kPatience = 1; // the time limit for a loop to begin with an answer

struct Console {
    flow::Loop& loop; // the shown loop; it outlives `serving`
    std::string name;
    bool isFull; // false: only /metrics
    std::vector<std::string> hosts = {};
    std::atomic<bool> isRecording{false};
    Future<Void> serving = {}; // belongs to the console thread
};
using Shared = std::shared_ptr<Console>;
using Answer = ConsoleAnswer;

/// Answers /metrics. Asks all loops of the process at the same time. A loop that does not answer has fewer figures.
Future<Answer> metricsAnswer();
/// Answers /metrics.json. If the loop does not answer, the page has the figures that another thread can read.
Future<Answer> figuresAnswer(Shared console);
/// Answers /trace, /profile and /samples. `query` is empty or "seconds=S"; for a profile "&allocations=1" may follow.
Future<Answer> recordedAnswer(Shared console, std::string_view path, std::string_view query);
/// Returns 503 with a sentence about the step that keeps the loop busy.
Answer busyAnswer(Console const& console);

/// Calls make() on the console's loop, and returns its Answer. If the loop does not start it, returns busyAnswer().
/// Not a template: gcc 12 stops with an internal error at the template as a coroutine (-O3 -g).
Future<Answer> answerOfLoop(Shared console, std::function<Future<Answer>()> make);

} // namespace flow::console

#pragma pop_macro("loop")
