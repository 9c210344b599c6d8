// The three formats of a Graph (graph.h): text, JSON and Graphviz. In JSON, computations refer to each other by "id".
//
// append() prints the graph of one set of frames. appendAll() asks each loop of the process for its own dump
// (all_loops.h), since only the thread of a loop may read its frames.

#include "flow/inspect/pending_report.h"

#include "flow/base/format.h"
#include "flow/inspect/detail/all_loops.h"
#include "flow/inspect/detail/graph.h"
#include "flow/trace/detail/json.h"

#include <algorithm>

namespace flow {
using namespace inspect;
namespace {

constexpr std::size_t kMostKinds = 50;

std::string namesOf(Graph& graph, std::vector<Frame const*> const& frames) {
    std::string text;
    for (std::size_t i = 0; i < frames.size(); ++i)
        text += (i == 0 ? "" : ", ") + graph.title(frames[i]);
    return text;
}

std::string textOf(Graph& graph, Wait const& wait) {
    std::string text = wait.text;
    if (wait.holders.empty())
        return text;
    return text + (wait.isReference() ? ", to which " : ", held by ") + namesOf(graph, wait.holders) +
           (wait.isReference() ? wait.holders.size() == 1 ? " refers" : " refer" : "");
}

std::string textOf(Graph& graph, Node const& node) {
    std::string text = node.waits.size() == 1 ? " waits for " : " waits for one of: ";
    if (node.waits.empty())
        return " has nothing left to wait for";
    for (std::size_t i = 0; i < node.waits.size(); ++i)
        text += (i == 0 ? "" : "; ") + textOf(graph, node.waits[i]);
    if (node.parent)
        text += " [child of " + graph.title(node.parent) + "]";
    if (node.waited)
        text += format(node.waited->isKnown ? " [for %.1f s]" : " [for less than %.1f s]", node.waited->seconds);
    return node.awaitedBy.empty() ? text : text + format(" [awaited by %s]", node.awaitedBy.c_str());
}

std::string placeText(Place const& place) {
    return place.line == 0 ? std::string() : format(" at %s:%u", place.file.c_str(), place.line);
}

std::string cycleText(Graph& graph, std::vector<Frame const*> const& cycle) {
    std::string text;
    for (Frame const* frame : cycle)
        text += graph.title(frame) + (frame == cycle.front() ? " waits for " : ", which waits for ");
    return text + (cycle.size() == 1 ? "itself" : graph.title(cycle.front()));
}

void appendCycles(std::string& out, Graph& graph) {
    for (auto const& cycle : graph.cycles())
        out += "cycle: " + cycleText(graph, cycle) + "\n";
}

void appendText(std::string& out, Graph& graph) {
    out += format("%zu computation%s pending\n", graph.size(), graph.size() == 1 ? " is" : "s are");
    if (graph.size() > graph.nodes().size()) {
        std::vector<KindCount> kinds = graph.kinds();
        for (std::size_t i = 0; i < std::min(kinds.size(), kMostKinds); ++i)
            out += format("%10zu x %s %s%s waits for %s%s\n", kinds[i].count, nameOf(kinds[i].style),
                          kinds[i].name.c_str(), placeText(kinds[i].place).c_str(),
                          std::string(nameOf(kinds[i].wait)).c_str(),
                          kinds[i].longest ? format(" [for up to %.1f s]", *kinds[i].longest).c_str() : "");
        if (kinds.size() > kMostKinds)
            out += format("%10s   and %zu kinds more\n", "", kinds.size() - kMostKinds);
        out += format("the first %zu:\n", graph.nodes().size());
    }
    for (Node const& node : graph.nodes()) {
        out.append(static_cast<std::size_t>(2 * node.depth), ' ');
        out += graph.title(node.frame);
        out += (node.isShownBefore ? " (see above)" : textOf(graph, node)) + "\n";
    }
    appendCycles(out, graph);
}

// -------------------------------------------------------------------------------------------------------------------

void appendMember(std::string& out, char const* key, std::string_view value) {
    out += format("\"%s\":", key);
    appendJsonString(out, value);
}

void appendPlace(std::string& out, Style style, std::string const& name, Place const& place) {
    appendMember(out, "style", nameOf(style));
    out += ",";
    appendMember(out, "name", name);
    if (place.line == 0)
        return;
    out += ",";
    appendMember(out, "file", place.file);
    out += format(",\"line\":%u", place.line);
}

void appendIds(std::string& out, char const* key, std::vector<Frame const*> const& frames) {
    out += format(",\"%s\":[", key);
    for (std::size_t i = 0; i < frames.size(); ++i)
        out += format("%s%zu", i == 0 ? "" : ",", frames[i]->number);
    out += "]";
}

void appendJson(std::string& out, Graph const& graph, Node const& node) {
    out += format("{\"id\":%zu,\"depth\":%d,", node.frame->number, node.depth);
    appendPlace(out, node.style, node.name, node.place);
    if (std::size_t instance = graph.instanceOf(node.frame))
        out += format(",\"instance\":%zu", instance);
    if (!node.awaitedBy.empty()) {
        out += ",";
        appendMember(out, "awaitedBy", node.awaitedBy);
    }
    if (node.waited)
        out += format(",\"%s\":%.1f", node.waited->isKnown ? "seconds" : "secondsBelow", node.waited->seconds);
    if (node.parent)
        out += format(",\"childOf\":%zu", node.parent->number);
    out += ",\"waits\":[";
    for (Wait const& wait : node.waits) {
        out += &wait == node.waits.data() ? "{" : ",{";
        appendMember(out, "for", nameOf(wait.kind));
        out += ",";
        appendMember(out, "text", wait.text);
        if (wait.computation)
            out += format(",\"computation\":%zu", wait.computation->number);
        if (!wait.holders.empty())
            appendIds(out, wait.isReference() ? "referredToBy" : "heldBy", wait.holders);
        out += "}";
    }
    out += "]}";
}

void appendJson(std::string& out, Graph& graph) {
    out += format("{\"pending\":%zu,\"computations\":[", graph.size());
    bool isFirst = true;
    for (Node const& node : graph.nodes()) {
        if (node.isShownBefore)
            continue;
        out += std::exchange(isFirst, false) ? "\n" : ",\n";
        appendJson(out, graph, node);
    }
    out += "],\"kinds\":[";
    isFirst = true;
    for (KindCount const& kind : graph.kinds()) {
        out += format("%s{\"count\":%zu,", std::exchange(isFirst, false) ? "\n" : ",\n", kind.count);
        appendPlace(out, kind.style, kind.name, kind.place);
        out += ",";
        appendMember(out, "for", nameOf(kind.wait));
        if (kind.longest)
            out += format(",\"longest\":%.1f", *kind.longest);
        out += "}";
    }
    out += "],\"cycles\":[";
    isFirst = true;
    for (auto const& cycle : graph.cycles()) {
        out += std::exchange(isFirst, false) ? "{\"length\":" : ",{\"length\":";
        out += format("%zu", cycle.size());
        appendIds(out, "computations", cycle);
        out += "}";
    }
    out += "]}\n";
}

// -------------------------------------------------------------------------------------------------------------------

void appendGraphviz(std::string& out, Graph& graph) {
    out += "digraph pending {\n  rankdir=LR; node [shape=box];\n";
    for (Node const& node : graph.nodes()) {
        if (node.isShownBefore)
            continue;
        std::string label = graph.title(node.frame);
        std::string edges;
        std::size_t from = node.frame->number;
        for (Wait const& wait : node.waits) {
            if (wait.computation)
                edges += format("  n%zu -> n%zu;\n", from, wait.computation->number);
            else
                label += "\nwaits for " + wait.text;
            for (Frame const* holder : wait.holders)
                edges += format("  n%zu -> n%zu [style=dashed];\n", from, holder->number);
        }
        out += format("  n%zu [label=", from);
        appendJsonString(out, label); // Graphviz quotes strings as JSON does
        out += "];\n" + edges;
    }
    out += "}\n";
}

void append(std::string& out, Frames frames, PendingOptions const& options) {
    Graph graph(std::move(frames), options.limit);
    switch (options.format) {
    case PendingFormat::Text:
        return appendText(out, graph);
    case PendingFormat::Json:
        return appendJson(out, graph);
    case PendingFormat::Graphviz:
        return appendGraphviz(out, graph);
    }
}

void appendAnswer(std::string& out, LoopAnswer const& answer, PendingOptions const& options) {
    std::string thread = format("%d (%s)", answer.thread, answer.name.c_str());
    std::string missing =
        format("no answer within %.3g s: it runs a long step, or nothing runs it", double(options.patience));
    switch (options.format) {
    case PendingFormat::Text:
        out += "loop of thread " + thread + ": " + (answer.isThere ? answer.text : missing + "\n");
        break;
    case PendingFormat::Json:
        out += format("{\"thread\":%d,", answer.thread);
        appendMember(out, "name", answer.name);
        out += ",";
        if (answer.isThere)
            out += "\"dump\":" + answer.text;
        else
            appendMember(out, "problem", missing);
        out += "}";
        break;
    case PendingFormat::Graphviz:
        out += "// loop of thread " + thread + (answer.isThere ? "\n" + answer.text : ": " + missing + "\n");
    }
}

void appendAll(std::string& out, PendingOptions options) {
    options.allLoops = false;
    auto ask = [options] {
        std::string text;
        dumpPending(text, options);
        return text;
    };
    bool isJson = options.format == PendingFormat::Json;
    out += isJson ? "{\"loops\":[" : "";
    bool isFirst = true;
    for (LoopAnswer const& answer : askAllLoops(ask, options.patience)) {
        out += isJson && !std::exchange(isFirst, false) ? "," : "";
        appendAnswer(out, answer, options);
    }
    out += isJson ? "]}\n" : "";
}

} // namespace

void dumpPending(std::string& out, PendingOptions const& options) {
    if (options.allLoops)
        return appendAll(out, options);
    append(out, Frames::ofThread(), options);
}

void dumpPending(std::string& out, CellGroup const& cells, PendingOptions const& options) {
    append(out, Frames::of(cells), options);
}

std::string waitCycles(CellGroup const& cells) {
    std::string text;
    Graph graph(Frames::of(cells), PendingOptions().limit);
    appendCycles(text, graph);
    return text;
}

} // namespace flow
