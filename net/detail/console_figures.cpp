// The figures of the loops. Each loop reads its own. If a loop does not answer, this thread reads a part of them.

#include "flow/base/format.h"
#include "flow/inspect/detail/all_loops.h"
#include "flow/inspect/running_steps.h"
#include "flow/trace/loop_metrics.h"
#include "flow/trace/metrics.h"
#include "flow/trace/process_metrics.h"
#include "net/detail/console_answers.h"
#include "net/real/real_network.h"

#include <algorithm>

namespace flow::console {
using namespace flow::net;
namespace {

void appendNetwork(std::string& out, std::string_view loop) {
    auto* network = dynamic_cast<RealNetwork*>(flow::Loop::current().service<Transport>());
    if (!network)
        return;
    LoopCounters counters = network->counters();
    std::string label = prometheusLabel("loop", loop);
    auto counter = [&](std::string_view name, std::uint64_t value, std::string const& more) {
        appendPrometheus(out, name, "counter", label + "," + more, static_cast<double>(value));
    };
    counter("millrace_poller_calls_total", counters.polls.waits, prometheusLabel("call", "wait"));
    counter("millrace_poller_calls_total", counters.polls.changes, prometheusLabel("call", "change"));
    counter("millrace_socket_calls_total", counters.sockets.reads, prometheusLabel("call", "read"));
    counter("millrace_socket_calls_total", counters.sockets.writes, prometheusLabel("call", "write"));
    counter("millrace_socket_calls_in_vain_total", counters.sockets.emptyReads, prometheusLabel("call", "read"));
    counter("millrace_socket_calls_in_vain_total", counters.sockets.blockedWrites, prometheusLabel("call", "write"));
    counter("millrace_socket_bytes_total", counters.sockets.bytesRead, prometheusLabel("call", "read"));
    counter("millrace_socket_bytes_total", counters.sockets.bytesWritten, prometheusLabel("call", "write"));
    appendPrometheus(out, "millrace_open_sockets", "gauge", label, static_cast<double>(network->openSockets()));
}

/// Returns the shared LoopMetrics of the loop, or null. Must be called on the loop's thread.
LoopMetrics const* metricsOf(flow::Loop& loop) {
    LoopMetrics const* found = nullptr;
    LoopMetrics::forEachShared([&](LoopMetrics const& each) { found = &each.measuredLoop() == &loop ? &each : found; });
    return found;
}

std::string pageOfThisLoop() {
    LoopMetrics const* metrics = metricsOf(flow::Loop::current());
    if (!metrics)
        return {};
    std::string page = prometheusText(metrics->figures(), metrics->name());
    appendNetwork(page, metrics->name());
    return page;
}

std::string metricsPage(LoopQuestions const& questions, std::uint64_t number) {
    std::vector<std::string> pages;
    std::vector<int> answered;
    for (LoopAnswer& each : questions.answers())
        if (each.isThere) {
            pages.push_back(std::move(each.text));
            answered.push_back(each.thread);
        }
    LoopMetrics::forEachShared([&](LoopMetrics const& each) {
        if (std::ranges::find(answered, each.thread()) == answered.end())
            pages.push_back(prometheusText(each.figuresFromOutside(), each.name()));
    });
    pages.push_back(metrics::text(number));
    pages.push_back(processText());
    return mergePrometheus(pages);
}

Answer jsonAnswer(LoopFigures const& figures, std::string const& name) {
    return {.type = "application/json", .body = jsonText(figures, name) + "\n"};
}

} // namespace

Future<Answer> metricsAnswer() {
    constexpr double kLoopsPatience = 0.25, kTick = 0.001;
    std::uint64_t number = metrics::newPage();
    LoopQuestions questions([number] {
        metrics::readGauges(number);
        return pageOfThisLoop();
    });
    for (double end = timer() + kLoopsPatience; !questions.areOver() && timer() < end;)
        co_await delay(kTick);
    co_return Answer{.type = "text/plain; version=0.0.4", .body = metricsPage(questions, number)};
}

Future<Answer> figuresAnswer(Shared console) {
    auto make = [console] {
        LoopMetrics const* metrics = metricsOf(console->loop); // null if the console was closed meanwhile
        return metrics ? jsonAnswer(metrics->figures(), console->name) : Answer{};
    };
    Answer answer = co_await answerOfLoop(console, make);
    if (!answer.body.starts_with('{'))
        LoopMetrics::forEachShared([&](LoopMetrics const& each) {
            if (&each.measuredLoop() == &console->loop)
                answer = jsonAnswer(each.figuresFromOutside(), console->name);
        });
    co_return answer;
}

Answer busyAnswer(Console const& console) {
    std::optional<RunningStep> running;
    LoopMetrics::forEachShared([&](LoopMetrics const& each) {
        if (&each.measuredLoop() == &console.loop)
            running = each.running();
    });
    Answer answer{.status = "503 Service Unavailable"};
    if (!running) {
        answer.body = format("the loop %s has not answered within %g s\n", console.name.c_str(), kPatience);
        return answer;
    }
    SampledStep step{console.name, *running, {}};
    answer.body = format("the loop %s has run a step of %s for %.3g s, and answers when it has ended; /running has its "
                         "stack\n",
                         console.name.c_str(), step.actor().c_str(), running->seconds);
    return answer;
}

} // namespace flow::console
